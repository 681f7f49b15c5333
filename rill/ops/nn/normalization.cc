// Moments, and normalisation by them.
#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// ---- fused_batch_norm
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

// The pieces of the derivative of a normalisation's gradient. With g the
// gradient of z = (x - mean) * r and P(g) = r (g - mean(g) - z mean(g z)), which
// is its own transpose: for the cotangent u of P(h), and v that of z by other ways,
//   d/dx = -K r^2 z / N + P(v - r (mean(u z) h + mean(h z) u)),
//   K = sum(u h) - N mean(u) mean(h) - N mean(u z) mean(h z).
struct Normalizer {
  Tensor z, r;
  std::vector<int> axes;
  Tensor mean(const Tensor& t) const { return reduce_mean(t, axes, {.keepdims = true}); }
  Tensor project(const Tensor& g) const { return r * (g - mean(g) - z * mean(g * z)); }
  Tensor second(const Tensor& u, const Tensor& h, const Tensor& v) const {
    const Tensor uz = mean(u * z), hz = mean(h * z);
    const Tensor k = mean(u * h) - mean(u) * mean(h) - uz * hz;
    return project(v - r * (uz * h + hz * u)) - k * square(r) * z;
  }
};

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

// ---- layer_norm
// Where the axes begin that gamma covers.
void layer_norm_shape_of(ShapeContext& c, int xi, int gi) {
  const TensorShape &x = c.input(xi), &gamma = c.input(gi);
  if (!x.has_rank() || !gamma.has_rank()) return;
  bool fits = gamma.rank() >= 1 && gamma.rank() <= x.rank();
  for (int i = 1; fits && i <= gamma.rank(); ++i)
    fits = x.dim(-i) < 0 || gamma.dim(-i) < 0 || x.dim(-i) == gamma.dim(-i);
  RILL_CHECK(fits, invalid_argument,
             "[{}] {} has shape {}; expected that of the last axes of x, which has shape {}",
             c.tag(), c.op().inputs[static_cast<std::size_t>(gi)].name, gamma, x);
}
void layer_norm_shape(ShapeContext& c) {
  layer_norm_shape_of(c, 0, 1);
  layer_norm_shape_of(c, 0, 2);
  RILL_CHECK(c.input(1).is_compatible_with(c.input(2)), invalid_argument,
             "[layer_norm] gamma has shape {}, beta {}; expected equal shapes", c.input(1),
             c.input(2));
  c.set_output(0, c.input(0));
}
void layer_norm_grad_shape(ShapeContext& c) {
  RILL_CHECK(c.input(0).is_compatible_with(c.input(1)), invalid_argument,
             "[{}] y_backprop has shape {}, x {}; expected equal shapes", c.tag(), c.input(0),
             c.input(1));
  layer_norm_shape_of(c, 1, 2);
  c.set_output(0, c.input(1));
  for (int i : {1, 2}) c.set_output(i, c.input(2));
}
void layer_norm_grad_grad(GradContext& g) {
  const DType d = g.input_dtype(1), wide = d == float64 ? float64 : float32;
  const int rank = g.input_shape(1).rank(), over = g.input_shape(2).rank();
  std::vector<int> axes, rows;
  for (int i = 0; i < rank; ++i) (i < rank - over ? rows : axes).push_back(i);
  const Tensor dy = cast(g.input(0), wide), x = cast(g.input(1), wide),
               gamma = cast(g.input(2), wide);
  const Tensor off = x - reduce_mean(x, axes, {.keepdims = true});
  const Tensor r =
      rsqrt(reduce_mean(square(off), axes, {.keepdims = true}) + g.float_attr("epsilon"));
  const Normalizer n{off * r, r, axes};
  const Tensor u = cast(g.dy(0), wide), p = cast(g.dy(1), wide), q = cast(g.dy(2), wide);
  if (g.needs(0)) g.set(0, cast(gamma * n.project(u) + p * n.z + q, d));
  if (g.needs(1)) g.set(1, cast(n.second(u, gamma * dy, p * dy), d));
  if (g.needs(2))
    g.set(2, cast(rows.empty() ? dy * n.project(u) : reduce_sum(dy * n.project(u), rows), d));
}
const Op& layer_norm_grad_op =
    OpBuilder("LayerNormGrad", "layer_norm_grad")
        .input("y_backprop: T")
        .input("x: T")
        .input("gamma: T")
        .output("x_backprop: T")
        .output("gamma_backprop: T")
        .output("beta_backprop: T")
        .attr("epsilon: float = 0.001")
        .type("T", kFloatTypes)
        .doc("The gradients of layer_norm; the statistics are computed again.")
        .shape(layer_norm_grad_shape)
        .gradient(layer_norm_grad_grad, "y_backprop x gamma")
        .define();
