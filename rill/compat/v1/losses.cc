#include "rill/compat/v1/losses.h"

#include "rill/base/check.h"
#include "rill/core/shape_inference.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::compat::v1::losses {
namespace {

// The two must have one shape: broadcasting here hides mistakes.
void same_shape(const Tensor& labels, const Tensor& predictions, const char* tag) {
  RILL_CHECK(labels.shape().is_compatible_with(predictions.shape()), invalid_argument,
             "[{}] labels have shape {}, predictions {}", tag, labels.shape(), predictions.shape());
}

}  // namespace

Tensor compute_weighted_loss(const Operand& losses, const Operand& weights, Reduction reduction) {
  const Tensor loss = convert_to_tensor(losses), weight = cast(weights, loss.dtype());
  if (weight.ndim() > 0 && loss.shape().has_rank()) {
    RILL_CHECK(weight.ndim() == loss.ndim() &&
                   broadcast_shapes(loss.shape(), weight.shape(), "compute_weighted_loss")
                       .is_compatible_with(loss.shape()),
               invalid_argument,
               "[compute_weighted_loss] weights of shape {} do not fit losses of shape {}; "
               "expected a number, or the same rank with sizes equal or 1",
               weight.shape(), loss.shape());
  }
  const Tensor weighted = loss * weight;
  if (reduction == Reduction::NONE) return weighted;
  const Tensor sum = reduce_sum(weighted);
  if (reduction == Reduction::SUM) return sum;
  if (reduction == Reduction::SUM_OVER_BATCH_SIZE)
    return divide_no_nan(sum, cast(size(loss), loss.dtype()));
  return divide_no_nan(
      sum, reduce_sum(cast(not_equal(weight, 0) & (ones_like(loss) > 0), loss.dtype())));
}

Tensor sparse_softmax_cross_entropy(const Operand& labels, const Operand& logits,
                                    const Operand& weights, Reduction reduction) {
  Tensor label = convert_to_tensor(labels);
  const Tensor z = convert_to_tensor(logits);
  if (z.shape().has_rank() && label.ndim() == z.ndim() && label.shape().dim(-1) == 1)
    label = squeeze(label, -1);
  // A column of weights is one a row.
  Tensor weight = convert_to_tensor(weights);
  if (weight.ndim() > 0 && weight.ndim() == label.ndim() + 1) weight = squeeze(weight, -1);
  return compute_weighted_loss(
      nn::sparse_softmax_cross_entropy_with_logits({.labels = label, .logits = z}), weight,
      reduction);
}

Tensor softmax_cross_entropy(const Operand& onehot_labels, const Operand& logits,
                             const Operand& weights, double label_smoothing, Reduction reduction) {
  const Tensor z = convert_to_tensor(logits);
  Tensor label = cast(onehot_labels, z.dtype());
  same_shape(label, z, "softmax_cross_entropy");
  if (label_smoothing > 0)
    label = label * (1 - label_smoothing) + label_smoothing / cast(shape(label)[1], label.dtype());
  return compute_weighted_loss(
      nn::softmax_cross_entropy_with_logits({.labels = label, .logits = z}), weights, reduction);
}

Tensor sigmoid_cross_entropy(const Operand& multi_class_labels, const Operand& logits,
                             const Operand& weights, double label_smoothing, Reduction reduction) {
  const Tensor z = convert_to_tensor(logits);
  Tensor label = cast(multi_class_labels, z.dtype());
  same_shape(label, z, "sigmoid_cross_entropy");
  if (label_smoothing > 0) label = label * (1 - label_smoothing) + 0.5 * label_smoothing;
  return compute_weighted_loss(
      nn::sigmoid_cross_entropy_with_logits({.labels = label, .logits = z}), weights, reduction);
}

Tensor mean_squared_error(const Operand& labels, const Operand& predictions, const Operand& weights,
                          Reduction reduction) {
  const Tensor p = convert_to_tensor(predictions), label = cast(labels, p.dtype());
  same_shape(label, p, "mean_squared_error");
  return compute_weighted_loss(squared_difference(p, label), weights, reduction);
}

Tensor absolute_difference(const Operand& labels, const Operand& predictions,
                           const Operand& weights, Reduction reduction) {
  const Tensor p = convert_to_tensor(predictions), label = cast(labels, p.dtype());
  same_shape(label, p, "absolute_difference");
  return compute_weighted_loss(abs(p - label), weights, reduction);
}

Tensor huber_loss(const Operand& labels, const Operand& predictions, const Operand& weights,
                  double delta, Reduction reduction) {
  const Tensor p = convert_to_tensor(predictions), label = cast(labels, p.dtype());
  same_shape(label, p, "huber_loss");
  const Tensor error = abs(p - label), inner = minimum(error, delta);
  return compute_weighted_loss(0.5 * square(inner) + delta * (error - inner), weights, reduction);
}

Tensor hinge_loss(const Operand& labels, const Operand& logits, const Operand& weights,
                  Reduction reduction) {
  const Tensor z = convert_to_tensor(logits), label = cast(labels, z.dtype());
  same_shape(label, z, "hinge_loss");
  return compute_weighted_loss(nn::relu(1 - (2 * label - 1) * z), weights, reduction);
}

Tensor log_loss(const Operand& labels, const Operand& predictions, const Operand& weights,
                double epsilon, Reduction reduction) {
  const Tensor p = convert_to_tensor(predictions), label = cast(labels, p.dtype());
  same_shape(label, p, "log_loss");
  return compute_weighted_loss(-(label * log(p + epsilon) + (1 - label) * log(1 - p + epsilon)),
                               weights, reduction);
}

}  // namespace rill::compat::v1::losses
