// Normalisation of each channel over a batch.
#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn/normalizer.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

bool channels_first(const AttrReader& c) { return c.string_attr("data_format").starts_with("NC"); }

// The rank that data_format names.
int rank_of(const AttrReader& c) {
  const std::string_view f = c.string_attr("data_format");
  RILL_CHECK(f == "NHWC" || f == "NCHW" || f == "NDHWC" || f == "NCDHW", invalid_argument,
             "[{}] data_format is \"{}\"; expected \"NHWC\", \"NCHW\", \"NDHWC\" or \"NCDHW\"",
             c.op().tag, f);
  return static_cast<int>(f.size());
}

// Checks input i: a vector with one element for each of `channels`.
std::int64_t merge_channels(const ShapeContext& c, int i, std::int64_t channels,
                            bool may_be_empty = false) {
  const std::string& name = c.op().inputs[static_cast<std::size_t>(i)].name;
  require_rank(c, i, 1, name);
  if (!c.input(i).has_rank() || c.input(i).dim(0) < 0) return channels;
  const std::int64_t n = c.input(i).dim(0);
  if (may_be_empty && n == 0) return channels;
  RILL_CHECK(channels < 0 || n == channels, invalid_argument,
             "[{}] {} has {} elements; expected {}, the channels of x of shape {} ({})", c.tag(),
             name, n, channels, c.input(c.op().find_input("x")), c.string_attr("data_format"));
  return n;
}

void batch_norm_shape(ShapeContext& c) {
  const int rank = rank_of(c);
  require_rank(c, 0, rank, "x");
  TensorShape x = c.input(0).has_rank() ? c.input(0) : TensorShape::unknown_dims(rank);
  const int axis = channels_first(c) ? 1 : rank - 1;
  const bool training = c.bool_attr("is_training"),
             fresh = training && c.float_attr("exponential_avg_factor") == 1;
  std::int64_t channels = x.dim(axis);
  for (int i : {1, 2}) channels = merge_channels(c, i, channels);
  for (int i : {3, 4}) channels = merge_channels(c, i, channels, fresh);
  x.set_dim(axis, channels);
  c.set_output(0, x);
  for (int i = 1; i < 5; ++i) c.set_output(i, TensorShape({channels < 0 ? None : Dim(channels)}));
  c.set_output(5, TensorShape::scalar());
}
void batch_norm_grad_shape(ShapeContext& c) {
  const int rank = rank_of(c);
  for (int i : {0, 1}) require_rank(c, i, rank, c.op().inputs[static_cast<std::size_t>(i)].name);
  RILL_CHECK(c.input(0).is_compatible_with(c.input(1)), invalid_argument,
             "[{}] y_backprop has shape {}, x {}; expected equal shapes", c.tag(), c.input(0),
             c.input(1));
  TensorShape x = c.input(1).has_rank()   ? c.input(1)
                  : c.input(0).has_rank() ? c.input(0)
                                          : TensorShape::unknown_dims(rank);
  const int axis = channels_first(c) ? 1 : rank - 1;
  std::int64_t channels = x.dim(axis);
  for (int i : {2, 3, 4}) channels = merge_channels(c, i, channels);
  x.set_dim(axis, channels);
  c.set_output(0, x);
  for (int i : {1, 2}) c.set_output(i, TensorShape({channels < 0 ? None : Dim(channels)}));
  for (int i : {3, 4}) c.set_output(i, TensorShape({0}));
}

// Axes other than that of the channels.
std::vector<int> other_axes(const AttrReader& c) {
  const int rank = rank_of(c), axis = channels_first(c) ? 1 : rank - 1;
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i)
    if (i != axis) axes.push_back(i);
  return axes;
}
// A vector over the channels, made to broadcast with x.
Tensor over_channels(const AttrReader& c, const Tensor& v, DType dtype) {
  const Tensor w = cast(v, dtype);
  if (!channels_first(c)) return w;
  std::vector<int> dims(static_cast<std::size_t>(rank_of(c)), 1);
  dims[1] = -1;
  return reshape(w, constant(dims));
}

