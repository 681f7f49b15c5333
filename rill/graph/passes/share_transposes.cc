// A matrix by whose transpose many products multiply is transposed once: what the gradient of a
// recurrence, step by step, does with the weights of its state.
#include "rill/graph/passes/pass.h"
#include "rill/ops/array_ops.h"

namespace rill {
namespace {

// From here on one transpose costs less than products that read columns.
constexpr std::size_t kProducts = 8;
constexpr std::int64_t kElements = 1 << 12;

bool multiplies_by_transpose(const Node& n) {
  return (n.is("MatMul") || n.is("_MatMulAdd")) && n.reader().bool_attr("transpose_b");
}

std::string share_transposes(Graph& graph) {
  static const Op& transpose = find_op("Transpose");
  const auto users = users_of(graph);
  struct Move {
    Node *node, *place;
  };
  std::vector<Move> moves;
  std::size_t products = 0;
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (Node* first : nodes) {
    if (!multiplies_by_transpose(*first)) continue;
    const Endpoint b = first->inputs[1];
    const ValueInfo of = info(b);
    if (!of.shape.is_fully_defined() || of.shape.num_elements() < kElements) continue;
    std::vector<Node*> same;  // in program order
    for (Node* n : users[static_cast<std::size_t>(b.node->id)][static_cast<std::size_t>(b.index)])
      if (n && multiplies_by_transpose(*n) && n->inputs[1] == b &&
          (same.empty() || same.back() != n))
        same.push_back(n);
    if (same.size() < kProducts) continue;
    const Endpoint perm = graph.add_constant(constant({1, 0}), first->name + "/swap");
    ValueInfo turned = of;
    turned.shape = TensorShape({of.shape.dim(1), of.shape.dim(0)});
    Node& t = graph.add(transpose, first->name + "/transposed", {b, perm}, {}, {turned});
    t.file = first->file;
    t.line = first->line;
    t.device = first->device;
    for (Node* n : same) {
      n->inputs[1] = {&t, 0};
      n->attrs.set("transpose_b", false);
    }
    moves.push_back({perm.node, first});
    moves.push_back({&t, first});
    products += same.size();
  }
  for (const Move& m : moves) move_before(graph, *m.node, *m.place);
  return products ? format("{} products by {} shared transposes", products, moves.size() / 2) : "";
}
// A product of the transposed matrix may add up in another order.
const PassRegistration registered_share_transposes(
    75, "share_transposes",
    "A matrix by whose transpose many products multiply is transposed once.", share_transposes,
    false);

}  // namespace
}  // namespace rill
