#include "rill/base/check.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

// Metrics that count how often a prediction is right.
namespace rill::keras::metrics {

namespace {

Tensor as_float(const Tensor& x) { return cast(x, backend::floatx()); }

// Class numbers [batch, 1] as [batch], where the predictions have one axis more than needed.
Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  if (y_true.shape().has_rank() && y_pred.shape().has_rank() && y_true.ndim() == y_pred.ndim() &&
      y_true.shape().dim(-1) == 1)
    return squeeze(y_true, -1);
  return y_true;
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
  const Tensor p = to_tensor(y_pred), t = to_tensor(y_true, p.dtype());
  const Tensor yes = cast(p > threshold, p.dtype());
  return reduce_mean(as_float(equal(t.dtype() == p.dtype() ? t : cast(t, p.dtype()), yes)), -1);
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
  const Tensor p = to_tensor(y_pred), t = class_numbers(to_tensor(y_true), p);
  const std::int64_t classes = p.shape().dim(-1);
  const Tensor hit = math::in_top_k(reshape(cast(t, int32), {-1}), reshape(p, {-1, classes}), k);
  return reshape(as_float(hit), shape(t));
}

// ---- objects
Mean::Mean(MetricOptions o)
    : Metric(o.name.empty() ? MetricOptions{"mean", o.dtype} : o),
      total_(add_weight("total")),
      count_(add_weight("count")) {}
void Mean::update_state(const Operand& values) {
  update_state(to_tensor(values), Tensor(), Tensor());
}
void Mean::update_state(const Operand& values, const Operand& sample_weight) {
  const bool none =
      sample_weight.kind() == Operand::Kind::tensor && !sample_weight.tensor().defined();
  update_state(to_tensor(values), none ? Tensor() : to_tensor(sample_weight, dtype()), Tensor());
}
void Mean::update_state(const Tensor& values, const Tensor& sample_weight, const Tensor&) {
  Tensor v = values.dtype() == dtype() ? values : cast(values, dtype());
  if (!sample_weight.defined()) {
    total_.assign_add(reduce_sum(v));
    count_.assign_add(cast(size(v), dtype()));
    return;
  }
  Tensor w = cast(sample_weight, dtype());
  if (w.ndim() == v.ndim() + 1 && w.shape().dim(-1) == 1) w = squeeze(w, -1);
  // Values of a sample are averaged where weights are given for whole samples.
  if (w.ndim() > 0 && w.ndim() < v.ndim()) {
    std::vector<int> rest;
    for (int i = w.ndim(); i < v.ndim(); ++i) rest.push_back(i);
    v = reduce_mean(v, rest);
  }
  w = broadcast_to(w, shape(v));
  total_.assign_add(reduce_sum(v * w));
  count_.assign_add(reduce_sum(w));
}
Tensor Mean::result() { return math::divide_no_nan(total_.value(), count_.value()); }
Tensor Mean::operator()(const Operand& values) {
  update_state(values);
  return result();
}
Tensor Mean::operator()(const Operand& values, const Operand& sample_weight) {
  update_state(values, sample_weight);
  return result();
}

MeanMetricWrapper::MeanMetricWrapper(std::function<Tensor(const Tensor&, const Tensor&)> fn,
                                     MetricOptions o)
    : Metric(std::move(o)),
      fn_(std::move(fn)),
      total_(add_weight("total")),
      count_(add_weight("count")) {}
std::string MeanMetricWrapper::class_name() const { return class_name_; }
void MeanMetricWrapper::update_state(const Tensor& y_true, const Tensor& y_pred,
                                     const Tensor& sample_weight) {
  Tensor v = fn_(y_true, y_pred);
  if (v.dtype() != dtype()) v = cast(v, dtype());
  if (!sample_weight.defined()) {
    total_.assign_add(reduce_sum(v));
    count_.assign_add(cast(size(v), dtype()));
    return;
  }
  Tensor w = cast(sample_weight, dtype());
  if (w.ndim() == v.ndim() + 1 && w.shape().dim(-1) == 1) w = squeeze(w, -1);
  if (w.ndim() > 0)
    while (w.ndim() < v.ndim()) w = expand_dims(w, -1);
  w = broadcast_to(w, shape(v));
  total_.assign_add(reduce_sum(v * w));
  count_.assign_add(reduce_sum(w));
}
Tensor MeanMetricWrapper::result() { return math::divide_no_nan(total_.value(), count_.value()); }

Accuracy::Accuracy(MetricOptions o)
    : MeanMetricWrapper([](const Tensor& t, const Tensor& p) { return accuracy(t, p); },
                        o.name.empty() ? MetricOptions{"accuracy", o.dtype} : o) {
  class_name_ = "Accuracy";
}
BinaryAccuracy::BinaryAccuracy(ThresholdOptions o)
    : MeanMetricWrapper(
          [k = o.threshold](const Tensor& t, const Tensor& p) { return binary_accuracy(t, p, k); },
          {o.name.empty() ? "binary_accuracy" : o.name, o.dtype}) {
  class_name_ = "BinaryAccuracy";
}
CategoricalAccuracy::CategoricalAccuracy(MetricOptions o)
    : MeanMetricWrapper([](const Tensor& t, const Tensor& p) { return categorical_accuracy(t, p); },
                        o.name.empty() ? MetricOptions{"categorical_accuracy", o.dtype} : o) {
  class_name_ = "CategoricalAccuracy";
}
SparseCategoricalAccuracy::SparseCategoricalAccuracy(MetricOptions o)
    : MeanMetricWrapper(
          [](const Tensor& t, const Tensor& p) { return sparse_categorical_accuracy(t, p); },
          o.name.empty() ? MetricOptions{"sparse_categorical_accuracy", o.dtype} : o) {
  class_name_ = "SparseCategoricalAccuracy";
}

}  // namespace rill::keras::metrics
