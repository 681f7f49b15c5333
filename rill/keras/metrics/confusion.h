#pragma once
#include <memory>
#include <optional>

#include "rill/keras/metrics/metric.h"

// Metrics that count right and wrong answers to questions of yes and no: a prediction above a
// threshold says yes.
namespace rill RILL_API {
namespace keras {

class ConfusionRule;

namespace metrics {

// None (0.5 then), one, or several: with several the result is a list.
class Thresholds {
 public:
  Thresholds() = default;
  Thresholds(double one) : values_{one} {}
  Thresholds(std::initializer_list<double> list) : values_(list), is_list_(true) {}
  Thresholds(std::vector<double> list) : values_(std::move(list)), is_list_(true) {}
  const std::vector<double>& values() const { return values_; }
  Config config() const;
  static Thresholds from(const Config& config);

 private:
  std::vector<double> values_;
  bool is_list_ = false;
};

struct ConfusionOptions {
  Thresholds thresholds = {};
  std::string name = {};
  DType dtype = float32;
};
// The base of those that count one thing.
class ConfusionCount : public Metric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  Config get_config() const override;

 protected:
  enum class What : unsigned char {
    true_positives,
    false_positives,
    true_negatives,
    false_negatives
  };
  ConfusionCount(What what, ConfusionOptions options);

 private:
  What what_;
  Thresholds given_;
  std::shared_ptr<const ConfusionRule> rule_;
  Variable accumulator_;
};
class TruePositives : public ConfusionCount {
 public:
  explicit TruePositives(ConfusionOptions o = {})
      : ConfusionCount(What::true_positives, std::move(o)) {}
};
class FalsePositives : public ConfusionCount {
 public:
  explicit FalsePositives(ConfusionOptions o = {})
      : ConfusionCount(What::false_positives, std::move(o)) {}
};
class TrueNegatives : public ConfusionCount {
 public:
  explicit TrueNegatives(ConfusionOptions o = {})
      : ConfusionCount(What::true_negatives, std::move(o)) {}
};
class FalseNegatives : public ConfusionCount {
 public:
  explicit FalseNegatives(ConfusionOptions o = {})
      : ConfusionCount(What::false_negatives, std::move(o)) {}
};

struct PrecisionOptions {
  Thresholds thresholds = {};
  std::optional<int> top_k = {};     // only the k best predictions of a sample may say yes
  std::optional<int> class_id = {};  // only this class counts
  std::string name = {};
  DType dtype = float32;
};
// true positives / (true positives + the other count)
class ConfusionShare : public Metric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  Config get_config() const override;

 protected:
  ConfusionShare(const char* other, PrecisionOptions options);

 private:
  PrecisionOptions given_;
  std::shared_ptr<const ConfusionRule> rule_;
  bool of_positives_;  // the other are false positives, else false negatives
  Variable right_, other_;
};
// How many of those called positive are.
class Precision : public ConfusionShare {
 public:
  explicit Precision(PrecisionOptions o = {}) : ConfusionShare("false_positives", std::move(o)) {}
};
// How many of the positive are called so.
class Recall : public ConfusionShare {
 public:
  explicit Recall(PrecisionOptions o = {}) : ConfusionShare("false_negatives", std::move(o)) {}
};

// ---- the best of one number where another is at least `value`, over many thresholds
struct TradeOffOptions {
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
  DType dtype = float32;
};
class TradeOff : public Metric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  Config get_config() const override;

 protected:
  enum class Rate : unsigned char { precision, recall, specificity };  // recall is sensitivity
  TradeOff(const char* argument, Rate held, Rate wanted, double value, TradeOffOptions options);

 private:
  Tensor rate(Rate which) const;
  const char* argument_;
  Rate held_, wanted_;
  double value_;
  TradeOffOptions given_;
  std::shared_ptr<const ConfusionRule> rule_;
  Variable true_positives_, true_negatives_, false_positives_, false_negatives_;
};
class SensitivityAtSpecificity : public TradeOff {
 public:
  explicit SensitivityAtSpecificity(double specificity, TradeOffOptions o = {})
      : TradeOff("specificity", Rate::specificity, Rate::recall, specificity, std::move(o)) {}
};
class SpecificityAtSensitivity : public TradeOff {
 public:
  explicit SpecificityAtSensitivity(double sensitivity, TradeOffOptions o = {})
      : TradeOff("sensitivity", Rate::recall, Rate::specificity, sensitivity, std::move(o)) {}
};
class PrecisionAtRecall : public TradeOff {
 public:
  explicit PrecisionAtRecall(double recall, TradeOffOptions o = {})
      : TradeOff("recall", Rate::recall, Rate::precision, recall, std::move(o)) {}
};
class RecallAtPrecision : public TradeOff {
 public:
  explicit RecallAtPrecision(double precision, TradeOffOptions o = {})
      : TradeOff("precision", Rate::precision, Rate::recall, precision, std::move(o)) {}
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
