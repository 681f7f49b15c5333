// A bias that batch normalisation takes away again is not added: the mean is larger by it, and
// nothing else. Convolutions in half types on a GPU add theirs in a pass over memory of its own.
#include <algorithm>

#include "rill/core/resource.h"
#include "rill/graph/passes/batch_norm_impl.h"
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

// Where the normalisation and its gradients are all that reads the sum.
bool only_normalised(const std::vector<Node*>& users, const Node& norm) {
  return std::ranges::all_of(users, [&](const Node* u) {
    return u && (u == &norm || (u->is("FusedBatchNormGradV3") &&
                                u->inputs[3] == Endpoint{const_cast<Node*>(&norm), 3} &&
                                !(u->inputs[0] == norm.inputs[0])));
  });
}

std::string skip_bias(Graph& graph) {
  const auto users = users_of(graph);
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<std::pair<Node*, Node*>> moves;
  int count = 0;
  for (Node* norm : nodes) {
    if (!norm->is("FusedBatchNormV3") || !norm->reader().bool_attr("is_training") ||
        norm->reader().string_attr("data_format") != "NHWC" || !is_normalised_on_device(*norm))
      continue;
    const Endpoint sum = norm->inputs[0];
    Node& add = *sum.node;
    if (!add.is("BiasAdd") || add.reader().string_attr("data_format") != "NHWC" ||
        !kHalfTypes.contains(info(sum).dtype) ||
        !only_normalised(users[static_cast<std::size_t>(add.id)][0], *norm))
      continue;
    const ValueInfo mean = norm->outputs[1];
    const std::vector<Node*> readers = users[static_cast<std::size_t>(norm->id)][1];
    replace_uses(graph, sum, add.inputs[0]);
    ++count;
    if (readers.empty()) continue;
    std::vector<Node*> made;
    const auto add_node = [&](const char* op, const char* name, std::vector<Endpoint> inputs,
                              AttrStorage attrs = {}) {
      Node& n =
          graph.add(find_op(op), norm->name + name, std::move(inputs), std::move(attrs), {mean});
      n.file = norm->file, n.line = norm->line, n.device = norm->device;
      made.push_back(&n);
      return Endpoint{&n, 0};
    };
    AttrStorage attrs;
    attrs.add("DstT", mean.dtype);
    Endpoint bias = add_node("Cast", "/bias", {add.inputs[1]}, std::move(attrs));
    // A moving mean takes so much of it.
    const double weight = norm->reader().float_attr("exponential_avg_factor");
    if (weight != 1) {
      const Endpoint part =
          graph.add_constant(to_tensor(weight, mean.dtype), norm->name + "/weight");
      made.push_back(part.node);
      bias = add_node("Mul", "/part", {bias, part});
    }
    const Endpoint whole = add_node("AddV2", "/mean", {{norm, 1}, bias});
    for (Node* reader : readers)
      if (reader)
        for (Endpoint& e : reader->inputs)
          if (e == Endpoint{norm, 1}) e = whole;
    for (Endpoint& e : graph.results)
      if (e == Endpoint{norm, 1}) e = whole;
    // In their order, before the first that reads them.
    Node* first = nullptr;
    for (Node* reader : readers)
      if (reader && (!first || reader->id < first->id)) first = reader;
    for (Node* n : made)
      if (first) moves.emplace_back(n, first);
  }
  for (const auto& [node, place] : moves) move_before(graph, *node, *place);
  if (count) prune(graph);
  return count ? format("{} biases that normalisation takes away", count) : "";
}
const PassRegistration registered_skip_bias(
    64, "skip_bias", "On a GPU, a bias before batch normalisation goes into its mean.", skip_bias,
    false);

}  // namespace
}  // namespace rill
