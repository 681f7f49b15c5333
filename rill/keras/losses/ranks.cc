#include "rill/keras/losses/ranks_impl.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

Tensor first(const Tensor& list, const Tensor& count) {
  return slice(list, constant({0}), reshape(count, {1}));
}

// Without its last axis, if x has one axis more than other and that is of size 1.
Tensor without_last(const Tensor& x, const Tensor& other) {
  const Tensor sizes = shape(x), axes = rank(x);
  // The product of none is 1: a scalar stays, since no rank is below its own.
  const Tensor last = reduce_prod(slice(sizes, reshape(maximum(axes - 1, 0), {1}), constant({-1})));
  const Tensor drop = cast((axes == rank(other) + 1) & (last == 1), int32);
  return reshape(x, first(sizes, axes - drop));
}

}  // namespace

Matched matched_ranks(const Tensor& y_true, const Tensor& y_pred) {
  if (!known_ranks(y_true, y_pred))
    return {without_last(y_true, y_pred), without_last(y_pred, y_true)};
  if (y_true.ndim() == y_pred.ndim() + 1 && y_true.shape().dim(-1) == 1)
    return {squeeze(y_true, -1), y_pred};
  if (y_pred.ndim() == y_true.ndim() + 1 && y_pred.shape().dim(-1) == 1)
    return {y_true, squeeze(y_pred, -1)};
  return {y_true, y_pred};
}

Matched squeezed_ranks(const Tensor& t, const Tensor& p) {
  if (known_ranks(t, p)) {
    if (t.ndim() == p.ndim() + 1 && t.shape().dim(-1) < 0) return {squeeze(t, -1), p};
    if (p.ndim() == t.ndim() + 1 && p.shape().dim(-1) < 0) return {t, squeeze(p, -1)};
  }
  return matched_ranks(t, p);
}

Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  if (!known_ranks(y_true, y_pred)) return reshape(y_true, first(shape(y_pred), rank(y_pred) - 1));
  // A size that is not known will be 1.
  const bool column = y_true.ndim() == y_pred.ndim() && y_true.ndim() > 0 &&
                      y_true.shape().dim(-1) <= 1 && y_true.shape().dim(-1) != 0;
  return column ? squeeze(y_true, -1) : y_true;
}

Tensor in_rank_of(const Tensor& weights, const Tensor& values) {
  if (weights.shape().has_rank() && weights.ndim() == 0) return weights;
  if (!known_ranks(weights, values)) {
    const Tensor axes = rank(values), own = rank(weights);
    const Tensor kept = where(own > axes + 1, own, minimum(own, axes));
    const Tensor more = ones(reshape(maximum(axes - kept, 0), {1}), int32);
    return reshape(weights, concat({first(shape(weights), kept), more}, 0));
  }
  Tensor w = weights;
  if (w.ndim() == values.ndim() + 1) w = squeeze(w, -1);
  while (w.ndim() < values.ndim()) w = expand_dims(w, -1);
  return w;
}

}  // namespace rill::keras
