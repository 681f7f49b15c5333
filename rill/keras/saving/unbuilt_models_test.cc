// Models with their own train_step and no call are saved as far as their layers have weights; what
// a file will not bring back is told when it is written.
#include <gtest/gtest.h>

#include "rill/base/logging.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Nest, tf::Tensor;
using tf::errors::FailedPrecondition;

namespace {

const Tensor x = tf::ones({8, 2});

// A generator and a discriminator, in outline.
struct Gan : keras::Model {
  keras::Sequential g{layers::Dense(2, {.input_shape = {2}})},
      d{layers::Dense(1, {.input_shape = {2}})};
  Gan() {
    track("g", g);
    track("d", d);
  }
  Nest train_step(const Nest& data) override {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::square(d(g(data[0].as_tensor()))));
    const auto variables = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, variables), variables);
    return Nest::dict({{"loss", loss}});
  }
};

void expect_same(const keras::Model& a, const keras::Model& b) {
  const std::vector<Tensor> v = a.get_weights(), w = b.get_weights();
  ASSERT_EQ(v.size(), 4u);
  ASSERT_EQ(w.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(v[i].to_vector<float>(), w[i].to_vector<float>()) << i;
}

TEST(UnbuiltModels, WithTheirOwnStepKeepTheirWeights) {
  const std::string folder = rill::testing::fresh_folder("unbuilt");
  Gan m;
  m.compile({.optimizer = "adam"});
  m.fit(x, {.verbose = 0,
            .callbacks = {keras::callbacks::ModelCheckpoint(
                folder + "/callback.h5", {.verbose = 0, .save_weights_only = true})}});
  EXPECT_FALSE(m.built());
  for (const char* file : {"m.h5", "m.weights.h5", "checkpoint"}) {
    SCOPED_TRACE(file);
    m.save_weights(folder + "/" + file);
    Gan again;
    again.load_weights(folder + "/" + file);
    expect_same(m, again);
  }
  Gan again;
  again.load_weights(folder + "/callback.h5");
  expect_same(m, again);
}

TEST(UnbuiltModels, WithoutAnyWeightAreAnError) {
  struct Empty : keras::Model {
    layers::Dense dense{1};
    Empty() { track("dense", dense); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v); }
  } m;
  expect_error<FailedPrecondition>([&] { m.save_weights("/nowhere/m.h5"); },
                                   "has not made its weights yet");
  keras::Sequential stack({layers::Dense(1)});
  expect_error<FailedPrecondition>([&] { stack.save_weights("/nowhere/m.h5"); },
                                   "has not made its weights yet");
}

std::vector<std::string> lines;
std::vector<std::string> told_by_save(keras::CompileOptions options) {
  const std::string folder = rill::testing::fresh_folder("unbuilt");
  keras::Sequential m({keras::Input({2}), layers::Dense(1)});
  m.compile(std::move(options));
  m.train_on_batch(x, tf::ones({8, 1}));
  const tf::LogLevel before = tf::log_level();
  lines.clear();
  tf::set_log_level(tf::LogLevel::warning);
  tf::set_log_sink([](tf::LogLevel, std::string_view line) { lines.emplace_back(line); });
  m.save(folder + "/m.keras");
  tf::set_log_sink(nullptr);
  tf::set_log_level(before);
  return lines;
}

struct UnknownMetric : keras::metrics::Mean {
  UnknownMetric() : Mean("unknown") {}
  void update_state(const Tensor& t, const Tensor&, const Tensor&) override {
    Mean::update_state(t);
  }
};

TEST(Saving, TellsOfLossesAndMetricsThatLoadWillNotFind) {
  const auto loss = [](const Tensor& t, const Tensor& p) {
    return tf::reduce_mean(tf::abs(t - p));
  };
  const std::vector<std::string> of_loss = told_by_save({.loss = loss});
  ASSERT_EQ(of_loss.size(), 1u);
  EXPECT_NE(of_loss[0].find("the loss is a user-defined function without a name"),
            std::string::npos)
      << of_loss[0];
  const std::vector<std::string> of_metric =
      told_by_save({.loss = "mse", .metrics = {UnknownMetric()}});
  ASSERT_EQ(of_metric.size(), 1u);
  EXPECT_NE(of_metric[0].find("the metric is of the class UnknownMetric"), std::string::npos)
      << of_metric[0];
  EXPECT_NE(of_metric[0].find("register_keras_serializable<UnknownMetric>"), std::string::npos)
      << of_metric[0];
  EXPECT_TRUE(told_by_save({.loss = "mse", .metrics = {"mae", keras::metrics::AUC()}}).empty());
  EXPECT_TRUE(told_by_save({.loss = keras::losses::Huber()}).empty());
}

}  // namespace
