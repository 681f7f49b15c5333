// Bias and activation go into the matrix product or the convolution that they follow.
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

bool only_user(const std::vector<std::vector<std::vector<Node*>>>& users, const Node& n) {
  return users[static_cast<std::size_t>(n.id)][0].size() == 1;
}

bool channels_last(const Node& n) {
  const AttrValue* format = n.reader().find_attr("data_format");
  return !format || format->as_string() == "NHWC";
}

// Fuses what follows ops called `name` into `fused`, which takes the same attributes.
int fuse(Graph& graph, std::string_view name, const Op& fused) {
  int count = 0;
  const auto users = users_of(graph);
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<std::pair<Node*, Node*>> moves;  // new node, the one whose place it takes
  for (Node* add : nodes) {
    const bool bias_add = add->is("BiasAdd") && channels_last(*add);
    if (!bias_add && !add->is("AddV2")) continue;
    for (int side = 0; side < (bias_add ? 1 : 2); ++side) {
      const Endpoint product = add->inputs[static_cast<std::size_t>(side)],
                     bias = add->inputs[static_cast<std::size_t>(1 - side)];
      Node& m = *product.node;
      if (!m.is(name) || !only_user(users, m) || !channels_last(m) ||
          !kRealFloatTypes.contains(info(product).dtype))
        continue;
      const TensorShape &b = info(bias).shape, &p = info(product).shape;
      if (b.rank() != 1 || !p.has_rank() || b.dim(0) < 0 || b.dim(0) != p.dim(-1)) continue;
      Node* last = add;
      std::vector<std::string> ops{"BiasAdd"};
      if (only_user(users, *add)) {
        Node* next = users[static_cast<std::size_t>(add->id)][0][0];
        if (next && (next->is("Relu") || next->is("Tanh") || next->is("Sigmoid"))) {
          ops.push_back(next->op->name);
          last = next;
        }
      }
      AttrStorage attrs;
      for (const Attr& a : m.attrs.list())
        if (fused.find_attr(a.name) >= 0) attrs.add(a.name, a.value);
      attrs.add("fused_ops", std::span<const std::string>(ops));
      Node& f = graph.add(fused, last->name + "/fused", {m.inputs[0], m.inputs[1], bias},
                          std::move(attrs), {info({last, 0})});
      f.file = m.file;
      f.line = m.line;
      f.device = m.device;
      replace_uses(graph, {last, 0}, {&f, 0});
      moves.emplace_back(&f, last);
      ++count;
      break;
    }
  }
  for (const auto& [node, place] : moves) move_before(graph, *node, *place);
  if (count) prune(graph);
  return count;
}

std::string fuse_matmul(Graph& graph) {
  const int count = fuse(graph, "MatMul", find_op("_FusedMatMul"));
  return count ? format("{} products with bias and activation", count) : "";
}
const PassRegistration matmul(60, "fuse_matmul",
                              "Bias and activation go into the matrix product before them.",
                              fuse_matmul);

std::string fuse_conv(Graph& graph) {
  const int count = fuse(graph, "Conv2D", find_op("_FusedConv2D"));
  return count ? format("{} convolutions with bias and activation", count) : "";
}
// A bias may be added before the last products of a sum are.
const PassRegistration conv(61, "fuse_conv",
                            "Bias and activation go into the convolution before them.", fuse_conv,
                            false);

}  // namespace
}  // namespace rill
