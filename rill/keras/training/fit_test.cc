#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using tf::Tensor;
using tf::testing::expect_error;

namespace {

keras::Sequential classifier() {
  return keras::Sequential({keras::layers::Dense(64, {.activation = "relu"}),
                            keras::layers::Dense(64, {.activation = "relu"}),
                            keras::layers::Dense(10, {.activation = "softmax"})});
}
Tensor inputs(int n = 1000) { return tf::random::stateless_uniform({n, 32}, {1, 2}, 0, 1); }
Tensor one_hot_labels(int n = 1000) {
  return tf::one_hot(tf::argmax(inputs(n)(tf::all, tf::slice(0, 10)), -1), 10);
}

TEST(Fit, LossFallsAndAccuracyRises) {
  tf::random::set_seed(1);
  keras::Sequential model = classifier();
  model.compile({.optimizer = keras::optimizers::Adam(0.001),
                 .loss = "categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const auto history =
      model.fit(inputs(), one_hot_labels(), {.batch_size = 32, .epochs = 10, .verbose = 0});
  ASSERT_EQ(history["loss"].size(), 10u);
  EXPECT_LT(history["loss"].back(), 0.8 * history["loss"].front());
  EXPECT_GT(history["accuracy"].back(), history["accuracy"].front());
  EXPECT_EQ(history.params.steps, 32);
  const Tensor p = model.predict(inputs(), {.batch_size = 32, .verbose = 0});
  EXPECT_EQ(p.shape(), tf::TensorShape({1000, 10}));
  for (float s : tf::reduce_sum(p, -1).to_vector<float>()) EXPECT_NEAR(s, 1, 1e-5);
  const auto scores = model.evaluate(inputs(), one_hot_labels(), {.verbose = 0});
  EXPECT_EQ(model.metrics_names(), (std::vector<std::string>{"loss", "accuracy"}));
  EXPECT_NEAR(scores["loss"], history["loss"].back(), 0.2);
}

TEST(Fit, DatasetsWithStepsGoOnAcrossEpochs) {
  RILL_SHOWS("Z13");
  keras::Sequential model = classifier();
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  auto train = tf::data::Dataset::from_tensor_slices(tf::tuple(inputs(), one_hot_labels()))
                   .batch(32)
                   .repeat();
  auto val = tf::data::Dataset::from_tensor_slices(tf::tuple(inputs(100), one_hot_labels(100)))
                 .batch(32)
                 .repeat();
  const auto h = model.fit(train, {.epochs = 3,
                                   .verbose = 0,
                                   .validation_data = val,
                                   .steps_per_epoch = 30,
                                   .validation_steps = 3});
  EXPECT_EQ(h["val_mae"].size(), 3u);
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  expect_error<tf::errors::InvalidArgument>([&] { model.fit(train, {.verbose = 0}); },
                                            "steps_per_epoch");
  expect_error<tf::errors::InvalidArgument>(
      [&] { model.fit(train, {.batch_size = 32, .verbose = 0, .steps_per_epoch = 30}); },
      "batch_size argument must not be specified for a dataset");
  EXPECT_EQ(model.evaluate(train, {.verbose = 0, .steps = 30}).size(), 2u);
  EXPECT_EQ(model.predict(train, {.verbose = 0, .steps = 30}).shape().dim(0), 960);
}

TEST(Fit, BadData) {
  keras::Sequential model = classifier();
  expect_error<tf::errors::FailedPrecondition>(
      [&] { model.fit(inputs(), one_hot_labels(), {.verbose = 0}); }, "must compile");
  model.compile({.loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] { model.fit(inputs(), one_hot_labels(999), {.verbose = 0}); },
      "data cardinality is ambiguous");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        model.fit(tf::zeros({0, 32}), tf::zeros({0, 10}), {.verbose = 0});
      },
      "no samples");
  expect_error<tf::errors::InvalidArgument>([&] { model.compile({.loss = "mze"}); },
                                            "unknown loss \"mze\"");
  expect_error<tf::errors::InvalidArgument>([&] { model.compile({.optimizer = "adan"}); }, "adam");
}

}  // namespace
