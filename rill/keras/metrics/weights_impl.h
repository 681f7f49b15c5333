#pragma once
#include "rill/core/tensor.h"

namespace rill::keras {

// Weights beside values, as Keras fits them: a last axis of size 1 too much goes, one that lacks
// is added. Ranks that differ by more stay.
Tensor fitted_weights(const Tensor& weights, const Tensor& values);

// Labels and predictions of ranks that differ by a last axis of size 1 get one rank.
struct Matched {
  Tensor y_true, y_pred;
};
Matched matched_ranks(const Tensor& y_true, const Tensor& y_pred);

inline bool known_ranks(const Tensor& a, const Tensor& b) {
  return a.shape().has_rank() && b.shape().has_rank();
}

}  // namespace rill::keras
