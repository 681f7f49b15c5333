#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/keras/layers/op_layer_impl.h"
#include "rill/ops/state_ops.h"

namespace rill::keras {

std::string function_name(const Op& op) {
  struct Known {
    const char *op, *function;
  };
  static const Known known[] = {
      {"AddV2", "__operators__.add"},
      {"Add", "__operators__.add"},
      {"Sub", "math.subtract"},
      {"Mul", "math.multiply"},
      {"RealDiv", "math.truediv"},
      {"MatMul", "linalg.matmul"},
      {"BatchMatMulV2", "linalg.matmul"},
      {"Relu", "nn.relu"},
      {"Softmax", "nn.softmax"},
      {"Sigmoid", "math.sigmoid"},
      {"Tanh", "math.tanh"},
      {"Exp", "math.exp"},
      {"Log", "math.log"},
      {"Square", "math.square"},
      {"Sqrt", "math.sqrt"},
      {"Abs", "math.abs"},
      {"Neg", "math.negative"},
      {"Maximum", "math.maximum"},
      {"Minimum", "math.minimum"},
      {"Sum", "math.reduce_sum"},
      {"Mean", "math.reduce_mean"},
      {"Max", "math.reduce_max"},
      {"Reshape", "reshape"},
      {"Transpose", "compat.v1.transpose"},
      {"ConcatV2", "concat"},
      {"Cast", "cast"},
      {"Shape", "compat.v1.shape"},
      {"StridedSlice", "__operators__.getitem"},
      {"Pow", "math.pow"},
      {"Min", "math.reduce_min"},
      {"Any", "math.reduce_any"},
      {"All", "math.reduce_all"},
      {"Equal", "math.equal"},
      {"NotEqual", "math.not_equal"},
      {"Greater", "math.greater"},
      {"GreaterEqual", "math.greater_equal"},
      {"Less", "math.less"},
      {"LessEqual", "math.less_equal"},
      {"LogicalAnd", "math.logical_and"},
      {"LogicalOr", "math.logical_or"},
      {"LogicalNot", "math.logical_not"},
      {"FloorMod", "math.floormod"},
      {"FloorDiv", "compat.v1.floor_div"},
      {"SquaredDifference", "math.squared_difference"},
      {"AddN", "math.add_n"},
      {"Prod", "math.reduce_prod"},
      {"ArgMax", "math.argmax"},
      {"ArgMin", "math.argmin"},
      {"Cumsum", "math.cumsum"},
      {"ClipByValue", "clip_by_value"},
      {"Floor", "math.floor"},
      {"Ceil", "math.ceil"},
      {"Round", "math.round"},
      {"Sign", "math.sign"},
      {"Rsqrt", "math.rsqrt"},
      {"Reciprocal", "math.reciprocal"},
      {"Sin", "math.sin"},
      {"Cos", "math.cos"},
      {"Erf", "math.erf"},
      {"Log1p", "math.log1p"},
      {"Softplus", "math.softplus"},
      {"IsNan", "math.is_nan"},
      {"Elu", "nn.elu"},
      {"Relu6", "nn.relu6"},
      {"LogSoftmax", "nn.log_softmax"},
      {"Einsum", "einsum"},
      {"Identity", "identity"},
      {"StopGradient", "stop_gradient"},
      {"Split", "split"},
      {"SplitV", "split"},
      {"Pack", "stack"},
      {"Unpack", "unstack"},
      {"SelectV2", "where"},
      {"ExpandDims", "expand_dims"},
      {"Squeeze", "compat.v1.squeeze"},
      {"Tile", "tile"},
      {"BroadcastTo", "broadcast_to"},
      {"Fill", "fill"},
      {"Pad", "compat.v1.pad"},
      {"PadV2", "compat.v1.pad"},
      {"MirrorPad", "compat.v1.pad"},
      {"OneHot", "one_hot"},
      {"GatherV2", "compat.v1.gather"},
      {"ReverseV2", "reverse"},
  };
  for (const Known& k : known)
    if (op.name == k.op) return k.function;
  return "raw_ops." + std::string(op.name);
}

OpLayer::OpLayer(const Op& op, AttrList attrs, int num_outputs)
    : LayerImpl(op.name == "StridedSlice" ? "SlicingOpLambda" : "TFOpLambda",
                {.name = unique_layer_name("tf." + function_name(op)), .dtype = float32}),
      op_(op),
      attrs_(attrs),
      num_outputs_(num_outputs) {
  autocast = false;
}

Nest OpLayer::call_nest(const Nest& inputs, const CallContext&) {
  std::vector<Tensor> leaves = inputs.flatten();
  for (Tensor& t : leaves)
    if (t.impl()->resource) t = read_variable(t);
  std::vector<Tensor> out = execute_all(op_, as_inputs(leaves), attrs_.list(), num_outputs_);
  return out.size() == 1 ? Nest(out[0]) : Nest(std::move(out));
}

void OpLayer::add_config(Config& config) const { config.set("function", function_name(op_)); }

}  // namespace rill::keras
