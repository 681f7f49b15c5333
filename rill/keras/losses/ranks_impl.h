#pragma once
#include "rill/core/tensor.h"

// How labels, predictions and weights get one rank. Ranks that a trace does not know are compared
// when it runs, so that it gives what eager execution gives.
namespace rill::keras {

inline bool known_ranks(const Tensor& a, const Tensor& b) {
  return a.shape().has_rank() && b.shape().has_rank();
}

// Labels and predictions of ranks that differ by a last axis of size 1 get one rank.
struct Matched {
  Tensor y_true, y_pred;
};
Matched matched_ranks(const Tensor& y_true, const Tensor& y_pred);
// The same, where a last axis of a size that is not known will be of size 1.
Matched squeezed_ranks(const Tensor& y_true, const Tensor& y_pred);

// Class numbers beside predictions of a number for each class, which has one axis more: those of
// shape [.., 1] lose their last axis.
Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred);

// Weights with axes of size 1 at their end, as many as the values have more; one last axis too many
// goes, which must be of size 1. A number stays one, and so do weights of more axes than that.
Tensor in_rank_of(const Tensor& weights, const Tensor& values);

}  // namespace rill::keras
