// What the guide says, and asks, about the clipping of gradients.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;
using tf::Tensor;

namespace {

double seconds_of(const auto& call) {
  double best = 1e9;
  for (int trial = 0; trial < 7; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// "Slower, because all the parameters must be ready before the clipping operation can be
// performed": every clipped gradient depends on all of them.
TEST(Clipping, ByTheGlobalNormWaitsForAllGradients) {
  RILL_SHOWS("Z50");
  std::vector<Tensor> grads;
  for (int i = 0; i < 40; ++i) grads.push_back(tf::ones({100, 1000}) * static_cast<float>(i));
  const double one = seconds_of([&] { return tf::clip_by_norm(grads[39], 1.f); });
  const double all = seconds_of([&] { return tf::clip_by_global_norm(grads, 1.f).first[39]; });
  std::printf("the last of 40 gradients: %.0f us by its own norm, %.0f us by the norm of all\n",
              1e6 * one, 1e6 * all);
  EXPECT_GT(all, 4 * one);

  // A gradient that is not a number, the last of three, spoils all by the global norm, and only
  // itself by its own.
  const std::vector<Tensor> spoilt{tf::constant({3.f}), tf::constant({4.f}),
                                   tf::constant({std::nanf("")})};
  const auto clipped = tf::clip_by_global_norm(spoilt, 1.f).first;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(Tensor(clipped[i]).item<float>())) << i;
  EXPECT_FLOAT_EQ(tf::clip_by_norm(spoilt[0], 1.f).item<float>(), 1.f);
  EXPECT_FLOAT_EQ(tf::clip_by_norm(spoilt[1], 1.f).item<float>(), 1.f);
}

// Steps of gradient descent on w^2 / 2 from 10 to 0.01; 0: not within 10,000.
int steps_to_converge(float clip_norm) {
  tf::Variable w(10.f);
  tf::keras::optimizers::SGD sgd(0.1);
  for (int step = 1; step <= 10000; ++step) {
    tf::GradientTape tape;
    const auto loss = tf::square(w) / 2.f;
    sgd.apply_gradients({tf::clip_by_norm(tape.gradient(loss, w), clip_norm)}, {w});
    if (std::abs(w.item<float>()) < 0.01f) return step;
  }
  return 0;
}

// The guide asks whether clipping can lengthen a training, or keep it from converging. Both.
TEST(Clipping, MayLengthenATrainingAndMissTheMinimum) {
  RILL_SHOWS("Z64");
  // By closed form: each step leaves 0.9 of w, so 66 steps from 10 to 0.01; with gradients of
  // length 1 at most, 90 steps of 0.1 come first, and then 44.
  EXPECT_EQ(steps_to_converge(1e9f), 66);
  EXPECT_NEAR(steps_to_converge(1.f), 90 + 44, 1);
  EXPECT_EQ(steps_to_converge(1e-3f), 0) << "10,000 steps of 0.0001 are too few";

  // The mean of nine zeros and a ten is 1, where the gradients of the samples sum up to 0. Clipped
  // one by one to 0.5, they do so where the outlier counts no more than each zero: at 1/18.
  const auto settle = [](float clip_norm) {
    tf::Variable w(0.5f);
    for (int step = 0; step < 2000; ++step) {
      Tensor sum = tf::constant(0.f);
      for (int i = 0; i < 10; ++i)
        sum = sum + tf::clip_by_norm(w - (i == 9 ? 10.f : 0.f), clip_norm);
      w.assign_sub(0.01f * sum);
    }
    return w.item<float>();
  };
  EXPECT_NEAR(settle(1e9f), 1, 1e-3);
  EXPECT_NEAR(settle(0.5f), 0.5 / 9, 1e-3);
}

}  // namespace
