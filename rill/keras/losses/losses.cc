#include "rill/keras/losses/losses.h"

#include <atomic>
#include <cmath>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/core/shape_inference.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/losses/ranks_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras::losses {
namespace {

constexpr double kEpsilon = 1e-7;  // Keras's fuzz factor

// Both as tensors, the labels in the predictions' dtype. They broadcast, as in Keras: the classes
// of losses see to it that [batch] does not stand beside [batch, 1].
Matched prepare(const Operand& y_true, const Operand& y_pred, const char* tag) {
  Tensor pred = convert_to_tensor(y_pred);
  if (!pred.dtype().is_floating()) pred = cast(pred, float32);
  Tensor label = cast(y_true, pred.dtype());
  if (known_ranks(label, pred)) broadcast_shapes(label.shape(), pred.shape(), tag);
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

// The logits behind probabilities: an activation of Keras notes them, and a graph knows the op that
// made its values. Undefined: there are none.
Tensor logits_behind(const Tensor& probabilities, std::string_view op) {
  if (const Ref<TensorImpl>& noted = probabilities.impl()->logits) return Tensor(noted);
  if (!probabilities.is_symbolic()) return {};
  const auto* symbol = dynamic_cast<const GraphSymbol*>(probabilities.impl()->symbol.get());
  if (!symbol || !symbol->at.node->is(op)) return {};
  return symbol->graph->recorded_tensor(symbol->at.node->inputs[0]);
}
// Takes the logits where there are any, as Keras does: they lose no digits. Probabilities that are
// said to be logits are one mistake that this repairs, with a warning.
void prefer_logits(Tensor& pred, bool& from_logits, std::string_view op, const char* loss) {
  const Tensor logits = logits_behind(pred, op);
  if (!logits.defined()) return;
  static std::atomic<bool> said = false;
  if (from_logits && !said.exchange(true))
    RILL_LOG(warning,
             "[{}] got from_logits = true, but the predictions are the result of a {} activation, "
             "not logits; the logits before it are used. Leave out one of the two",
             loss, op == "Softmax" ? "softmax" : "sigmoid");
  pred = logits;
  from_logits = true;
}

// The classes last, where a crossentropy of class numbers expects them.
Tensor with_last(const Tensor& x, int axis) {
  if (axis == x.ndim() - 1) return x;
  std::vector<int> perm;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  return transpose(x, perm);
}

Tensor smoothed(const Tensor& distribution, const Tensor& pred, int axis, double smoothing) {
  if (smoothing == 0) return distribution;
  return distribution * (1 - smoothing) + smoothing / size_along(pred, axis);
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
  label = smoothed(label, pred, axis, o.label_smoothing);
  prefer_logits(pred, o.from_logits, "Softmax", "categorical_crossentropy");
  if (o.from_logits && (pred.shape().has_rank() || axis == -1))
    return nn::softmax_cross_entropy_with_logits_v2(
        {.labels = label, .logits = pred, .axis = axis});
  if (o.from_logits) {  // an axis that cannot be moved to the end
    const Tensor z = pred - reduce_max(pred, axis, {.keepdims = true});
    return -reduce_sum(label * (z - log(reduce_sum(exp(z), axis, {.keepdims = true}))), axis);
  }
  const Tensor p = clipped(pred / reduce_sum(pred, axis, {.keepdims = true}));
  return -reduce_sum(label * log(p), axis);
}

Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return sparse_categorical_crossentropy(y_true, y_pred, {});
}
Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                       SparseCrossentropyOptions o) {
  Tensor pred = convert_to_tensor(y_pred);
  if (!pred.dtype().is_floating()) pred = cast(pred, float32);
  prefer_logits(pred, o.from_logits, "Softmax", "sparse_categorical_crossentropy");
  Tensor label = cast(y_true, int64);
  const bool ranked = pred.shape().has_rank();
  const int axis =
      ranked ? normalize_axis(o.axis, pred.ndim(), "sparse_categorical_crossentropy") : o.axis;
  RILL_CHECK(ranked || axis == -1, unimplemented,
             "[sparse_categorical_crossentropy] axis {} of predictions of unknown rank; expected "
             "the last, -1",
             axis);
  if (ranked) pred = with_last(pred, axis);
  label = class_numbers(label, pred);
  // Softmax of the logarithms gives the probabilities back, scaled to sum 1.
  const Tensor logits = o.from_logits ? pred : log(clipped(pred));
  if (!o.ignore_class)
    return nn::sparse_softmax_cross_entropy_with_logits({.labels = label, .logits = logits});
  // What is ignored may be no class at all: it stands as class 0, with loss and gradient 0.
  const Tensor counts = label != *o.ignore_class;
  const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = where(counts, label, zeros_like(label)), .logits = logits});
  return where(counts, loss, zeros_like(loss));
}

Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return categorical_focal_crossentropy(y_true, y_pred, {});
}
Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                      CategoricalFocalOptions o) {
  auto [label, pred] = prepare(y_true, y_pred, "categorical_focal_crossentropy");
  RILL_CHECK(label.shape().is_compatible_with(pred.shape()), invalid_argument,
             "[categorical_focal_crossentropy] labels have shape {}, predictions {}; expected one "
             "shape",
             label.shape(), pred.shape());
  label = smoothed(label, pred, -1, o.label_smoothing);
  if (o.from_logits) pred = nn::softmax(pred, o.axis);
  const Tensor p = clipped(pred / reduce_sum(pred, o.axis, {.keepdims = true}));
  return reduce_sum(o.alpha * pow(1 - p, o.gamma) * (-label * log(p)), o.axis);
}

Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return binary_crossentropy(y_true, y_pred, {});
}
namespace {

// Of each element.
Tensor yes_or_no(const Tensor& label, Tensor pred, bool from_logits) {
  prefer_logits(pred, from_logits, "Sigmoid", "binary_crossentropy");
  if (from_logits) return nn::sigmoid_cross_entropy_with_logits({.labels = label, .logits = pred});
  const Tensor p = clipped(pred);
  return -(label * log(p + kEpsilon) + (1 - label) * log(1 - p + kEpsilon));
}
Tensor smoothed_yes(const Tensor& label, double smoothing) {
  return smoothing == 0 ? label : label * (1 - smoothing) + 0.5 * smoothing;
}

}  // namespace

Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred, CrossentropyOptions o) {
  const auto [label, pred] = prepare(y_true, y_pred, "binary_crossentropy");
  return reduce_mean(yes_or_no(smoothed_yes(label, o.label_smoothing), pred, o.from_logits),
                     o.axis);
}
Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred) {
  return binary_focal_crossentropy(y_true, y_pred, {});
}
Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                 BinaryFocalOptions o) {
  const auto [raw, pred] = prepare(y_true, y_pred, "binary_focal_crossentropy");
  const Tensor label = smoothed_yes(raw, o.label_smoothing);
  const Tensor p = o.from_logits ? nn::sigmoid(pred) : pred;
  const Tensor p_of_truth = label * p + (1 - label) * (1 - p);
  Tensor loss = pow(1 - p_of_truth, o.gamma) * yes_or_no(label, pred, o.from_logits);
  if (o.apply_class_balancing) loss = (label * o.alpha + (1 - label) * (1 - o.alpha)) * loss;
  return reduce_mean(loss, o.axis);
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
  // Keras computes this one in floatx, whatever the predictions are.
  const Tensor error = cast(pred, backend::floatx()) - cast(label, backend::floatx()),
               size = abs(error);
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

// Defined here, since compile tells functions by their address, of which the library has one.
Tensor mse(const Operand& y_true, const Operand& y_pred) {
  return mean_squared_error(y_true, y_pred);
}
Tensor mae(const Operand& y_true, const Operand& y_pred) {
  return mean_absolute_error(y_true, y_pred);
}
Tensor mape(const Operand& y_true, const Operand& y_pred) {
  return mean_absolute_percentage_error(y_true, y_pred);
}
Tensor msle(const Operand& y_true, const Operand& y_pred) {
  return mean_squared_logarithmic_error(y_true, y_pred);
}
Tensor kld(const Operand& y_true, const Operand& y_pred) { return kl_divergence(y_true, y_pred); }

}  // namespace rill::keras::losses
