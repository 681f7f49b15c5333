#pragma once
#include <optional>
#include <vector>

#include "rill/core/tensor.h"

namespace rill::keras {

// By threshold, [thresholds], or [thresholds, labels] where labels are kept apart.
struct ConfusionCounts {
  Tensor true_positives, false_positives, true_negatives, false_negatives;
};

// How a batch is counted.
class ConfusionRule {
 public:
  std::vector<double> thresholds;
  // The thresholds are 0, 1/n, 2/n, .. 1: predictions are sorted into them, in time that does not
  // grow with their number. The outer two may be widened a little.
  bool even = false;
  std::optional<int> top_k, class_id;
  bool multi_label = false;  // [samples, labels]: each label has its own counts
  Tensor label_weights;      // undefined: all 1; not with multi_label

  ConfusionCounts count(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                        DType dtype) const;
};

bool evenly_spaced(const std::vector<double>& thresholds);

}  // namespace rill::keras
