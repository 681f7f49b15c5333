// A long eager training loop leaves the resident memory where it was.
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdlib>

#include <fstream>

#include "rill/rill.h"
#include "tests/sanitizer.h"
#include "tests/shows.h"

namespace tf = rill;

namespace {

// Bytes of this process that are in memory.
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// A million where RILL_FULL is set (make nightly); a tenth of it shows most leaks too.
int many_steps() { return std::getenv("RILL_FULL") ? 1'000'000 : 100'000; }

TEST(Soak, MemoryStaysFlatOverManySteps) {
  if (tf::testing::has_sanitizer()) GTEST_SKIP() << "a sanitizer keeps freed memory";
  const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
             y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
  tf::Variable w(0.f), b(0.f);
  const std::vector<tf::Variable> variables{w, b};
  tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
  const auto step = [&] {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::square(w * x + b - y));
    adam.apply_gradients(tape.gradient(loss, {w, b}), variables);
    return loss;
  };
  const float first = step().item<float>();
  for (int i = 1; i < 10'000; ++i) step();
  const double early = resident_bytes();
  for (int i = 10'000; i < many_steps(); ++i) step();
  EXPECT_LT(resident_bytes() - early, 1 << 20);
  EXPECT_LT(step().item<float>(), first / 50);
}

// The same as a traced function, with a loop, a branch and sizes that change.
TEST(Soak, MemoryStaysFlatOverManyCallsOfAFunction) {
  if (tf::testing::has_sanitizer()) GTEST_SKIP() << "a sanitizer keeps freed memory";
  const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
             y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
  tf::Variable w(0.f), b(0.f);
  const std::vector<tf::Variable> variables{w, b};
  tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
  auto step = tf::function([&] {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::square(w * x + b - y));
    adam.apply_gradients(tape.gradient(loss, {w, b}), variables);
    return loss;
  });
  auto flow = tf::function([](tf::Tensor v) {
    auto out = tf::while_loop([](tf::Tensor i, tf::Tensor) { return i < 3; },
                              [](tf::Tensor i, tf::Tensor s) { return std::pair(i + 1, s * 2.f); },
                              {0, v});
    return tf::cond(
        tf::reduce_sum(v) > 0, [&] { return out[1].as_tensor(); }, [&] { return v; });
  });
  const float first = step().item<float>();
  const auto calls = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      step();
      if (i % 50 == 0) flow(tf::ones({i / 50 % 12 + 1}));
    }
  };
  calls(1, 10'000);
  const double early = resident_bytes();
  calls(10'000, many_steps());
  EXPECT_LT(resident_bytes() - early, 1 << 20);
  EXPECT_LT(step().item<float>(), first / 50);
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_EQ(flow.trace_count(), 2);
}

// Errors in the middle of a step give back what they hold, too.
TEST(Soak, FailedStepsLeaveNothingBehind) {
  if (tf::testing::has_sanitizer()) GTEST_SKIP() << "a sanitizer keeps freed memory";
  tf::Variable w(tf::ones({64, 64}));
  const auto step = [&] {
    tf::GradientTape tape;
    const auto h = tf::matmul(w, w);
    EXPECT_THROW(tf::matmul(h, tf::ones({3, 3})), tf::errors::InvalidArgument);
  };
  for (int i = 0; i < 100; ++i) step();
  const double early = resident_bytes();
  for (int i = 0; i < 2'000; ++i) step();
  EXPECT_LT(resident_bytes() - early, 1 << 20);
}

// Keras: epochs of fit, and calls of predict.
TEST(Soak, MemoryStaysFlatOverEpochsAndPredictions) {
  if (tf::testing::has_sanitizer()) GTEST_SKIP() << "a sanitizer keeps freed memory";
  namespace keras = tf::keras;
  keras::Sequential model({keras::layers::Dense(16, {.activation = "relu"}),
                           keras::layers::Dropout(0.1),
                           keras::layers::Dense(3, {.activation = "softmax"})});
  model.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto [train, test] = keras::datasets::iris::load_data();
  const auto epochs = [&](int n) {
    return model
        .fit(train.x, train.y,
             {.batch_size = 16,
              .epochs = n,
              .verbose = 0,
              .validation_data = {test.x, test.y}})["loss"]
        .back();
  };
  const double first = epochs(20);
  double early = resident_bytes();
  EXPECT_LT(epochs(200), first);
  EXPECT_LT(resident_bytes() - early, 1 << 20);
  const auto predict = [&](int n) {
    for (int i = 0; i < n; ++i) model.predict(test.x, {.verbose = 0});
  };
  predict(10'000);
  early = resident_bytes();
  predict(90'000);
  EXPECT_LT(resident_bytes() - early, 1 << 20);
}

}  // namespace
