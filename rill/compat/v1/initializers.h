#pragma once
#include "rill/keras/initializers/initializers.h"

// The initializers of TensorFlow 1, whose defaults differ from Keras's.
namespace rill RILL_API {
namespace compat::v1 {

using rill::constant_initializer, rill::glorot_normal_initializer, rill::glorot_uniform_initializer;
using rill::ones_initializer, rill::zeros_initializer;
inline keras::Initializer random_uniform_initializer(double minval = 0, double maxval = 1,
                                                     std::int64_t seed = -1) {
  return keras::initializers::random_uniform(minval, maxval, seed);
}
inline keras::Initializer random_normal_initializer(double mean = 0, double stddev = 1,
                                                    std::int64_t seed = -1) {
  return keras::initializers::random_normal(mean, stddev, seed);
}
inline keras::Initializer truncated_normal_initializer(double mean = 0, double stddev = 1,
                                                       std::int64_t seed = -1) {
  return keras::initializers::truncated_normal(mean, stddev, seed);
}
inline keras::Initializer variance_scaling_initializer(
    keras::initializers::VarianceScalingOptions options = {}) {
  return keras::initializers::variance_scaling(std::move(options));
}
inline keras::Initializer orthogonal_initializer(double gain = 1, std::int64_t seed = -1) {
  return keras::initializers::orthogonal({gain, seed});
}

}  // namespace compat::v1
}  // namespace RILL_API
