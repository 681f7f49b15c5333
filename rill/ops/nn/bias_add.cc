// A vector added to the channels, and what is made of that.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// The axis of channels.
int channel_axis(const AttrReader& c, int rank) {
  const std::string_view format = c.string_attr("data_format");
  RILL_CHECK(format == "NHWC" || format == "NCHW", invalid_argument,
             "[{}] data_format must be \"NHWC\" or \"NCHW\", got \"{}\"", c.op().tag, format);
  return format == "NCHW" ? 1 : rank - 1;
}

void bias_add_shape(ShapeContext& c) {
  TensorShape out = c.input(0);
  const TensorShape& bias = c.input(1);
  require_rank(c, 1, 1, "bias");
  RILL_CHECK(!out.has_rank() || out.rank() >= 2, invalid_argument,
             "[bias_add] value must have rank 2 or more, got shape {}", out);
  const int axis = channel_axis(c, out.rank());
  if (out.has_rank() && bias.has_rank()) {
    RILL_CHECK(out.dim(axis) < 0 || bias.dim(0) < 0 || out.dim(axis) == bias.dim(0),
               invalid_argument,
               "[bias_add] bias has {} elements, value of shape {} has {} channels (axis {}, "
               "data_format {})",
               bias.dim(0), out, out.dim(axis), axis, c.string_attr("data_format"));
    if (out.dim(axis) < 0) out.set_dim(axis, bias.dim(0));
  }
  c.set_output(0, out);
}

void bias_add_grad_shape(ShapeContext& c) {
  const TensorShape& dy = c.input(0);
  RILL_CHECK(!dy.has_rank() || dy.rank() >= 2, invalid_argument,
             "[bias_add_grad] out_backprop must have rank 2 or more, got shape {}", dy);
  const int axis = channel_axis(c, dy.rank());
  c.set_output(0, TensorShape(Dims{dy.has_rank() ? dy.dim(axis) : -1}));
}

// The sum's gradient: each channel's gradient everywhere.
void bias_add_grad_grad(GradContext& g) {
  const TensorShape& shape = g.input_shape(0);
  const int axis = channel_axis(g, shape.rank());
  if (!shape.is_fully_defined()) {
    const Tensor sizes = g.input_shape_tensor(0);
    if (axis != 1) return g.set(0, broadcast_to(g.dy(), sizes));  // the last
    const Tensor ones = ones_like(sizes(slice(2, None)));
    return g.set(0, broadcast_to(reshape(g.dy(), concat({sizes(slice(1, 2)), ones}, 0)), sizes));
  }
  Dims kept(static_cast<std::size_t>(shape.rank()), 1);
  kept[static_cast<std::size_t>(axis)] = shape.dim(axis);
  g.set(0, broadcast_to(reshape(g.dy(), TensorShape(kept)), shape));
}
const Op& bias_add_grad_op = OpBuilder("BiasAddGrad", "bias_add_grad")
                                 .input("out_backprop: T")
                                 .output("output: T")
                                 .attr("data_format: string = \"NHWC\"")
                                 .type("T", kNumericTypes)
                                 .doc("The sums over all axes but that of the channels.")
                                 .shape(bias_add_grad_shape)
                                 .gradient(bias_add_grad_grad)
                                 .define();

void bias_add_grad(GradContext& g) {
  g.set(0, g.dy());
  if (g.needs(1))
    g.set(1, execute(bias_add_grad_op, {g.dy()}, {{"data_format", g.string_attr("data_format")}}));
}
const Op& bias_add_op = OpBuilder("BiasAdd", "bias_add")
                            .input("value: T")
                            .input("bias: T")
                            .output("output: T")
                            .attr("data_format: string = \"NHWC\"")
                            .type("T", kNumericTypes)
                            .doc("Adds bias [channels] to value.")
                            .shape(bias_add_shape)
                            .gradient(bias_add_grad)
                            .define();

}  // namespace

namespace nn {

Tensor bias_add(const Operand& value, const Operand& bias) {
  return binary(bias_add_op, value, bias);
}
Tensor bias_add(const Operand& value, const Operand& bias, const std::string& data_format) {
  RILL_CHECK(data_format.starts_with('N'), invalid_argument,
             "[bias_add] data_format must begin with N (NHWC, NCHW, NWC, ..), got \"{}\"",
             data_format);
  const ArgPair a(value, bias);
  return execute(bias_add_op, {a.first(), a.second()},
                 {{"data_format", data_format.starts_with("NC") ? "NCHW" : "NHWC"}});
}

Tensor xw_plus_b(const Operand& x, const Operand& weights, const Operand& biases) {
  return bias_add(matmul(x, weights), biases);
}
Tensor relu_layer(const Operand& x, const Operand& weights, const Operand& biases) {
  return relu(xw_plus_b(x, weights, biases));
}

Tensor embedding_lookup(const Operand& params, const Operand& ids) { return gather(params, ids); }
Tensor embedding_lookup(const Operand& params, const Operand& ids, double max_norm) {
  const Arg table(params), rows(ids);
  RILL_CHECK(max_norm > 0, invalid_argument,
             "[embedding_lookup] max_norm is {}; expected a positive number", max_norm);
  RILL_CHECK(table->shape().has_rank() && rows->shape().has_rank(), invalid_argument,
             "[embedding_lookup] max_norm needs params and ids of known rank");
  const Tensor x = gather(*table, *rows);
  std::vector<int> axes;
  for (int i = rows->ndim(); i < x.ndim(); ++i) axes.push_back(i);
  const Tensor squares = axes.empty() ? square(x) : reduce_sum(square(x), axes, {.keepdims = true});
  // The root has no slope at 0: it is taken of 1 there.
  const Tensor some = squares > 0, length = where(some, sqrt(where(some, squares, 1)), squares);
  return x * max_norm / maximum(length, max_norm);
}

}  // namespace nn
}  // namespace rill
