#include "rill/base/check.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/losses/ranks_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

// Metrics that count how often a prediction is right.
namespace rill::keras::metrics {

namespace {

Tensor as_float(const Tensor& x) { return cast(x, backend::floatx()); }

// 1 where the predictions are on the labels' side of the threshold.
Tensor binary_matches(const Operand& y_true, const Operand& y_pred, double threshold) {
  const Tensor p = to_tensor(y_pred), t = to_tensor(y_true, p.dtype());
  const Tensor yes = cast(p > threshold, p.dtype());
  return as_float(equal(t.dtype() == p.dtype() ? t : cast(t, p.dtype()), yes));
}

}  // namespace

Tensor accuracy(const Operand& y_true, const Operand& y_pred) {
  const Tensor p = to_tensor(y_pred), t = to_tensor(y_true, p.dtype());
  return as_float(equal(t.dtype() == p.dtype() ? t : cast(t, p.dtype()), p));
}
Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred) {
  return binary_accuracy(y_true, y_pred, 0.5);
}
Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred, double threshold) {
  return reduce_mean(binary_matches(y_true, y_pred, threshold), -1);
}
Tensor categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  return as_float(equal(argmax(to_tensor(y_true), -1), argmax(to_tensor(y_pred), -1)));
}
Tensor sparse_categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  const Tensor p = to_tensor(y_pred), t = class_numbers(to_tensor(y_true), p);
  const Tensor best = argmax(p, -1);
  return as_float(equal(t.dtype() == int64 ? t : cast(t, int64), best));
}
Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  return top_k_categorical_accuracy(y_true, y_pred, 5);
}
Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int k) {
  return sparse_top_k_categorical_accuracy(argmax(to_tensor(y_true), -1), y_pred, k);
}
Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  return sparse_top_k_categorical_accuracy(y_true, y_pred, 5);
}
Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int k) {
  const Tensor p = to_tensor(y_pred), t = to_tensor(y_true);
  const Tensor rows = stack({constant(-1), shape(p)[-1]});
  const Tensor hit = math::in_top_k(reshape(cast(t, int32), {-1}), reshape(p, rows), k);
  return reshape(as_float(hit), shape(t));
}

// ---- objects
BinaryAccuracy::BinaryAccuracy(ThresholdOptions o)
    : MeanMetricWrapper(
          [k = o.threshold](const Tensor& t, const Tensor& p) { return binary_matches(t, p, k); },
          {o.name, o.dtype}),
      threshold_(o.threshold) {}
Config BinaryAccuracy::get_config() const {
  Config c = Metric::get_config();
  c.set("threshold", threshold_);
  return c;
}
TopKCategoricalAccuracy::TopKCategoricalAccuracy(TopKOptions o)
    : MeanMetricWrapper([k = o.k](const Tensor& t,
                                  const Tensor& p) { return top_k_categorical_accuracy(t, p, k); },
                        {o.name, o.dtype}),
      k_(o.k) {}
Config TopKCategoricalAccuracy::get_config() const {
  Config c = Metric::get_config();
  c.set("k", k_);
  return c;
}
SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(TopKOptions o)
    : MeanMetricWrapper(
          [k = o.k](const Tensor& t, const Tensor& p) {
            return sparse_top_k_categorical_accuracy(t, p, k);
          },
          {o.name, o.dtype}),
      k_(o.k) {}
Config SparseTopKCategoricalAccuracy::get_config() const {
  Config c = Metric::get_config();
  c.set("k", k_);
  return c;
}

}  // namespace rill::keras::metrics
