#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rill/rill.h"

// What tools/keras_losses_metrics.py wrote down of Keras.
namespace rill::testing {

inline Tensor tensor_of(const keras::Config& c) {
  if (c.is_null()) return {};
  std::vector<double> values;
  for (const keras::Config& v : c["data"].items()) values.push_back(v.as_double());
  return cast(reshape(constant(values), c["shape"].as_shape()),
              DType::from_name(c["dtype"].as_string()));
}

inline void expect_near(const Tensor& got, const keras::Config& want, const std::string& what) {
  const Tensor expected = tensor_of(want);
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  EXPECT_EQ(got.dtype(), expected.dtype()) << what;
  const auto a = cast(got, float64).to_vector<double>();
  const auto b = cast(expected, float64).to_vector<double>();
  double largest = 1;
  for (double v : b)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-5 * largest) << what << ", element " << i;
}

inline std::vector<keras::Config> cases(const std::string& family) {
  const char* source = std::getenv("RILL_SOURCE_DIR");
  const auto path = std::filesystem::path(source ? source : ".") /
                    "tests/keras_losses_metrics/goldens" / (family + ".jsonl");
  std::ifstream in(path);
  EXPECT_TRUE(in) << "no goldens of " << family;
  std::vector<keras::Config> list;
  for (std::string line; std::getline(in, line);) list.push_back(keras::Config::from_json(line));
  EXPECT_FALSE(list.empty());
  return list;
}

}  // namespace rill::testing
