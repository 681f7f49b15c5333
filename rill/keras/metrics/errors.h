#pragma once
#include <optional>

#include "rill/keras/losses/losses.h"
#include "rill/keras/metrics/mean.h"

// Metrics that are the mean of a loss, or made of one.
namespace rill RILL_API {
namespace keras {
namespace metrics {

// ---- without arguments of their own
class MeanSquaredError : public FunctionMetric<losses::mean_squared_error> {
 public:
  using FunctionMetric::FunctionMetric;
};
class MeanAbsoluteError : public FunctionMetric<losses::mean_absolute_error> {
 public:
  using FunctionMetric::FunctionMetric;
};
class MeanAbsolutePercentageError : public FunctionMetric<losses::mean_absolute_percentage_error> {
 public:
  using FunctionMetric::FunctionMetric;
};
class MeanSquaredLogarithmicError : public FunctionMetric<losses::mean_squared_logarithmic_error> {
 public:
  using FunctionMetric::FunctionMetric;
};
class LogCoshError : public FunctionMetric<losses::log_cosh> {
 public:
  explicit LogCoshError(MetricOptions o = {})
      : FunctionMetric({o.name.empty() ? "logcosh" : o.name, o.dtype}) {}
};
class Poisson : public FunctionMetric<losses::poisson> {
 public:
  using FunctionMetric::FunctionMetric;
};
class KLDivergence : public FunctionMetric<losses::kl_divergence> {
 public:
  explicit KLDivergence(MetricOptions o = {})
      : FunctionMetric({o.name.empty() ? "kullback_leibler_divergence" : o.name, o.dtype}) {}
};
class Hinge : public FunctionMetric<losses::hinge> {
 public:
  using FunctionMetric::FunctionMetric;
};
class SquaredHinge : public FunctionMetric<losses::squared_hinge> {
 public:
  using FunctionMetric::FunctionMetric;
};
class CategoricalHinge : public FunctionMetric<losses::categorical_hinge> {
 public:
  using FunctionMetric::FunctionMetric;
};

// The root of the mean of all squared errors.
class RootMeanSquaredError : public Reduce {
 public:
  explicit RootMeanSquaredError(MetricOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
};

// ---- with arguments
struct MeanRelativeErrorOptions {
  Tensor normalizer = {};  // errors are divided by it; 0 where it is 0
  std::string name = {};
  DType dtype = float32;
};
class MeanRelativeError : public Reduce {
 public:
  explicit MeanRelativeError(MeanRelativeErrorOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Config get_config() const override;

 private:
  Tensor normalizer_;
};

struct CosineMetricOptions {
  std::string name = {};
  DType dtype = float32;
  int axis = -1;
};
// 1 for the same direction, -1 for the opposite.
class CosineSimilarity : public MeanMetricWrapper {
 public:
  explicit CosineSimilarity(CosineMetricOptions options = {});
  Config get_config() const override;

 private:
  int axis_;
};

struct BinaryCrossentropyMetricOptions {
  std::string name = {};
  DType dtype = float32;
  bool from_logits = false;
  double label_smoothing = 0;
};
class BinaryCrossentropy : public MeanMetricWrapper {
 public:
  explicit BinaryCrossentropy(BinaryCrossentropyMetricOptions options = {});
  Config get_config() const override;

 private:
  losses::CrossentropyOptions own_;
};

struct CategoricalCrossentropyMetricOptions {
  std::string name = {};
  DType dtype = float32;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
class CategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit CategoricalCrossentropy(CategoricalCrossentropyMetricOptions options = {});
  Config get_config() const override;

 private:
  losses::CrossentropyOptions own_;
};

struct SparseCategoricalCrossentropyMetricOptions {
  std::string name = {};
  DType dtype = float32;
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};  // samples of this class do not count
  int axis = -1;
};
class SparseCategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalCrossentropy(SparseCategoricalCrossentropyMetricOptions options = {});
  Config get_config() const override;

 protected:
  Tensor counted(const Tensor& y_true, const Tensor& y_pred) const override;

 private:
  losses::SparseCrossentropyOptions own_;
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
