#pragma once
#include "rill/keras/losses/ranks_impl.h"

namespace rill::keras {

// Weights beside values, as Keras fits them: a last axis of size 1 too much goes, one that lacks
// is added. Ranks that differ by more stay, where they are known.
Tensor fitted_weights(const Tensor& weights, const Tensor& values);

}  // namespace rill::keras
