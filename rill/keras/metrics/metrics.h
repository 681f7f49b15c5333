#pragma once
#include "rill/keras/metrics/metric.h"

// Metrics as functions (a value for each sample) and as objects (kept over batches).
namespace rill RILL_API {
namespace keras {
namespace metrics {

// ---- functions
Tensor accuracy(const Operand& y_true, const Operand& y_pred);         // equal or not
Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred);  // threshold 0.5
Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred, double threshold);
Tensor categorical_accuracy(const Operand& y_true, const Operand& y_pred);
Tensor sparse_categorical_accuracy(const Operand& y_true, const Operand& y_pred);
Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred);  // k 5
Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int k);
Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred);
Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int k);
using losses::binary_crossentropy;
using losses::categorical_crossentropy;
using losses::categorical_hinge;
using losses::hinge;
using losses::kl_divergence;
using losses::mean_absolute_error;
using losses::mean_absolute_percentage_error;
using losses::mean_squared_error;
using losses::mean_squared_logarithmic_error;
using losses::poisson;
using losses::sparse_categorical_crossentropy;
using losses::squared_hinge;

// ---- of values
// The mean of all values given; the weighted mean with weights.
class Mean : public Metric {
 public:
  Mean() : Mean(MetricOptions{}) {}
  explicit Mean(MetricOptions options);
  explicit Mean(std::string_view name) : Mean(MetricOptions{.name = std::string(name)}) {}
  void update_state(const Operand& values);
  void update_state(const Operand& values, const Operand& sample_weight);
  // As a metric of fit: the mean of y_true, weighted by y_pred.
  void update_state(const Tensor& values, const Tensor& sample_weight, const Tensor& unused) override;
  Tensor result() override;
  // Updates, and gives the result.
  Tensor operator()(const Operand& values);
  Tensor operator()(const Operand& values, const Operand& sample_weight);
  std::string class_name() const override { return "Mean"; }

 private:
  Variable total_, count_;
};

// ---- of labels and predictions
// The mean of a function of them.
class MeanMetricWrapper : public Metric {
 public:
  MeanMetricWrapper(std::function<Tensor(const Tensor&, const Tensor&)> fn, MetricOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  std::string class_name() const override;

 protected:
  std::string class_name_ = "MeanMetricWrapper";

 private:
  std::function<Tensor(const Tensor&, const Tensor&)> fn_;
  Variable total_, count_;
};

struct ThresholdOptions {
  std::string name = {};
  DType dtype = float32;
  double threshold = 0.5;
};
class Accuracy : public MeanMetricWrapper {
 public:
  explicit Accuracy(MetricOptions options = {});
};
class BinaryAccuracy : public MeanMetricWrapper {
 public:
  explicit BinaryAccuracy(ThresholdOptions options = {});
};
class CategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit CategoricalAccuracy(MetricOptions options = {});
};
class SparseCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalAccuracy(MetricOptions options = {});
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
