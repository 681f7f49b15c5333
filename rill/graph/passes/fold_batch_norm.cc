// Batch normalisation that does not train goes into the convolution before it: its scale
// into the filter instead of over the result, where the filter is the smaller of the two. (In
// the last layers of a network it is not, and a filter that stays as it is stays packed.)
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

// Of a batch of unknown size one image is counted.
bool filter_is_smaller(const Node& conv) {
  auto elements = [](const TensorShape& s, std::int64_t unknown) {
    std::int64_t n = 1;
    for (int i = 0; i < s.rank(); ++i) n *= s.dim(i) >= 0 ? s.dim(i) : i == 0 ? 1 : unknown;
    return n;
  };
  const TensorShape &filter = info(conv.inputs[1]).shape, &result = conv.outputs[0].shape;
  if (!filter.has_rank() || !result.has_rank()) return true;
  return elements(filter, 1) < elements(result, 1 << 10);
}

// scale / sqrt(variance + epsilon) and offset - mean * that, as nodes at the end.
struct Affine {
  Endpoint scale, shift;
};
Affine affine_of(Graph& graph, const Node& norm, std::vector<Node*>& made) {
  const ValueInfo channels = info(norm.inputs[1]);
  auto add = [&](const char* op, std::vector<Endpoint> inputs) {
    Node& n = graph.add(find_op(op), norm.name + "/folded", std::move(inputs), {}, {channels});
    n.file = norm.file;
    n.line = norm.line;
    made.push_back(&n);
    return Endpoint{&n, 0};
  };
  const Endpoint epsilon = graph.add_constant(
      to_tensor(norm.reader().float_attr("epsilon"), channels.dtype), norm.name + "/epsilon");
  made.push_back(epsilon.node);
  const Endpoint root = add("Rsqrt", {add("AddV2", {norm.inputs[4], epsilon})});
  const Endpoint scale = add("Mul", {norm.inputs[1], root});
  return {scale, add("Sub", {norm.inputs[2], add("Mul", {norm.inputs[3], scale})})};
}

std::string fold_batch_norm(Graph& graph) {
  int count = 0;
  const auto users = users_of(graph);
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<std::pair<Node*, Node*>> moves;
  for (Node* norm : nodes) {
    if (!norm->is("FusedBatchNormV3") || norm->reader().bool_attr("is_training") ||
        norm->reader().string_attr("data_format") != "NHWC")
      continue;
    bool only_result = true;
    for (std::size_t i = 1; i < norm->outputs.size(); ++i)
      only_result = only_result && users[static_cast<std::size_t>(norm->id)][i].empty();
    Node& conv = *norm->inputs[0].node;
    if (!only_result || !conv.is("Conv2D") ||
        users[static_cast<std::size_t>(conv.id)][0].size() != 1 ||
        info(norm->inputs[0]).dtype != info(norm->inputs[1]).dtype ||
        !kRealFloatTypes.contains(info(norm->inputs[0]).dtype) ||
        conv.reader().string_attr("data_format") != "NHWC" || !filter_is_smaller(conv))
      continue;
    std::vector<Node*> made;
    const Affine a = affine_of(graph, *norm, made);
    Node& filter = graph.add(find_op("Mul"), conv.name + "/scaled", {conv.inputs[1], a.scale}, {},
                             {info(conv.inputs[1])});
    Node& again = graph.add(*conv.op, conv.name + "/folded", {conv.inputs[0], {&filter, 0}},
                            conv.attrs, conv.outputs);
    Node& bias = graph.add(find_op("BiasAdd"), norm->name + "/bias", {{&again, 0}, a.shift}, {},
                           {norm->outputs[0]});
    for (Node* n : {&filter, &again, &bias}) {
      n->file = conv.file;
      n->line = conv.line;
      n->device = conv.device;
      made.push_back(n);
    }
    for (Node* n : made) moves.emplace_back(n, norm);
    replace_uses(graph, {norm, 0}, {&bias, 0});
    ++count;
  }
  for (const auto& [node, place] : moves) move_before(graph, *node, *place);
  if (count) prune(graph);
  return count ? format("{} normalisations in the filters of convolutions", count) : "";
}
// Products round at other places.
const PassRegistration registered_fold_batch_norm(
    50, "fold_batch_norm", "Batch normalisation of inference goes into the filter.",
    fold_batch_norm, false);

}  // namespace
}  // namespace rill
