// A matrix product takes in the transposes before it.
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

bool swaps_two(Endpoint perm) {
  const Tensor* p = known_value(perm);
  return p && p->size() == 2 && p->to_vector<int>() == std::vector<int>{1, 0};
}

std::string fold_transposes(Graph& graph) {
  int count = 0;
  for (const auto& n : graph.nodes()) {
    if (!n->is("MatMul")) continue;
    const char* flags[] = {"transpose_a", "transpose_b"};
    for (std::size_t side = 0; side < 2; ++side) {
      const Node& t = *n->inputs[side].node;
      if (!t.is("Transpose") || !swaps_two(t.inputs[1])) continue;
      n->attrs.set(flags[side], !n->reader().bool_attr(flags[side]));
      n->inputs[side] = t.inputs[0];
      ++count;
    }
  }
  if (count) prune(graph);
  return count ? format("{} transposes taken in by products", count) : "";
}
// A product of the transposed matrix may add up in another order.
const PassRegistration registered_fold_transposes(
    35, "fold_transposes", "A matrix product takes in the transposes before it.", fold_transposes,
    false);

}  // namespace
}  // namespace rill
