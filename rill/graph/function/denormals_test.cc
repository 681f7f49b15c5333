// Numbers without all their digits are 0 for kernels, as in TensorFlow 2.15, and for them alone.
#include <gtest/gtest.h>

#include "rill/rill.h"

namespace tf = rill;
using tf::Tensor;

namespace {

const float kTiny = 1e-39f;

bool user_code_flushes() {
  volatile float x = kTiny;
  return x * 1.0f == 0.0f;
}
void expect_zeros(const Tensor& t) {
  for (const float x : t.to_vector<float>()) ASSERT_EQ(x, 0.0f);
}

TEST(Denormals, AreZeroForEagerOps) {
  const Tensor x = tf::fill({4}, kTiny);
  EXPECT_EQ(x.to_vector<float>()[0], kTiny);  // what is only moved stays as it is
  EXPECT_EQ(tf::concat({x, x}, 0).to_vector<float>()[7], kTiny);
  expect_zeros(x * 1.0f);
  expect_zeros(x + x);
  expect_zeros(tf::constant({1e-20f}) * 1e-19f);
  expect_zeros(tf::reduce_sum(x));
  expect_zeros(tf::matmul(tf::reshape(x, {1, 4}), tf::ones({4, 1})));
  expect_zeros(tf::exp(tf::constant({-90.f, -100.f})));
  EXPECT_FALSE(tf::greater(x, 0.f).to_vector<bool>()[0]);
  EXPECT_EQ((tf::constant({1e-310}, tf::float64) * 1.0).to_vector<double>()[0], 0.0);
  EXPECT_FALSE(user_code_flushes());
}

TEST(Denormals, AreZeroForFunctionsAndForEveryThread) {
  const Tensor x = tf::fill({512, 512}, kTiny);
  expect_zeros(x * 2.0f);
  expect_zeros(tf::matmul(x, tf::ones({512, 512})));
  auto f = tf::function([](const Tensor& a) {
    return tf::matmul(a + a, tf::ones({512, 512})) * 3.f;
  });
  expect_zeros(f(x));
  EXPECT_FALSE(user_code_flushes());
}

}  // namespace