void layer_norm_grad(GradContext& g) {
  const auto grads = execute_all(layer_norm_grad_op, {g.dy(), g.input(0), g.input(1)},
                                 {{"epsilon", g.float_attr("epsilon")}});
  for (int i = 0; i < 3; ++i) g.set(i, grads[static_cast<std::size_t>(i)]);
}
const Op& layer_norm_op = OpBuilder("LayerNorm", "layer_norm")
                              .input("x: T")
                              .input("gamma: T")
                              .input("beta: T")
                              .output("y: T")
                              .attr("epsilon: float = 0.001")
                              .type("T", kFloatTypes)
                              .doc(
                                  "gamma * (x - mean) / sqrt(variance + epsilon) + beta over the "
                                  "last axes of x, those of gamma.")
                              .shape(layer_norm_shape)
                              .gradient(layer_norm_grad, "x gamma")
                              .define();

// ---- local_response_normalization
void lrn_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    require_rank(c, i, 4, c.op().inputs[static_cast<std::size_t>(i)].name);
    RILL_CHECK(c.input(i).is_compatible_with(c.input(0)), invalid_argument,
               "[{}] {} has shape {}, {} {}; expected equal shapes", c.tag(),
               c.op().inputs[static_cast<std::size_t>(i)].name, c.input(i), c.op().inputs[0].name,
               c.input(0));
  }
  RILL_CHECK(c.int_attr("depth_radius") >= 0, invalid_argument,
             "[{}] depth_radius is {}; expected 0 or more", c.tag(), c.int_attr("depth_radius"));
  c.set_output(0, c.input(0).has_rank() ? c.input(0) : TensorShape::unknown_dims(4));
}
OpBuilder lrn_attrs(OpBuilder b) {
  b.attr("depth_radius: int = 5")
      .attr("bias: float = 1.0")
      .attr("alpha: float = 1.0")
      .attr("beta: float = 0.5")
      .type("T", kFloatTypes)
      .shape(lrn_shape);
  return b;
}
const Op& lrn_grad_op = lrn_attrs(OpBuilder("LRNGrad", "local_response_normalization_grad")
                                      .input("input_grads: T")
                                      .input("input_image: T")
                                      .input("output_image: T")
                                      .output("output: T"))
                            .doc("The gradient of local_response_normalization.")
                            .no_gradient()
                            .define();
void lrn_grad(GradContext& g) {
  g.set(0, execute(lrn_grad_op, {g.dy(), g.input(0), g.output()},
                   {{"depth_radius", g.int_attr("depth_radius")},
                    {"bias", g.float_attr("bias")},
                    {"alpha", g.float_attr("alpha")},
                    {"beta", g.float_attr("beta")}}));
}
const Op& lrn_op =
    lrn_attrs(
        OpBuilder("LRN", "local_response_normalization").input("input: T").output("output: T"))
        .doc("input / (bias + alpha * sum of squares of the channels within depth_radius)^beta.")
        .gradient(lrn_grad, "input output")
        .define();

Tensor l2_normalized(const Tensor& x, const std::vector<int>& axes, double epsilon) {
  return x * rsqrt(maximum(reduce_sum(square(x), axes, {.keepdims = true}), epsilon));
}

}  // namespace

