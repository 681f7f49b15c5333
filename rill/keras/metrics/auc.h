#pragma once
#include <memory>

#include "rill/keras/metrics/metric.h"

namespace rill RILL_API {
namespace keras {

class ConfusionRule;

namespace metrics {

struct AUCOptions {
  int num_thresholds = 200;
  std::string curve = "ROC";                       // or "PR": precision over recall
  std::string summation_method = "interpolation";  // "minoring": from below; "majoring": from above
  std::string name = {};
  DType dtype = float32;
  std::vector<double> thresholds = {};  // beside 0 and 1; empty: evenly spaced
  bool multi_label = false;             // [samples, labels]: the mean of the labels' areas
  int num_labels = 0;                   // 0: seen at the first update
  std::vector<double> label_weights = {};
  bool from_logits = false;
};
// The area under the curve that a threshold draws, by a sum over many of them.
class AUC : public Metric {
 public:
  explicit AUC(AUCOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  Config get_config() const override;

 private:
  Tensor count(const char* name) const;
  AUCOptions o_;
  std::shared_ptr<const ConfusionRule> rule_;
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
