// How often each prediction came for each label.
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill::math {

Tensor confusion_matrix(const Operand& labels, const Operand& predictions, int num_classes) {
  return confusion_matrix(labels, predictions, {.num_classes = num_classes});
}
Tensor confusion_matrix(const Operand& labels, const Operand& predictions,
                        const ConfusionOptions& o) {
  Tensor l = to_tensor(labels), p = to_tensor(predictions);
  // A last axis of size 1 that only one of them has counts as none.
  if (l.shape().has_rank() && p.shape().has_rank()) {
    if (p.ndim() == l.ndim() + 1 && p.shape().dim(-1) == 1) p = squeeze(p, -1);
    if (l.ndim() == p.ndim() + 1 && l.shape().dim(-1) == 1) l = squeeze(l, -1);
  }
  RILL_CHECK(l.shape().is_compatible_with(p.shape()), invalid_argument,
             "[confusion_matrix] labels have shape {}, predictions {}; expected equal shapes",
             l.shape(), p.shape());
  l = cast(l, int64), p = cast(p, int64);
  debugging::assert_non_negative(l, {.message = "confusion_matrix: labels"});
  debugging::assert_non_negative(p, {.message = "confusion_matrix: predictions"});
  Tensor n;
  if (o.num_classes >= 0) {
    n = constant(std::int64_t{o.num_classes}, int64);
    debugging::assert_less(l, n, {.message = "confusion_matrix: labels and num_classes"});
    debugging::assert_less(p, n, {.message = "confusion_matrix: predictions and num_classes"});
  } else {
    n = maximum(reduce_max(l), reduce_max(p)) + 1;
  }
  Tensor weights = o.weights.defined() ? cast(o.weights, o.dtype) : ones_like(p, o.dtype);
  RILL_CHECK(weights.shape().is_compatible_with(p.shape()), invalid_argument,
             "[confusion_matrix] weights have shape {}, predictions {}; expected equal shapes",
             weights.shape(), p.shape());
  return scatter_nd(stack({l, p}, -1), weights, stack({n, n}));
}

}  // namespace rill::math