void batch_norm_grad_grad(GradContext& g) {
  const DType d = g.input_dtype(1), wide = d == float64 ? float64 : float32;
  const std::vector<int> axes = other_axes(g);
  const Tensor dy = cast(g.input(0), wide), x = cast(g.input(1), wide);
  const Tensor scale = over_channels(g, g.input(2), wide);
  const Tensor r = rsqrt(over_channels(g, g.input(4), wide) + g.float_attr("epsilon"));
  const Tensor z = (x - over_channels(g, g.input(3), wide)) * r;
  const Tensor u = cast(g.dy(0), wide), p = over_channels(g, g.dy(1), wide),
               q = over_channels(g, g.dy(2), wide);
  const DType vectors = g.input_dtype(2);
  if (g.bool_attr("is_training")) {
    const Normalizer n{z, r, axes};
    if (g.needs(0)) g.set(0, cast(scale * n.project(u) + p * z + q, d));
    if (g.needs(1)) g.set(1, cast(n.second(u, scale * dy, p * dy), d));
    if (g.needs(2)) g.set(2, cast(reduce_sum(dy * n.project(u), axes), vectors));
  } else {
    if (g.needs(0)) g.set(0, cast(scale * r * u + p * z + q, d));
    if (g.needs(1)) g.set(1, cast(p * r * dy, d));
    if (g.needs(2)) g.set(2, cast(reduce_sum(dy * r * u, axes), vectors));
    if (g.needs(3)) g.set(3, cast(reduce_sum(negative(p * r * dy), axes), vectors));
    if (g.needs(4))
      g.set(4, cast(reduce_sum(-0.5 * square(r) * dy * (scale * r * u + p * z), axes), vectors));
  }
}
const Op& batch_norm_grad_op =
    OpBuilder("FusedBatchNormGradV3", "fused_batch_norm_grad")
        .input("y_backprop: T")
        .input("x: T")
        .input("scale: U")
        .input("reserve_space_1: U")
        .input("reserve_space_2: U")
        .input("reserve_space_3: U")
        .output("x_backprop: T")
        .output("scale_backprop: U")
        .output("offset_backprop: U")
        .output("reserve_space_4: U")
        .output("reserve_space_5: U")
        .type("T", kFloatTypes)
        .type("U", kRealFloatTypes)
        .attr("epsilon: float = 0.0001")
        .attr("data_format: string = 'NHWC'")
        .attr("is_training: bool = true")
        .doc(
            "The gradients of fused_batch_norm. Reserves are the mean and the variance that it "
            "used; when training, also functions of x.")
        .shape(batch_norm_grad_shape)
        .gradient(batch_norm_grad_grad, "y_backprop x scale reserve_space_1 reserve_space_2")
        .define();

void batch_norm_grad(GradContext& g) {
  const bool training = g.bool_attr("is_training");
  const Tensor& none = g.output(5);
  const auto grads =
      execute_all(batch_norm_grad_op,
                  {g.dy(0), g.input(0), g.input(1), training ? g.output(3) : g.input(3),
                   training ? g.output(4) : g.input(4), none},
                  {{"epsilon", g.float_attr("epsilon")},
                   {"data_format", g.string_attr("data_format")},
                   {"is_training", training}});
  for (int i = 0; i < 3; ++i) g.set(i, grads[static_cast<std::size_t>(i)]);
  if (training) return;
  // TensorFlow gives none; y = scale * (x - mean) * rsqrt(variance + epsilon) + offset depends on
  // both.
  const DType d = g.input_dtype(3);
  const Tensor r = rsqrt(g.input(4) + g.float_attr("epsilon"));
  if (g.needs(3)) g.set(3, negative(grads[2] * g.input(1) * r));
  if (g.needs(4)) g.set(4, cast(-0.5, d) * grads[1] * g.input(1) * square(r));
}
const Op& batch_norm_op =
    OpBuilder("FusedBatchNormV3", "fused_batch_norm")
        .input("x: T")
        .input("scale: U")
        .input("offset: U")
        .input("mean: U")
        .input("variance: U")
        .output("y: T")
        .output("batch_mean: U")
        .output("batch_variance: U")
        .output("reserve_space_1: U")
        .output("reserve_space_2: U")
        .output("reserve_space_3: U")
        .type("T", kFloatTypes)
        .type("U", kRealFloatTypes)
        .attr("epsilon: float = 0.0001")
        .attr("exponential_avg_factor: float = 1.0")
        .attr("data_format: string = 'NHWC'")
        .attr("is_training: bool = true")
        .doc(
            "scale * (x - mean) / sqrt(variance + epsilon) + offset, with the mean and variance of "
            "each channel of x when training.")
        .shape(batch_norm_shape)
        .gradient(batch_norm_grad,
                  "x scale mean variance reserve_space_1 reserve_space_2 reserve_space_3")
        .define();

}  // namespace

namespace nn {

Tensors<3> fused_batch_norm(const Operand& input, const Operand& scale, const Operand& offset,
                            const FusedBatchNormOptions& o) {
  const Arg x(input);
  const DType vectors = x->dtype() == float64 ? float64 : float32;
  const Arg s(scale, vectors), b(offset, vectors);
  RILL_CHECK(o.is_training || (o.mean.defined() && o.variance.defined()), invalid_argument,
             "[fused_batch_norm] mean and variance must be given when is_training is false");
  RILL_CHECK(
      o.exponential_avg_factor == 1 || !o.is_training || (o.mean.defined() && o.variance.defined()),
      invalid_argument,
      "[fused_batch_norm] mean and variance must be given when exponential_avg_factor is {}",
      o.exponential_avg_factor);
  const Tensor none = zeros({0}, vectors);
  // Smaller ones are raised, as TensorFlow does for the sake of cuDNN.
  const double epsilon = std::max(o.epsilon, 1.001e-5);
  auto out = execute_all(
      batch_norm_op,
      {x, s, b, o.mean.defined() ? o.mean : none, o.variance.defined() ? o.variance : none},
      {{"epsilon", epsilon},
       {"exponential_avg_factor", o.exponential_avg_factor},
       {"data_format", o.data_format},
       {"is_training", o.is_training}});
  return {{out[0], out[1], out[2]}};
}

}  // namespace nn
}  // namespace rill
