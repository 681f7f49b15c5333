#include "rill/keras/losses/losses.h"

#include <cmath>

#include "rill/base/check.h"
#include "rill/core/shape_inference.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras::losses {
namespace {

constexpr double kEpsilon = 1e-7;  // Keras's fuzz factor

struct Pair {
  Tensor y_true, y_pred;
};
// Both as tensors, the labels in the predictions' dtype; [batch, 1] beside
// [batch] loses its last axis, as in Keras.
Pair prepare(const Operand& y_true, const Operand& y_pred, const char* tag) {
  Tensor pred = convert_to_tensor(y_pred);
  if (!pred.dtype().is_floating()) pred = cast(pred, float32);
  Tensor label = cast(y_true, pred.dtype());
  if (label.shape().has_rank() && pred.shape().has_rank()) {
    const int l = label.ndim(), p = pred.ndim();
    if (l == p + 1 && label.shape().dim(-1) == 1)
      label = squeeze(label, -1);
    else if (p == l + 1 && pred.shape().dim(-1) == 1)
      pred = squeeze(pred, -1);
    broadcast_shapes(label.shape(), pred.shape(), tag);
  }
  return {label, pred};
}
Tensor clipped(const Tensor& probabilities) {
  return clip_by_value(probabilities, kEpsilon, 1 - kEpsilon);
}
// 0 and 1 become -1 and 1.
Tensor signs(const Tensor& labels) {
  const Tensor binary = reduce_all((labels == 0) | (labels == 1));
  return where(binary, 2 * labels - 1, labels);
}
Tensor last_mean(const Tensor& x) { return reduce_mean(x, -1); }

// The number of classes, as a number of pred's dtype.
Tensor size_along(const Tensor& pred, int axis) {
  const TensorShape& s = pred.shape();
  if (s.has_rank() && s.dim(axis) >= 0)
    return constant(static_cast<double>(s.dim(axis)), pred.dtype());
  return cast(shape(pred)[axis], pred.dtype());
}

}  // namespace

Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return categorical_crossentropy(y_true, y_pred, {});
}
Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                CrossentropyOptions o) {
  auto [label, pred] = prepare(y_true, y_pred, "categorical_crossentropy");
  RILL_CHECK(label.shape().is_compatible_with(pred.shape()), invalid_argument,
             "[categorical_crossentropy] labels have shape {}, predictions {}; for class numbers "
             "use sparse_categorical_crossentropy",
             label.shape(), pred.shape());
  const int axis = pred.shape().has_rank()
                       ? normalize_axis(o.axis, pred.ndim(), "categorical_crossentropy")
                       : o.axis;
  if (o.label_smoothing != 0)
    label = label * (1 - o.label_smoothing) + o.label_smoothing / size_along(pred, axis);
  if (o.from_logits)
    return nn::softmax_cross_entropy_with_logits_v2(
        {.labels = label, .logits = pred, .axis = axis});
  const Tensor p = clipped(pred / reduce_sum(pred, axis, {.keepdims = true}));
  return -reduce_sum(label * log(p), axis);
}

Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return sparse_categorical_crossentropy(y_true, y_pred, {});
}
Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                       CrossentropyOptions o) {
  RILL_CHECK(o.label_smoothing == 0, invalid_argument,
             "[sparse_categorical_crossentropy] label_smoothing is {}; smoothed labels are "
             "distributions: use categorical_crossentropy with tf::one_hot",
             o.label_smoothing);
  Tensor pred = convert_to_tensor(y_pred);
  if (!pred.dtype().is_floating()) pred = cast(pred, float32);
  Tensor label = cast(y_true, int64);
  const bool ranked = pred.shape().has_rank();
  const int axis =
      ranked ? normalize_axis(o.axis, pred.ndim(), "sparse_categorical_crossentropy") : o.axis;
  RILL_CHECK(ranked || axis == -1, unimplemented,
             "[sparse_categorical_crossentropy] axis {} of predictions of unknown rank; expected "
             "the last, -1",
             axis);
  if (ranked && axis != pred.ndim() - 1) {  // classes last
    std::vector<int> perm;
    for (int i = 0; i < pred.ndim(); ++i)
      if (i != axis) perm.push_back(i);
    perm.push_back(axis);
    pred = transpose(pred, perm);
  }
  if (ranked && label.ndim() == pred.ndim() && label.shape().dim(-1) == 1)
    label = squeeze(label, -1);
  // Softmax of the logarithms gives the probabilities back, scaled to sum 1.
  return nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = label, .logits = o.from_logits ? pred : log(clipped(pred))});
}

Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return binary_crossentropy(y_true, y_pred, {});
}
Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred, CrossentropyOptions o) {
  auto [label, pred] = prepare(y_true, y_pred, "binary_crossentropy");
  if (o.label_smoothing != 0) label = label * (1 - o.label_smoothing) + 0.5 * o.label_smoothing;
  if (o.from_logits)
    return reduce_mean(nn::sigmoid_cross_entropy_with_logits({.labels = label, .logits = pred}),
                       o.axis);
  const Tensor p = clipped(pred);
  return reduce_mean(-(label * log(p + kEpsilon) + (1 - label) * log(1 - p + kEpsilon)), o.axis);
}

