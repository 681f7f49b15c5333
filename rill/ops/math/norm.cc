// Norms, and the statistics that are composed of sums.
#include <cmath>

#include "rill/ops/linalg_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

// d|x| / dx = x / |x|; 0 where the norm is 0.
void euclidean_norm_grad(GradContext& g) {
  g.set(0,
        divide_no_nan(g.input(0) * with_reduced_axes(g, g.dy()), with_reduced_axes(g, g.output())));
}
const Op& euclidean_norm_op =
    reduce_op("EuclideanNorm", "reduce_euclidean_norm", kNumericTypes)
        .doc("The square root of the sum of squared magnitudes across axes.")
        .gradient(euclidean_norm_grad, "input reduction_indices output")
        .define();

void l2_loss_grad(GradContext& g) { g.set(0, g.input(0) * g.dy()); }
const Op& l2_loss_op = OpBuilder("L2Loss", "l2_loss")
                           .input("t: T")
                           .output("output: T")
                           .type("T", kFloatTypes)
                           .doc("Half the sum of squares.")
                           .shape(scalar_shape)
                           .gradient(l2_loss_grad, "t")
                           .define();

Tensor logsumexp(const Operand& input, const std::vector<int>& axes, ReduceOptions o) {
  const Arg x(input);
  // Shifted by the largest, so that exp does not overflow.
  const Tensor top = reduce_max(*x, axes, {.keepdims = true});
  const Tensor shift = stop_gradient(where(is_finite(top), top, 0));
  const Tensor sum = log(reduce_sum(exp(*x - shift), axes, o));
  return sum + (o.keepdims ? shift : reshape(shift, sizes_of(sum)));
}
void require_fractions(const Tensor& x, std::string_view tag) {
  RILL_CHECK(x.dtype().is_floating() || x.dtype().is_complex(), invalid_argument,
             "[{}] x is {}; expected a floating-point dtype. Write tf::cast(x, tf::float32)", tag,
             x.dtype());
}
Tensor variance(const Operand& input, const std::vector<int>& axes, ReduceOptions o) {
  const Arg x(input);
  require_fractions(*x, "reduce_variance");
  const Tensor off = *x - reduce_mean(*x, axes, {.keepdims = true});
  return reduce_mean(off.dtype().is_complex() ? square(abs(off)) : square(off), axes, o);
}
Tensor deviation(const Operand& input, const std::vector<int>& axes, ReduceOptions o) {
  return sqrt(variance(input, axes, o));
}
Tensor nonzeros(const Operand& input, const std::vector<int>& axes, ReduceOptions o, DType dtype) {
  const Arg x(input);
  const Tensor zero = x->dtype() == string ? constant("") : cast(constant(0), x->dtype());
  return reduce_sum(cast(not_equal(*x, zero), dtype), axes, o);
}

}  // namespace

RILL_DEFINE_REDUCTION(reduce_euclidean_norm, euclidean_norm_op)
RILL_DEFINE_COMPOSITE_REDUCTION(reduce_logsumexp, logsumexp)
RILL_DEFINE_COMPOSITE_REDUCTION(reduce_variance, variance)
RILL_DEFINE_COMPOSITE_REDUCTION(reduce_std, deviation)

namespace nn {
Tensor l2_loss(const Operand& t) { return unary(l2_loss_op, t); }
}  // namespace nn

namespace math {
Tensor count_nonzero(const Operand& x, CountOptions o) {
  return nonzeros(x, o.axis.empty() ? all_axes(x) : o.axis, {.keepdims = o.keepdims}, o.dtype);
}
Tensor count_nonzero(const Operand& x, int axis, CountOptions o) {
  return nonzeros(x, {axis}, {.keepdims = o.keepdims}, o.dtype);
}
}  // namespace math

namespace math {
Tensor reciprocal_no_nan(const Operand& x) {
  const Arg a(x);
  return divide_no_nan(1, *a);
}
}  // namespace math

Tensor norm(const Operand& tensor, NormOptions o) {
  const Arg x(tensor);
  require_fractions(*x, "norm");
  const bool matrix = o.axis.size() == 2;
  RILL_CHECK(o.axis.size() <= 2, invalid_argument,
             "[norm] axis has {} entries; expected none, one (vectors) or two (matrices)",
             o.axis.size());
  const std::vector<int> axes = o.axis.empty() ? NormAxes(all_axes(*x)) : o.axis;
  const ReduceOptions keep{.keepdims = o.keepdims};
  const std::string& name = o.ord.name;
  RILL_CHECK(
      name.empty() || name == "euclidean" || name == "fro", invalid_argument,
      "[norm] ord is \"{}\"; expected \"euclidean\", \"fro\", 1, 2, inf or a positive number",
      name);
  RILL_CHECK(name != "fro" || matrix, invalid_argument,
             "[norm] ord \"fro\" is of matrices; expected axis to name two axes");
  const double p = o.ord.p;
  if (!name.empty() || (p == 2 && !matrix))
    return sqrt(reduce_sum(real(*x * conj(*x)), axes, keep));
  RILL_CHECK(p > 0, invalid_argument, "[norm] ord is {}; expected a positive number", p);
  const Tensor size = abs(*x);
  if (matrix) {
    RILL_CHECK(p == 1 || p == 2 || std::isinf(p), invalid_argument,
               "[norm] ord {} of matrices; expected \"euclidean\", \"fro\", 1, 2 or inf", p);
    if (p == 2) {  // the largest singular value
      const int rank = x->ndim(), row = normalize_axis(axes[0], rank, "norm"),
                column = normalize_axis(axes[1], rank, "norm");
      RILL_CHECK(row != column, invalid_argument,
                 "[norm] axis names axis {} twice; expected two axes", row);
      std::vector<int> perm;
      for (int i = 0; i < rank; ++i)
        if (i != row && i != column) perm.push_back(i);
      perm.push_back(row), perm.push_back(column);
      const Tensor top = reduce_max(linalg::svd(transpose(*x, perm), {.compute_uv = false}).s, -1);
      return o.keepdims
                 ? expand_dims(expand_dims(top, std::min(row, column)), std::max(row, column))
                 : top;
    }
    // Columns for 1, rows for inf, summed; then the largest.
    const int summed = p == 1 ? axes[0] : axes[1], other = p == 1 ? axes[1] : axes[0];
    const Tensor top =
        reduce_max(reduce_sum(size, summed, {.keepdims = true}), other, {.keepdims = true});
    return o.keepdims ? top : reduce_sum(top, axes, {});
  }
  if (std::isinf(p)) return reduce_max(size, axes, keep);
  if (p == 1) return reduce_sum(size, axes, keep);
  return pow(reduce_sum(pow(size, p), axes, keep), 1 / p);
}

}  // namespace rill
