// Sums of matrix products add up inside the multiplication: what a loop over time does
// to the gradient of its weights.
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

std::string accumulate(Graph& graph) {
  static const Op& matmul_add = find_op("_MatMulAdd");
  int count = 0;
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  const auto users = users_of(graph);
  std::vector<std::pair<Node*, Node*>> moves;
  for (Node* add : nodes) {
    if (!add->is("AddV2")) continue;
    const TensorShape &a = info(add->inputs[0]).shape, &b = info(add->inputs[1]).shape;
    if (!a.is_fully_defined() || !(a == b)) continue;
    for (std::size_t side : {1u, 0u}) {
      Node& m = *add->inputs[side].node;
      const Endpoint rest = add->inputs[1 - side];
      if (!m.is("MatMul") || users[static_cast<std::size_t>(m.id)][0].size() != 1 ||
          !kRealFloatTypes.contains(info(rest).dtype) || rest.node == &m)
        continue;
      AttrStorage attrs;
      attrs.add("transpose_a", m.reader().bool_attr("transpose_a"));
      attrs.add("transpose_b", m.reader().bool_attr("transpose_b"));
      Node& f = graph.add(matmul_add, add->name + "/in_product", {m.inputs[0], m.inputs[1], rest},
                          std::move(attrs), {info({add, 0})});
      f.file = m.file;
      f.line = m.line;
      f.device = m.device;
      replace_uses(graph, {add, 0}, {&f, 0});
      moves.emplace_back(&f, add);
      ++count;
      break;
    }
  }
  for (const auto& [node, place] : moves) move_before(graph, *node, *place);
  if (count) prune(graph);
  return count ? format("{} sums inside products", count) : "";
}
// The order in which terms are added changes.
const PassRegistration registered_accumulate_in_gemm(
    70, "accumulate_in_gemm", "Sums of matrix products add up inside the multiplication.",
    accumulate, false);

}  // namespace
}  // namespace rill
