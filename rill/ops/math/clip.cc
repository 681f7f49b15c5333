// Values and norms kept within limits.
#include "rill/ops/array_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

void clip_shape(ShapeContext& c) {
  for (int i = 1; i < 3; ++i) {
    const TensorShape &t = c.input(0), &limit = c.input(i);
    RILL_CHECK(
        limit.rank() == 0 || t.is_compatible_with(limit), invalid_argument,
        "[clip_by_value] {} has shape {}, t has shape {}; expected a scalar or the same shape",
        i == 1 ? "clip_value_min" : "clip_value_max", limit, t);
  }
  unchanged_shape(c);
}

// What was moved to a limit gives its gradient to the limit; limits that cross
// make everything the lower one.
void clip_grad(GradContext& g) {
  const Tensor &t = g.input(0), &dy = g.dy(), zero = zeros_like(dy);
  const Tensor low = less(minimum(t, g.input(2)), g.input(1));
  const Tensor high = logical_and(greater(t, g.input(2)), logical_not(low));
  if (g.needs(0)) g.set(0, where(logical_or(low, high), zero, dy));
  if (g.needs(1)) set_reduced(g, 1, where(low, dy, zero));
  if (g.needs(2)) set_reduced(g, 2, where(high, dy, zero));
}

const Op& clip_op = OpBuilder("ClipByValue", "clip_by_value")
                        .input("t: T")
                        .input("clip_value_min: T")
                        .input("clip_value_max: T")
                        .output("output: T")
                        .type("T", kRealTypes)
                        .doc(
                            "max(min(t, clip_value_max), clip_value_min); the limits are scalars "
                            "or have t's shape.")
                        .shape(clip_shape)
                        .gradient(clip_grad, "t clip_value_min clip_value_max")
                        .define();

void require_fractions(const Tensor& t, std::string_view tag) {
  RILL_CHECK(t.dtype().is_floating(), invalid_argument,
             "[{}] t is {}; expected a floating-point dtype. Write tf::cast(t, tf::float32)", tag,
             t.dtype());
}
void require_same_shape(const TensorShape& t, const TensorShape& clipped, std::string_view tag) {
  RILL_CHECK(t.is_compatible_with(clipped), invalid_argument,
             "[{}] t has shape {}, with its limits broadcast {}; limits must not be larger than t",
             tag, t, clipped);
}
const Tensor& values_of(const Gradient& g) {
  return g.is_sparse() ? g.slices().values : g.tensor();
}
Gradient with_values(const Gradient& g, Tensor values) {
  if (!g.is_sparse()) return values;
  return IndexedSlices{std::move(values), g.slices().indices, g.slices().dense_shape};
}

}  // namespace

Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                     const Operand& clip_value_max) {
  const Arg x(t);
  const Arg low(clip_value_min, x->dtype()), high(clip_value_max, x->dtype());
  auto plain = [&](const Tensor& limit) {
    return limit.shape().rank() == 0 ||
           (limit.shape() == x->shape() && limit.shape().is_fully_defined());
  };
  if (plain(*low) && plain(*high)) return execute(clip_op, {x, low, high});
  const Tensor clipped = maximum(minimum(*x, *high), *low);
  require_same_shape(x->shape(), clipped.shape(), "clip_by_value");
  return clipped;
}

Tensor clip_by_norm(const Operand& t, const Operand& clip_norm, const std::vector<int>& axes) {
  const Arg x(t);
  require_fractions(*x, "clip_by_norm");
  const Arg limit(clip_norm, x->dtype());
  const Tensor sum = reduce_sum(square(*x), axes.empty() ? all_axes(*x) : axes, {.keepdims = true});
  // The root has no derivative at 0: there the norm is the constant 0.
  const Tensor some = greater(sum, 0);
  const Tensor size = where(some, sqrt(where(some, sum, ones_like(sum))), sum);
  const Tensor clipped = *x * *limit / maximum(size, *limit);
  require_same_shape(x->shape(), clipped.shape(), "clip_by_norm");
  return clipped;
}

namespace detail {
Gradient clip_gradient_by_value(const Gradient& t, const Operand& clip_value_min,
                                const Operand& clip_value_max) {
  return with_values(t, clip_by_value(values_of(t), clip_value_min, clip_value_max));
}
Gradient clip_gradient_by_norm(const Gradient& t, const Operand& clip_norm,
                               const std::vector<int>& axes) {
  return with_values(t, clip_by_norm(values_of(t), clip_norm, axes));
}
}  // namespace detail

Tensor global_norm(const Gradients& t_list) {
  std::vector<Tensor> halves;
  for (const Gradient& g : t_list) {
    if (!g) continue;
    require_fractions(values_of(g), "global_norm");
    halves.push_back(nn::l2_loss(values_of(g)));
  }
  if (halves.empty()) return constant(0.f);
  return sqrt(reduce_sum(stack(halves)) * 2);
}

std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients& t_list, const Operand& clip_norm,
                                                 const Operand& use_norm) {
  DType dtype = float32;
  for (const Gradient& g : t_list)
    if (g) dtype = values_of(g).dtype();
  const Tensor norm = to_tensor(use_norm, dtype), limit = to_tensor(clip_norm, norm.dtype());
  // norm - norm is 0, and NaN for a norm that is not finite.
  const Tensor scale = limit * minimum(1 / norm, 1 / limit) + (norm - norm);
  Gradients out;
  for (const Gradient& g : t_list)
    out.push_back(g ? with_values(g, values_of(g) * cast(scale, values_of(g).dtype()))
                    : Gradient());
  return {std::move(out), norm};
}
std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients& t_list,
                                                 const Operand& clip_norm) {
  return clip_by_global_norm(t_list, clip_norm, global_norm(t_list));
}

}  // namespace rill
