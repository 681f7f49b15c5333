// What the guides say of compile, fit, evaluate and predict, row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_near, tf::testing::sample;

namespace {

TEST(KerasGuide, CompileTakesNamesObjectsAndFunctions) {
  RILL_SHOWS("K36", "K38", "K40");
  const Tensor x = sample({8, 3}), y = tf::nn::softmax(sample({8, 2}, 5));
  const auto run = [&](keras::CompileOptions o) {
    keras::Sequential m({layers::Dense(2, {.activation = "softmax"})});
    m.compile(std::move(o));
    const auto h = m.fit(x, y, {.epochs = 2, .verbose = 0});
    EXPECT_TRUE(std::isfinite(h["loss"].back()));
    return h["loss"][0];
  };
  run({.optimizer = "adam", .loss = "mse"});
  run({.optimizer = "rmsprop", .loss = "mean_squared_error"});
  run({.optimizer = "sgd", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  run({.loss = "binary_crossentropy"});
  keras::Sequential adam({layers::Dense(2)});
  adam.compile({.optimizer = "adam", .loss = "mse"});
  EXPECT_NEAR(adam.optimizer().learning_rate(), 0.001, 1e-9);
  adam.compile({.optimizer = "rmsprop", .loss = "mse"});
  EXPECT_NEAR(adam.optimizer().learning_rate(), 0.001, 1e-9);
}

TEST(KerasGuide, LossesAndMetricsAsFunctions) {
  RILL_SHOWS("K39", "K41", "K43");
  keras::Sequential m({layers::Dense(3, {.activation = "softmax"})});
  m.compile({.optimizer = keras::optimizers::Adam({.learning_rate = 0.001}),
             .loss = keras::losses::sparse_categorical_crossentropy,
             .metrics = {keras::metrics::sparse_categorical_accuracy, "mae"}});
  const Tensor x = sample({8, 4}), y = tf::range(8) % 3;
  const auto h = m.fit(x, y, {.epochs = 1, .verbose = 0, .shuffle = false});
  EXPECT_EQ(m.metrics_names(),
            (std::vector<std::string>{"loss", "sparse_categorical_accuracy", "mae"}));
  const Tensor p = m.predict(x, {.verbose = 0});
  const auto scores = m.evaluate(x, y, {.verbose = 0});
  EXPECT_NEAR(scores["loss"],
              tf::reduce_mean(keras::losses::sparse_categorical_crossentropy(y, p)).item<float>(),
              1e-5);
  EXPECT_NEAR(scores["sparse_categorical_accuracy"],
              tf::reduce_mean(keras::metrics::sparse_categorical_accuracy(y, p)).item<float>(),
              1e-6);
}

TEST(KerasGuide, AccuracyIsWhatFits) {
  RILL_SHOWS("K42", "K44", "L13");
  const auto accuracy = [](int units, const char* loss, const Tensor& y) {
    keras::Sequential m({layers::Dense(units, {.activation = units == 1 ? "sigmoid" : "softmax"})});
    m.compile({.loss = loss, .metrics = {"accuracy"}});
    const Tensor x = sample({6, 4});
    const double shown = m.evaluate(x, y, {.verbose = 0})["accuracy"];
    return std::pair(shown, m.predict(x, {.verbose = 0}));
  };
  const Tensor numbers = tf::range(6) % 3, one_hot = tf::one_hot(tf::range(6) % 3, 3),
               yes_no = tf::cast(tf::range(6) % 2, tf::float32);
  const auto sparse = accuracy(3, "sparse_categorical_crossentropy", numbers);
  EXPECT_NEAR(sparse.first,
              tf::reduce_mean(keras::metrics::sparse_categorical_accuracy(numbers, sparse.second))
                  .item<float>(),
              1e-6);
  const auto dense = accuracy(3, "categorical_crossentropy", one_hot);
  EXPECT_NEAR(
      dense.first,
      tf::reduce_mean(keras::metrics::categorical_accuracy(one_hot, dense.second)).item<float>(),
      1e-6);
  const auto binary = accuracy(1, "binary_crossentropy", yes_no);
  EXPECT_NEAR(
      binary.first,
      tf::reduce_mean(keras::metrics::binary_accuracy(tf::expand_dims(yes_no, -1), binary.second))
          .item<float>(),
      1e-6);
  keras::Sequential none({layers::Dense(1)});
  none.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_EQ(none.evaluate(sample({4, 2}), sample({4, 1}), {.verbose = 0}).size(), 1u);
}

TEST(KerasGuide, FitOnArrays) {
  RILL_SHOWS("K46", "K47", "K49");
  keras::Sequential m({layers::Dense(10, {.activation = "softmax"})});
  m.compile({.loss = "categorical_crossentropy"});
  const Tensor x = tf::cast(sample({1000, 32}), tf::float64),
               y = tf::nn::softmax(sample({1000, 10}));
  int batches = 0;
  const auto h =
      m.fit(x, y,
            {.verbose = 0,
             .callbacks = {keras::callbacks::LambdaCallback(
                 {.on_batch_end = [&](std::int64_t, const keras::Logs&) { ++batches; }})}});
  EXPECT_EQ(batches, 32);  // 31 of 32 and one of 8
  EXPECT_EQ(h["loss"].size(), 1u);
  EXPECT_EQ(m.variables()[0].dtype(), tf::float32);
}

TEST(KerasGuide, TheLossOfAnEpochIsTheMeanOverSamples) {
  RILL_SHOWS("K48");
  // 3 samples in batches of 2: the last batch counts half as much.
  keras::Sequential m({layers::Dense(1, {.use_bias = false, .kernel_initializer = "zeros"})});
  m.compile({.optimizer = keras::optimizers::SGD(0.0), .loss = "mse"});
  const Tensor x = tf::ones({3, 1}), y = tf::constant({{1.f}, {2.f}, {3.f}});
  const auto h = m.fit(x, y, {.batch_size = 2, .epochs = 2, .verbose = 0});
  EXPECT_NEAR(h["loss"][0], 14. / 3, 1e-6);
  EXPECT_NEAR(h["loss"][1], 14. / 3, 1e-6);
}

TEST(KerasGuide, ValidationRunsInInferenceMode) {
  RILL_SHOWS("K50");
  keras::Sequential m({layers::Dropout(0.9), layers::Dense(1, {.kernel_initializer = "ones"})});
  m.compile({.optimizer = keras::optimizers::SGD(0.0), .loss = "mse", .metrics = {"mae"}});
  const Tensor x = tf::ones({100, 8}), y = tf::fill({100, 1}, 8.f);
  const auto h = m.fit(x, y, {.verbose = 0, .validation_data = {x, y}});
  EXPECT_GT(h["loss"][0], 1);  // nine of ten inputs are dropped in training
  EXPECT_NEAR(h["val_loss"][0], 0, 1e-8);
  EXPECT_NEAR(h["val_mae"][0], 0, 1e-6);
}

TEST(KerasGuide, DatasetsInfiniteAndFinite) {
  RILL_SHOWS("K51", "K52", "K53");
  keras::Sequential m({layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  // The numbers of the samples that training sees.
  std::vector<std::int64_t> seen;
  auto counted = tf::data::Dataset::range(10).map([&](const Tensor& i) {
    seen.push_back(i.item<std::int64_t>());
    return tf::tuple(tf::reshape(tf::cast(i, tf::float32), {1}), tf::ones({1}));
  });
  m.fit(counted.batch(2).repeat(), {.epochs = 2, .verbose = 0, .steps_per_epoch = 3});
  seen.resize(12);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}));  // continues
  seen.clear();
  m.fit(counted.batch(4), {.epochs = 2, .verbose = 0});
  EXPECT_EQ(seen.size(), 20u);  // each epoch is a pass
  int test_batches = 0;
  struct Count : keras::callbacks::Callback {
    int* n;
    explicit Count(int* counter) : n(counter) {}
    void on_test_batch_end(std::int64_t, const keras::Logs&) override { ++*n; }
  };
  m.fit(counted.batch(2), {.verbose = 0,
                           .callbacks = {Count(&test_batches)},
                           .validation_data = counted.batch(2).repeat(),
                           .validation_steps = 3});
  EXPECT_EQ(test_batches, 3);
}

TEST(KerasGuide, EvaluateAndPredict) {
  RILL_SHOWS("K55", "K56", "K58");
  keras::Sequential m({layers::Dense(10, {.activation = "softmax"})});
  m.compile({.loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const Tensor x = sample({70, 4}), y = tf::range(70) % 10;
  const auto [loss, accuracy] = m.evaluate(x, y, {.batch_size = 32, .verbose = 0}).unpack<2>();
  EXPECT_GT(loss, 0);
  EXPECT_GE(accuracy, 0);
  auto ds = tf::data::Dataset::from_tensor_slices(tf::tuple(x, y)).batch(7);
  EXPECT_NEAR(m.evaluate(ds, {.verbose = 0})["loss"], loss, 1e-5);
  const Tensor p = m.predict(x, {.batch_size = 32, .verbose = 0});
  EXPECT_EQ(p.shape(), tf::TensorShape({70, 10}));
  expect_near(p, m(x));
  EXPECT_EQ(m.predict(ds, {.verbose = 0, .steps = 3}).shape().dim(0), 21);
  EXPECT_EQ(p[0].shape(), tf::TensorShape({10}));
  std::ostringstream printed;
  printed << m.evaluate(x, y, {.verbose = 0});
  EXPECT_THAT(printed.str(), ::testing::StartsWith("["));
}

TEST(KerasGuide, MetricsNames) {
  RILL_SHOWS("K57", "K54");
  keras::Sequential m({layers::Dense(3, {.activation = "softmax"})});
  m.compile({.loss = keras::losses::sparse_categorical_crossentropy,
             .metrics = {keras::metrics::sparse_categorical_accuracy}});
  const Tensor train_data = sample({6, 2}), train_label = tf::range(6) % 3;
  m.fit(train_data, train_label, {.batch_size = 3, .epochs = 1, .verbose = 0});
  EXPECT_EQ(m.metrics_names(), (std::vector<std::string>{"loss", "sparse_categorical_accuracy"}));
}

// Arguments are fields of a struct: one that compile does not have does not compile.
template <class Options>
concept HasMetrics = requires {
  Options{.metrics = {"accuracy"}};
};
template <class Options>
concept HasMetric = requires {
  Options{.metric = {"accuracy"}};
};

TEST(KerasGuide, AMisspeltArgumentOfCompileIsAnErrorOfTheCompiler) {
  RILL_SHOWS("K45");
  EXPECT_TRUE(HasMetrics<keras::CompileOptions>);
  EXPECT_FALSE(HasMetric<keras::CompileOptions>);
}

TEST(KerasGuide, ArraysAndDatasetsAreTheSameData) {
  RILL_SHOWS("D76");
  const Tensor x = sample({20, 3}), y = sample({20, 2}, 5);
  const auto dataset = tf::data::Dataset::from_tensor_slices(tf::tuple(x, y)).batch(8);
  const auto model = [] {
    keras::Sequential m({layers::Dense(2, {.kernel_initializer = "ones"})});
    m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
    return m;
  };
  keras::Sequential of_arrays = model(), of_dataset = model();
  const auto a =
      of_arrays.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false});
  const auto d = of_dataset.fit(dataset, {.epochs = 3, .verbose = 0});
  EXPECT_EQ(a["loss"], d["loss"]);
  EXPECT_EQ(a["mae"], d["mae"]);
  EXPECT_LT(a["loss"].back(), a["loss"].front());
  const auto scores = of_arrays.evaluate(x, y, {.batch_size = 8, .verbose = 0});
  EXPECT_EQ(scores["loss"], of_dataset.evaluate(dataset, {.verbose = 0})["loss"]);
  expect_near(of_arrays.predict(x, {.batch_size = 8, .verbose = 0}),
              of_dataset.predict(dataset, {.verbose = 0}), 0);
}

}  // namespace