namespace nn {

Tensors<2> moments(const Operand& input, const std::vector<int>& axes, MomentsOptions o) {
  const Arg x(input);
  RILL_CHECK(x->dtype().is_floating(), invalid_argument,
             "[moments] x is {}; expected a floating-point dtype. Write tf::cast(x, tf::float32)",
             x->dtype());
  const bool half = x->dtype().itemsize() == 2;
  const Tensor y = half ? cast(*x, float32) : *x;
  // Two passes: the mean first, so that large means do not eat the variance.
  Tensor mean = reduce_mean(y, axes, {.keepdims = true});
  Tensor variance = reduce_mean(squared_difference(y, mean), axes, {.keepdims = o.keepdims});
  if (!o.keepdims)
    mean = mean.shape().has_rank() ? squeeze(mean, axes) : reshape(mean, shape(variance));
  return half ? Tensors<2>{{cast(mean, x->dtype()), cast(variance, x->dtype())}}
              : Tensors<2>{{mean, variance}};
}

Tensors<2> weighted_moments(const Operand& input, const std::vector<int>& axes,
                            const Operand& frequency_weights, MomentsOptions o) {
  const Arg x(input), given(frequency_weights, x->dtype());
  RILL_CHECK(x->dtype().is_floating(), invalid_argument,
             "[weighted_moments] x is {}; expected a floating-point dtype", x->dtype());
  const bool half = x->dtype().itemsize() == 2;
  const Tensor y = half ? cast(*x, float32) : *x, weights = cast(*given, y.dtype());
  const ReduceOptions keep{.keepdims = true};
  const Tensor divisor = reciprocal(reduce_sum(weights + zeros_like(y), axes, keep));
  Tensor mean = reduce_sum(weights * y, axes, keep) * divisor;
  Tensor variance = reduce_sum(weights * squared_difference(y, mean), axes, keep) * divisor;
  if (!o.keepdims) mean = squeeze(mean, axes), variance = squeeze(variance, axes);
  return half ? Tensors<2>{{cast(mean, x->dtype()), cast(variance, x->dtype())}}
              : Tensors<2>{{mean, variance}};
}

Tensors<4> sufficient_statistics(const Operand& input, const std::vector<int>& axes,
                                 const Tensor& shift, MomentsOptions o) {
  const Arg x(input);
  RILL_CHECK(x->shape().is_fully_defined(), unimplemented,
             "[sufficient_statistics] x has shape {}; expected known sizes", x->shape());
  std::int64_t count = 1;
  for (int a : axes) count *= x->shape().dim(normalize_axis(a, x->ndim(), "sufficient_statistics"));
  const ReduceOptions keep{.keepdims = o.keepdims};
  const Tensor off = shift.defined() ? *x - shift : *x;
  return {{cast(constant(count), x->dtype()), reduce_sum(off, axes, keep),
           reduce_sum(square(off), axes, keep), shift}};
}
Tensors<2> normalize_moments(const Operand& counts, const Operand& mean_ss,
                             const Operand& variance_ss, const Tensor& shift) {
  const Arg m(mean_ss), v(variance_ss, m->dtype()), n(counts, m->dtype());
  const Tensor divisor = reciprocal(*n), shifted = *m * divisor;
  return {{shift.defined() ? shifted + shift : shifted, *v * divisor - square(shifted)}};
}

Tensor l2_normalize(const Operand& input) {
  const Arg x(input);
  return *x * rsqrt(maximum(reduce_sum(square(*x)), 1e-12));
}
Tensor l2_normalize(const Operand& x, int axis, double epsilon) {
  return l2_normalized(Arg(x), {axis}, epsilon);
}
Tensor l2_normalize(const Operand& x, const std::vector<int>& axis, double epsilon) {
  return l2_normalized(Arg(x), axis, epsilon);
}

Tensor batch_normalization(const Operand& input, const Operand& mean, const Operand& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon) {
  const Arg x(input), m(mean, x->dtype()), v(variance, x->dtype());
  Tensor inv = rsqrt(*v + variance_epsilon);
  if (scale.defined()) inv = inv * scale;
  const Tensor shift = offset.defined() ? offset - *m * inv : negative(*m * inv);
  return *x * cast(inv, x->dtype()) + cast(shift, x->dtype());
}

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

Tensor layer_norm(const Operand& input, const Operand& gamma, const Operand& beta,
                  LayerNormOptions o) {
  const Arg x(input), s(gamma, x->dtype()), b(beta, x->dtype());
  if (x->shape().has_rank() && s->shape().has_rank()) {
    const int at = normalize_axis(o.begin_axis, x->ndim(), "layer_norm", "begin_axis");
    RILL_CHECK(
        s->ndim() == x->ndim() - at, invalid_argument,
        "[layer_norm] gamma has shape {}; expected rank {}, for begin_axis {} of x of shape {}",
        s->shape(), x->ndim() - at, o.begin_axis, x->shape());
  }
  return execute(layer_norm_op, {x, s, b}, {{"epsilon", o.epsilon}});
}

Tensor local_response_normalization(const Operand& input, LocalResponseOptions o) {
  const Arg x(input);
  return execute(
      lrn_op, {x},
      {{"depth_radius", o.depth_radius}, {"bias", o.bias}, {"alpha", o.alpha}, {"beta", o.beta}});
}
Tensor lrn(const Operand& input, LocalResponseOptions o) {
  return local_response_normalization(input, o);
}

}  // namespace nn
}  // namespace rill
