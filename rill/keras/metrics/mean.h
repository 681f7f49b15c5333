#pragma once
#include "rill/keras/metrics/metric.h"

// Metrics that add up what they are given, or its mean.
namespace rill RILL_API {
namespace keras {
namespace metrics {

// The base of sums and means: a total and, for means, the weight of what it is made of.
class Reduce : public Metric {
 public:
  Tensor result() override;

 protected:
  enum class Kind : unsigned char { sum, mean };
  Reduce(Kind kind, MetricOptions options);
  // Weights (undefined: all 1) are one number, or have the shape of the values, or lack their last
  // axis; where they lack more, the values are averaged over those axes first.
  void accumulate(const Tensor& values, const Tensor& sample_weight);

 private:
  Kind kind_;
  Variable total_, count_;
};

// ---- of values
// The mean of all values given; the weighted mean with weights.
class Mean : public Reduce {
 public:
  explicit Mean(MetricOptions options = {});
  explicit Mean(std::string_view name) : Mean(MetricOptions{.name = std::string(name)}) {}
  void update_state(const Operand& values);
  void update_state(const Tensor& values, const Tensor& sample_weight,
                    const Tensor& unused = {}) override;
  // Updates, and gives the result.
  Tensor operator()(const Operand& values);
  Tensor operator()(const Operand& values, const Operand& sample_weight);
};

// The sum of all values given.
class Sum : public Reduce {
 public:
  explicit Sum(MetricOptions options = {});
  explicit Sum(std::string_view name) : Sum(MetricOptions{.name = std::string(name)}) {}
  void update_state(const Operand& values);
  void update_state(const Tensor& values, const Tensor& sample_weight,
                    const Tensor& unused = {}) override;
  Tensor operator()(const Operand& values);
  Tensor operator()(const Operand& values, const Operand& sample_weight);
};

struct MeanTensorOptions {
  std::string name = {};
  DType dtype = float32;
  TensorShape shape = {};  // unknown: that of the first values
};
// The mean of each element of tensors of one shape.
class MeanTensor : public Metric {
 public:
  explicit MeanTensor(MeanTensorOptions options = {});
  void update_state(const Operand& values);
  void update_state(const Tensor& values, const Tensor& sample_weight,
                    const Tensor& unused = {}) override;
  Tensor result() override;  // FailedPrecondition before the first values
  Tensor operator()(const Operand& values);
  Tensor operator()(const Operand& values, const Operand& sample_weight);
  Config get_config() const override;

 private:
  TensorShape shape_;
};

// ---- of labels and predictions
// The mean of a function of them.
class MeanMetricWrapper : public Reduce {
 public:
  MeanMetricWrapper(std::function<Tensor(const Tensor&, const Tensor&)> fn, MetricOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  const std::function<Tensor(const Tensor&, const Tensor&)>& function() const { return fn_; }

 protected:
  // Which values count (bool); undefined: all.
  virtual Tensor counted(const Tensor& y_true, const Tensor& y_pred) const;

 private:
  std::function<Tensor(const Tensor&, const Tensor&)> fn_;
};

// That of a function of the library.
template <BinaryFn f>
class FunctionMetric : public MeanMetricWrapper {
 public:
  explicit FunctionMetric(MetricOptions options = {})
      : MeanMetricWrapper([](const Tensor& t, const Tensor& p) { return f(t, p); },
                          std::move(options)) {}
  template <StringLike S>
  explicit FunctionMetric(const S& name)
      : FunctionMetric(MetricOptions{.name = std::string(std::string_view(name))}) {}
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