Tensor kl_divergence(const Operand& y_true, const Operand& y_pred) {
  const auto [t, p] = prepare(y_true, y_pred, "kl_divergence");
  const Tensor label = clip_by_value(t, kEpsilon, 1), pred = clip_by_value(p, kEpsilon, 1);
  return reduce_sum(label * log(label / pred), -1);
}
Tensor hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "hinge");
  return last_mean(maximum(1 - signs(label) * pred, 0));
}
Tensor squared_hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "squared_hinge");
  return last_mean(square(maximum(1 - signs(label) * pred, 0)));
}
Tensor categorical_hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "categorical_hinge");
  const Tensor right = reduce_sum(label * pred, -1), wrong = reduce_max((1 - label) * pred, -1);
  return maximum(wrong - right + 1, 0);
}

Tensor mean_squared_error(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "mean_squared_error");
  return last_mean(squared_difference(pred, label));
}
Tensor mean_absolute_error(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "mean_absolute_error");
  return last_mean(abs(pred - label));
}
Tensor mean_absolute_percentage_error(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "mean_absolute_percentage_error");
  return 100 * last_mean(abs((label - pred) / maximum(abs(label), kEpsilon)));
}
Tensor mean_squared_logarithmic_error(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "mean_squared_logarithmic_error");
  return last_mean(
      squared_difference(log(maximum(pred, kEpsilon) + 1), log(maximum(label, kEpsilon) + 1)));
}
Tensor huber(const Operand& y_true, const Operand& y_pred) { return huber(y_true, y_pred, 1.0); }
Tensor huber(const Operand& y_true, const Operand& y_pred, double delta) {
  const auto [label, pred] = prepare(y_true, y_pred, "huber");
  const Tensor error = pred - label, size = abs(error);
  return last_mean(where(size <= delta, 0.5 * square(error), delta * size - 0.5 * delta * delta));
}
// log(cosh(x)) = x + softplus(-2 x) - log(2), which does not overflow.
Tensor log_cosh(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "log_cosh");
  const Tensor x = pred - label;
  return last_mean(x + nn::softplus(-2 * x) - std::log(2.0));
}
Tensor poisson(const Operand& y_true, const Operand& y_pred) {
  const auto [label, pred] = prepare(y_true, y_pred, "poisson");
  return last_mean(pred - label * log(pred + kEpsilon));
}
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred) {
  return cosine_similarity(y_true, y_pred, -1);
}
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis) {
  const auto [label, pred] = prepare(y_true, y_pred, "cosine_similarity");
  return -reduce_sum(nn::l2_normalize(label, axis) * nn::l2_normalize(pred, axis), axis);
}

}  // namespace rill::keras::losses
