// "For compute-heavy models eager execution performance is comparable to graph execution. But this
// gap grows larger for models with less computation."
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "rill/rill.h"
#include "tests/sanitizer.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

// How much longer a step of training takes eagerly than by a function; the shortest of many, in
// turns, since other programs may run beside.
double gap_of(keras::Model model, const Tensor& x, int trials) {
  keras::optimizers::SGD sgd(1e-4);
  auto step = [&](Tensor batch) {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::square(model(batch)));
    const auto variables = model.trainable_variables();
    sgd.apply_gradients(tape.gradient(loss, variables), variables);
    return loss;
  };
  auto traced = tf::function(step);
  const auto seconds = [&](auto& f) {
    const auto start = std::chrono::steady_clock::now();
    f(x).template item<float>();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(step), seconds(traced);
  double eagerly = 1e9, as_function = 1e9;
  for (int i = 0; i < trials; ++i) {
    eagerly = std::min(eagerly, seconds(step));
    as_function = std::min(as_function, seconds(traced));
  }
  return eagerly / as_function;
}

TEST(GuideSpeed, EagerIsComparableForHeavyModelsAndNotForLightOnes) {
  RILL_SHOWS("E64");
  if (rill::testing::has_sanitizer()) GTEST_SKIP() << "times of a sanitizer say nothing";
  using keras::layers::Conv2D, keras::layers::Dense;
  const keras::Sequential heavy({Conv2D(48, 3, {.padding = "same", .activation = "relu"}),
                                 Conv2D(48, 3, {.padding = "same", .activation = "relu"}),
                                 Conv2D(48, 3, {.padding = "same"})});
  keras::Sequential light;
  for (int i = 0; i < 12; ++i) light.add(Dense(4, {.activation = "tanh"}));
  const double of_heavy = gap_of(heavy, tf::ones({16, 28, 28, 48}), 12),
               of_light = gap_of(light, tf::ones({4, 4}), 200);
  std::printf("eager takes %.2f times as long for a heavy model, %.2f for a light one\n", of_heavy,
              of_light);
  EXPECT_LT(of_heavy, 1.5);
  EXPECT_GT(of_light, 1.2);
  EXPECT_GT(of_light, of_heavy);

  // What an op costs beside its arithmetic.
  const auto x = tf::constant(1.f);
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) tf::add(x, x);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / 1000);
  }
  EXPECT_LT(best, 20.0) << "microseconds a call";
}

}  // namespace
