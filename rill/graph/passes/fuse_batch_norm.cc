// Batch normalisation takes in the relu that follows it, and the sum of a residual network
// between them; its gradient takes in that of the relu. Each saves passes over memory, which is
// what these ops cost on a GPU.
#include <map>

#include "rill/core/resource.h"
#include "rill/graph/passes/batch_norm_impl.h"
#include "rill/graph/passes/pass.h"

namespace rill {

bool is_normalised_on_device(const Node& norm) {
  const Node* n = norm.inputs[1].node;
  while (n->is("Identity") || n->is("Cast")) n = n->inputs[0].node;
  if (!n->is("ReadVariableOp")) return false;
  const Node& arg = *n->inputs[0].node;
  if (!arg.handle || arg.handle->resource_kind != Resource::Kind::variable) return false;
  const Device* device = static_cast<VariableCell&>(*arg.handle).device();
  return device && !device->is_host();
}

namespace {

using Users = std::vector<std::vector<std::vector<Node*>>>;
const std::vector<Node*>& users_of_output(const Users& users, Endpoint e) {
  return users[static_cast<std::size_t>(e.node->id)][static_cast<std::size_t>(e.index)];
}

struct Found {
  Node *norm, *relu;
  Endpoint side;                // of no node: none
  Node *relu_grad, *norm_grad;  // null: they stay apart
};

// The normalisation whose result alone `e` is.
Node* norm_of(const Users& users, Endpoint e) {
  return e.node->is("FusedBatchNormV3") && e.index == 0 && users_of_output(users, e).size() == 1 &&
                 is_normalised_on_device(*e.node)
             ? e.node
             : nullptr;
}

bool find_forward(const Users& users, Node& relu, Found& f) {
  f = {nullptr, &relu, {}, nullptr, nullptr};
  const Endpoint in = relu.inputs[0];
  if ((f.norm = norm_of(users, in))) return true;
  Node& add = *in.node;
  if (!add.is("AddV2") || users_of_output(users, in).size() != 1) return false;
  for (const std::size_t i : {0u, 1u}) {
    const Endpoint other = add.inputs[1 - i];
    f.norm = norm_of(users, add.inputs[i]);
    if (!f.norm || other.node == f.norm || other.node->id > f.norm->id) continue;
    const TensorShape &a = info(add.inputs[i]).shape, &b = info(other).shape;
    if (!a.is_fully_defined() || !(a == b)) continue;
    f.side = other;
    return true;
  }
  return false;
}

// The gradients of a relu without a side: the way back of both is one op.
void find_backward(const Users& users, Found& f) {
  if (f.side.node || !f.norm->reader().bool_attr("is_training")) return;
  for (Node* q : users_of_output(users, {f.relu, 0})) {
    if (!q || !q->is("ReluGrad") || !(q->inputs[1] == Endpoint{f.relu, 0})) continue;
    const auto& after = users_of_output(users, {q, 0});
    if (after.size() != 1 || !after[0] || !after[0]->is("FusedBatchNormGradV3")) continue;
    Node& g = *after[0];
    if (!(g.inputs[0] == Endpoint{q, 0}) || !(g.inputs[1] == f.norm->inputs[0]) ||
        !(g.inputs[3] == Endpoint{f.norm, 3}) || !(g.inputs[4] == Endpoint{f.norm, 4}))
      continue;
    f.relu_grad = q, f.norm_grad = &g;
    return;
  }
}

AttrStorage attrs_for(const Op& op, const Node& from) {
  AttrStorage attrs;
  for (const Attr& a : from.attrs.list())
    if (op.find_attr(a.name) >= 0) attrs.add(a.name, a.value);
  return attrs;
}
Node& put_in_place(Graph& graph, const Op& op, const Node& of, std::vector<Endpoint> inputs,
                   AttrStorage attrs, std::vector<ValueInfo> outputs) {
  Node& n =
      graph.add(op, of.name + "/fused", std::move(inputs), std::move(attrs), std::move(outputs));
  n.file = of.file;
  n.line = of.line;
  n.device = of.device;
  return n;
}

std::string fuse_batch_norm(Graph& graph) {
  static const Op &forward = find_op("_BatchNormRelu"), &backward = find_op("_BatchNormReluGrad");
  const Users users = users_of(graph);
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<std::pair<Node*, Node*>> moves;  // new node, the one whose place it takes
  std::vector<Found> all;
  for (Node* n : nodes)
    if (Found f; n->is("Relu") && find_forward(users, *n, f)) {
      find_backward(users, f);
      all.push_back(f);
    }
  std::map<const Node*, Node*> fused_relus;
  int gradients = 0;
  for (const Found& f : all) {
    Node& norm = *f.norm;
    std::vector<Endpoint> inputs = norm.inputs;
    if (f.side.node) {
      const auto earlier = fused_relus.find(f.side.node);
      inputs.push_back(earlier == fused_relus.end() ? f.side : Endpoint{earlier->second, 0});
    }
    AttrStorage attrs = attrs_for(forward, norm);
    attrs.add("signs", f.norm_grad != nullptr);
    std::vector<ValueInfo> outputs = norm.outputs;
    if (f.norm_grad) {
      const TensorShape& x = info(norm.inputs[0]).shape;
      outputs[5].shape = TensorShape::scalar();
      outputs[5].shape.push_back(x.is_fully_defined() ? (x.num_elements() + 31) / 32 : -1);
    }
    Node& fused = put_in_place(graph, forward, norm, std::move(inputs), std::move(attrs), outputs);
    moves.emplace_back(&fused, &norm);
    fused_relus[f.relu] = &fused;
    replace_uses(graph, {f.relu, 0}, {&fused, 0});
    for (int i = 1; i < 6; ++i) replace_uses(graph, {&norm, i}, {&fused, i});
    if (!f.norm_grad) continue;
    Node& g = *f.norm_grad;
    Node& back = put_in_place(
        graph, backward, g,
        {f.relu_grad->inputs[0], g.inputs[1], g.inputs[2], {&fused, 3}, {&fused, 4}, {&fused, 5}},
        attrs_for(backward, g), g.outputs);
    moves.emplace_back(&back, &g);
    for (int i = 0; i < 5; ++i) replace_uses(graph, {&g, i}, {&back, i});
    ++gradients;
  }
  for (const auto& [node, place] : moves) move_before(graph, *node, *place);
  if (all.empty()) return "";
  prune(graph);
  return format("{} normalisations with relu, {} gradients", all.size(), gradients);
}
const PassRegistration registered_fuse_batch_norm(
    65, "fuse_batch_norm", "On a GPU, batch normalisation takes in sum and relu after it.",
    fuse_batch_norm);

}  // namespace
}  // namespace rill
