#pragma once
#include "rill/keras/metrics/auc.h"
#include "rill/keras/metrics/confusion.h"
#include "rill/keras/metrics/errors.h"
#include "rill/keras/metrics/iou.h"
#include "rill/keras/metrics/mean.h"
#include "rill/keras/metrics/scores.h"

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
// 1 for the same direction, -1 for the opposite: the loss of that name with the other sign.
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred);
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis);
using losses::binary_crossentropy;
using losses::binary_focal_crossentropy;
using losses::categorical_crossentropy;
using losses::categorical_focal_crossentropy;
using losses::categorical_hinge;
using losses::hinge;
using losses::kl_divergence;
using losses::kld;
using losses::log_cosh;
using losses::mae;
using losses::mape;
using losses::mean_absolute_error;
using losses::mean_absolute_percentage_error;
using losses::mean_squared_error;
using losses::mean_squared_logarithmic_error;
using losses::mse;
using losses::msle;
using losses::poisson;
using losses::sparse_categorical_crossentropy;
using losses::squared_hinge;

// ---- how often a prediction is right
class Accuracy : public FunctionMetric<accuracy> {
 public:
  using FunctionMetric::FunctionMetric;
};
struct ThresholdOptions {
  std::string name = {};
  DType dtype = float32;
  double threshold = 0.5;
};
class BinaryAccuracy : public MeanMetricWrapper {
 public:
  explicit BinaryAccuracy(ThresholdOptions options = {});
  Config get_config() const override;

 private:
  double threshold_;
};
class CategoricalAccuracy : public FunctionMetric<categorical_accuracy> {
 public:
  using FunctionMetric::FunctionMetric;
};
class SparseCategoricalAccuracy : public FunctionMetric<sparse_categorical_accuracy> {
 public:
  using FunctionMetric::FunctionMetric;
};
struct TopKOptions {
  int k = 5;
  std::string name = {};
  DType dtype = float32;
};
class TopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit TopKCategoricalAccuracy(TopKOptions options = {});
  explicit TopKCategoricalAccuracy(int k, TopKOptions options = {})
      : TopKCategoricalAccuracy((options.k = k, std::move(options))) {}
  Config get_config() const override;

 private:
  int k_;
};
class SparseTopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseTopKCategoricalAccuracy(TopKOptions options = {});
  explicit SparseTopKCategoricalAccuracy(int k, TopKOptions options = {})
      : SparseTopKCategoricalAccuracy((options.k = k, std::move(options))) {}
  Config get_config() const override;

 private:
  int k_;
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
