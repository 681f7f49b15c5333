// Means and variances, and what is composed of them.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

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
  if (!o.keepdims) {
    mean = squeeze(mean, axes);
    variance = squeeze(variance, axes);
  }
  return half ? Tensors<2>{{cast(mean, x->dtype()), cast(variance, x->dtype())}}
              : Tensors<2>{{mean, variance}};
}

Tensors<4> sufficient_statistics(const Operand& input, const std::vector<int>& axes,
                                 const Tensor& shift, MomentsOptions o) {
  const Arg x(input);
  const TensorShape& s = x->shape();
  std::int64_t count = s.has_rank() ? 1 : -1;
  for (int a : axes)
    if (s.has_rank() && count >= 0) {
      const std::int64_t n = s.dim(normalize_axis(a, x->ndim(), "sufficient_statistics"));
      count = n < 0 ? -1 : count * n;
    }
  const Tensor number =
      count >= 0 ? constant(count)
                 : reduce_prod(gather(shape(*x, int64), floormod(constant(axes), rank(*x))));
  const ReduceOptions keep{.keepdims = o.keepdims};
  const Tensor off = shift.defined() ? *x - shift : *x;
  return {{cast(number, x->dtype()), reduce_sum(off, axes, keep),
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

}  // namespace nn
}  // namespace rill
