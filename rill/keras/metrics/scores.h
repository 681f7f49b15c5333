#pragma once
#include <optional>

#include "rill/keras/metrics/metric.h"

// Scores of columns of labels [samples, classes].
namespace rill RILL_API {
namespace keras {
namespace metrics {

struct FBetaScoreOptions {
  std::string average = {};  // "": a score a class; "micro", "macro", "weighted": one number
  double beta = 1;
  std::optional<double> threshold = {};  // none: the largest prediction of a sample is its class
  std::string name = {};
  DType dtype = float32;
};
// (1 + beta^2) * precision * recall / (beta^2 * precision + recall)
class FBetaScore : public Metric {
 public:
  explicit FBetaScore(FBetaScoreOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;  // FailedPrecondition before the first update
  Config get_config() const override;

 private:
  FBetaScoreOptions o_;
};

struct F1ScoreOptions {
  std::string average = {};
  std::optional<double> threshold = {};
  std::string name = "f1_score";
  DType dtype = float32;
};
class F1Score : public FBetaScore {
 public:
  explicit F1Score(F1ScoreOptions o = {})
      : FBetaScore({std::move(o.average), 1, o.threshold, std::move(o.name), o.dtype}) {}
  Config get_config() const override;
};

struct R2ScoreOptions {
  // "": a score a column; "uniform_average", "variance_weighted_average": one number
  std::string class_aggregation = "uniform_average";
  int num_regressors = 0;  // above 0: adjusted for that many independent variables
  std::string name = "r2_score";
  DType dtype = float32;
};
// How much of the variance of the labels the predictions explain: 1 is all.
class R2Score : public Metric {
 public:
  explicit R2Score(R2ScoreOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;  // FailedPrecondition before the first update
  Config get_config() const override;

 private:
  R2ScoreOptions o_;
  Variable num_samples_;
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
