// Arithmetic that changes nothing goes, where results keep every bit: x * 1, x / 1,
// x - 0, -(-x), casts to the same dtype, views of views, transposes that undo each
// other. x + 0 stays: it turns -0 into 0.
#include <cmath>
#include <map>

#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

// A constant that is one value all over.
bool is_all(Endpoint e, double value) {
  const Tensor* t = known_value(e);
  if (!t || t->size() != 1 || !kRealTypes.contains(t->dtype())) return false;
  const double v = t->item<double>();
  return v == value && !(value == 0 && std::signbit(v));
}
// Replacing by an operand is right only if the op did not make it larger.
bool same_shape(const Node& n, Endpoint e) {
  return n.outputs[0].shape.is_fully_defined() && n.outputs[0].shape == info(e).shape;
}
// What a node is equal to; an empty endpoint when it stands for itself.
Endpoint simpler(const Node& n) {
  if (n.is("Identity") || n.is("StopGradient") || n.is("GuaranteeConst")) return n.inputs[0];
  if (n.is("Mul")) {
    if (is_all(n.inputs[1], 1) && same_shape(n, n.inputs[0])) return n.inputs[0];
    if (is_all(n.inputs[0], 1) && same_shape(n, n.inputs[1])) return n.inputs[1];
  }
  if ((n.is("RealDiv") || n.is("Div")) && is_all(n.inputs[1], 1) && same_shape(n, n.inputs[0]))
    return n.inputs[0];
  if (n.is("Sub") && is_all(n.inputs[1], 0) && same_shape(n, n.inputs[0])) return n.inputs[0];
  if (n.is("Neg") && n.inputs[0].node->is("Neg")) return n.inputs[0].node->inputs[0];
  if (n.is("Cast") && info(n.inputs[0]).dtype == n.outputs[0].dtype) return n.inputs[0];
  if (n.is("Conj") && !n.outputs[0].dtype.is_complex()) return n.inputs[0];
  if (n.is("Transpose") && n.inputs[0].node->is("Transpose")) {
    const Tensor *p = known_value(n.inputs[1]), *q = known_value(n.inputs[0].node->inputs[1]);
    if (p && q && p->size() == q->size()) {
      const auto a = p->to_vector<int>(), b = q->to_vector<int>();
      bool undone = true;
      for (std::size_t i = 0; i < a.size(); ++i)
        undone = undone && b[static_cast<std::size_t>(a[i])] == static_cast<int>(i);
      if (undone) return n.inputs[0].node->inputs[0];
    }
  }
  if (n.is("Sum") || n.is("Mean")) {
    if (const Tensor* axes = known_value(n.inputs[1]);
        axes && axes->size() == 0 && axes->ndim() == 1)
      return n.inputs[0];
  }
  if (n.is("Reshape") && same_shape(n, n.inputs[0])) return n.inputs[0];
  return {};
}

std::string simplify(Graph& graph) {
  int gone = 0, folded = 0;
  std::map<std::pair<const Node*, int>, Endpoint> is;
  for (const auto& n : graph.nodes()) {
    for (Endpoint& e : n->inputs)
      if (auto it = is.find({e.node, e.index}); it != is.end()) e = it->second;
    if (is_argument(*n) || n->outputs.size() != 1) continue;
    if (const Endpoint e = simpler(*n); e.node) {
      is[{n.get(), 0}] = e;
      ++gone;
      continue;
    }
    // A view of a view is a view of what that one shows.
    if (n->is("Reshape") &&
        (n->inputs[0].node->is("Reshape") || n->inputs[0].node->is("ExpandDims") ||
         n->inputs[0].node->is("Squeeze"))) {
      n->inputs[0] = n->inputs[0].node->inputs[0];
      ++folded;
    }
  }
  for (Endpoint& e : graph.results)
    if (auto it = is.find({e.node, e.index}); it != is.end()) e = it->second;
  for (const auto& n : graph.nodes())
    for (Node*& c : n->control_inputs)
      if (auto it = is.find({c, 0}); it != is.end()) c = it->second.node;
  if (gone + folded == 0) return "";
  prune(graph);
  return format("{} ops that change nothing, {} taken in by the next", gone, folded);
}
const PassRegistration registered_simplify(30, "simplify", "Arithmetic that changes nothing goes.",
                                           simplify);

}  // namespace
}  // namespace rill
