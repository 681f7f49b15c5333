// The guides' linear regressions, from data to printed result.
#include <gtest/gtest.h>

#include <sstream>

#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

TEST(LinearRegression, ByHandFollowsTheTheory) {
  RILL_SHOWS("Q07");
  tf::set_random_seed(7);
  const auto inputs = tf::random_normal({1000}), noise = tf::random_normal({1000});
  const auto outputs = inputs * 3 + 2 + noise;
  tf::Variable W(5.f), B(10.f);
  const auto loss = [&] { return tf::reduce_mean(tf::square(inputs * W + B - outputs)); };
  // Of W and B the errors shrink by 0.98 a step; the noise adds 1.
  const double theory[] = {66.3, 30.1, 14.0, 6.8, 3.6, 2.1, 1.5, 1.2, 1.1, 1.05};
  EXPECT_NEAR(loss().item<float>(), 69, 7);
  std::string log;
  for (int i = 0; i < 200; ++i) {
    tf::GradientTape tape;
    const auto value = loss();
    const auto grads = tape.gradient(value, {W, B});
    W.assign_sub(grads[0] * 0.01f);
    B.assign_sub(grads[1] * 0.01f);
    if (i % 20 != 0) continue;
    log += tf::format("Loss at step {:03d}: {:.3f}\n", i, loss());
    EXPECT_NEAR(loss().item<float>(), theory[i / 20], 0.1 * theory[i / 20] + 0.1) << i;
  }
  EXPECT_EQ(log.substr(0, 18), "Loss at step 000: ");
  EXPECT_NEAR(loss().item<float>(), 1.02, 0.1);
  EXPECT_NEAR(Tensor(W).item<float>(), 3, 0.1);
  EXPECT_NEAR(Tensor(B).item<float>(), 2.15, 0.1);
}

TEST(LinearRegression, OfThreeInputsPrintsItsVariables) {
  RILL_SHOWS("Q36");
  const auto x = tf::constant({{1., 2., 3.}, {4., 5., 6.}}), y = tf::constant({{10.}, {20.}});
  tf::Variable kernel(tf::zeros({3, 1}), {.name = "linear_2/dense_1/kernel"});
  tf::Variable bias(tf::zeros({1}), {.name = "linear_2/dense_1/bias"});
  keras::optimizers::SGD sgd({.learning_rate = 0.01});
  for (int i = 0; i < 100; ++i) {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::square(tf::matmul(x, kernel) + bias - y));
    sgd.apply_gradients(tape.gradient(loss, {kernel, bias}), {kernel, bias});
  }
  std::ostringstream os;
  os << std::vector<tf::Variable>{kernel, bias};
  EXPECT_EQ(os.str(),
            "[<tf.Variable 'linear_2/dense_1/kernel:0' shape=(3, 1) dtype=float32, numpy=\n"
            "array([[0.40784496],\n       [1.191065  ],\n       [1.9742855 ]], dtype=float32)>, "
            "<tf.Variable 'linear_2/dense_1/bias:0' shape=(1,) dtype=float32, "
            "numpy=array([0.78322077], dtype=float32)>]");
}

}  // namespace
