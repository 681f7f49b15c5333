// Numbers rounded to what integers of few bits can stand for, with a gradient that goes straight
// through.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void check_bits(const ShapeContext& c) {
  const std::int64_t bits = c.int_attr("num_bits");
  RILL_CHECK(bits >= 2 && bits <= 16, invalid_argument, "[{}] num_bits is {}; expected 2 to 16",
             c.tag(), bits);
}
OpBuilder& with_bits(OpBuilder& b) {
  return b.attr("num_bits: int = 8").attr("narrow_range: bool = false");
}

// ---- limits that are attributes
void args_shape(ShapeContext& c) {
  check_bits(c);
  RILL_CHECK(c.float_attr("min") < c.float_attr("max"), invalid_argument,
             "[{}] min is {}, max {}; expected min below max", c.tag(), c.float_attr("min"),
             c.float_attr("max"));
  if (c.num_inputs() == 2)
    RILL_CHECK(c.input(0).is_compatible_with(c.input(1)), invalid_argument,
               "[{}] gradients have shape {}, inputs {}; expected equal shapes", c.tag(),
               c.input(0), c.input(1));
  unchanged_shape(c);
}
OpBuilder args_op(const char* name, bool gradient) {
  OpBuilder b(name, "quantization.fake_quant_with_min_max_args");
  if (gradient) b.input("gradients: float32");
  b.input("inputs: float32").output(gradient ? "backprops: float32" : "outputs: float32");
  b.attr("min: float = -6").attr("max: float = 6").shape(args_shape);
  with_bits(b);
  return b;
}
const Op& args_gradient_op = args_op("FakeQuantWithMinMaxArgsGradient", true)
                                 .doc("The gradient where inputs are within the limits, else 0.")
                                 .no_gradient()
                                 .define();
void args_grad(GradContext& g) {
  g.set(0, execute(args_gradient_op, {g.dy(), g.input(0)},
                   {{"min", g.float_attr("min")},
                    {"max", g.float_attr("max")},
                    {"num_bits", g.int_attr("num_bits")},
                    {"narrow_range", g.bool_attr("narrow_range")}}));
}
const Op& args_quant_op = args_op("FakeQuantWithMinMaxArgs", false)
                              .doc("Inputs rounded to the steps of num_bits between two limits.")
                              .gradient(args_grad, "inputs")
                              .define();

// ---- limits that are tensors: one pair, or one for each element of the last axis
void vars_shape(ShapeContext& c) {
  check_bits(c);
  const bool gradient = c.num_inputs() == 4,
             channels = c.op().name.find("PerChannel") != std::string::npos;
  const int x = gradient ? 1 : 0;
  if (gradient)
    RILL_CHECK(c.input(0).is_compatible_with(c.input(1)), invalid_argument,
               "[{}] gradients have shape {}, inputs {}; expected equal shapes", c.tag(),
               c.input(0), c.input(1));
  if (channels && c.input(x).has_rank())
    RILL_CHECK(c.input(x).rank() >= 1, invalid_argument,
               "[{}] inputs are a scalar; expected rank 1 or more", c.tag());
  for (int i : {x + 1, x + 2}) {
    require_rank(c, i, channels ? 1 : 0, i == x + 1 ? "min" : "max");
    if (channels && c.input(i).has_rank() && c.input(x).has_rank())
      merge_dims(c.input(i).dim(0), c.input(x).dim(-1), c.tag(),
                 "sizes of min or max and of the last axis of inputs");
  }
  c.set_output(0, c.input(x));
  if (gradient) c.set_output(1, c.input(2)), c.set_output(2, c.input(3));
}
OpBuilder vars_op(const char* name, const char* tag, bool gradient) {
  OpBuilder b(name, tag);
  if (gradient) b.input("gradients: float32");
  b.input("inputs: float32").input("min: float32").input("max: float32");
  if (gradient)
    b.output("backprops_wrt_input: float32")
        .output("backprop_wrt_min: float32")
        .output("backprop_wrt_max: float32");
  else
    b.output("outputs: float32");
  with_bits(b).shape(vars_shape);
  return b;
}
constexpr const char *kVars = "quantization.fake_quant_with_min_max_vars",
                     *kChannels = "quantization.fake_quant_with_min_max_vars_per_channel";
const Op& vars_gradient_op = vars_op("FakeQuantWithMinMaxVarsGradient", kVars, true)
                                 .doc("The gradient within the limits; its sums below and above.")
                                 .no_gradient()
                                 .define();
const Op& channels_gradient_op =
    vars_op("FakeQuantWithMinMaxVarsPerChannelGradient", kChannels, true)
        .doc("The gradient within the limits; its sums below and above, by channels.")
        .no_gradient()
        .define();
void vars_grad(GradContext& g) {
  const Op& op = g.op().name == "FakeQuantWithMinMaxVars" ? vars_gradient_op : channels_gradient_op;
  const auto d = execute_all(
      op, {g.dy(), g.input(0), g.input(1), g.input(2)},
      {{"num_bits", g.int_attr("num_bits")}, {"narrow_range", g.bool_attr("narrow_range")}});
  for (int i = 0; i < 3; ++i) g.set(i, d[static_cast<std::size_t>(i)]);
}
const Op& vars_quant_op = vars_op("FakeQuantWithMinMaxVars", kVars, false)
                              .doc("Inputs rounded to the steps of num_bits between min and max.")
                              .gradient(vars_grad, "inputs min max")
                              .define();
const Op& channels_quant_op = vars_op("FakeQuantWithMinMaxVarsPerChannel", kChannels, false)
                                  .doc("The same, with limits for each element of the last axis.")
                                  .gradient(vars_grad, "inputs min max")
                                  .define();

}  // namespace

namespace quantization {

Tensor fake_quant_with_min_max_args(const Operand& inputs, const FakeQuantArgs& o) {
  return execute(
      args_quant_op, {Arg(inputs)},
      {{"min", o.min}, {"max", o.max}, {"num_bits", o.num_bits}, {"narrow_range", o.narrow_range}});
}
Tensor fake_quant_with_min_max_vars(const Operand& inputs, const Operand& min, const Operand& max,
                                    FakeQuantOptions o) {
  return execute(vars_quant_op, {Arg(inputs), Arg(min, float32), Arg(max, float32)},
                 {{"num_bits", o.num_bits}, {"narrow_range", o.narrow_range}});
}
Tensor fake_quant_with_min_max_vars_per_channel(const Operand& inputs, const Operand& min,
                                                const Operand& max, FakeQuantOptions o) {
  return execute(channels_quant_op, {Arg(inputs), Arg(min, float32), Arg(max, float32)},
                 {{"num_bits", o.num_bits}, {"narrow_range", o.narrow_range}});
}

}  // namespace quantization
}  // namespace rill
