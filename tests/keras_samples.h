#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "rill/ops/array_ops.h"
#include "rill/ops/random_ops.h"

// Small inputs for tests of models, and results beside what is expected.
namespace rill::testing {

inline std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }
inline void expect_near(const Tensor& a, const Tensor& b, double tolerance = 1e-6) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = values(a), y = values(b);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance);
}
inline Tensor sample(const TensorShape& shape, int seed = 1) {
  return random::stateless_uniform(shape, {seed, 2}, -1, 1);
}

}  // namespace rill::testing
