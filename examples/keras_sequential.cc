// shows: P01 P02
// The guide's first model: a stack of three layers, trained on random data in all the ways that
// fit knows.
#include <rill/rill.h>

#include <cmath>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

keras::Sequential stack() {
  keras::Sequential model;
  model.add(layers::Dense(64, {.activation = "relu"}));
  model.add(layers::Dense(64, {.activation = "relu"}));
  model.add(layers::Dense(10, {.activation = "softmax"}));
  return model;
}

int main() {
  keras::utils::set_random_seed(7);
  // Labels whose rows sum to 1: a crossentropy takes them for distributions (with other rows the
  // loss rises, in Keras too).
  const Tensor data = tf::random::uniform({1000, 32}, 0, 1, {.dtype = tf::float64}),
               labels =
                   tf::nn::softmax(tf::random::uniform({1000, 10}, 0, 3, {.dtype = tf::float64}));
  const Tensor val_data = tf::random::uniform({100, 32}),
               val_labels = tf::nn::softmax(tf::random::uniform({100, 10}, 0, 3));

  keras::Sequential model = stack();
  model.compile({.optimizer = tf::compat::v1::train::AdamOptimizer(0.001),
                 .loss = "categorical_crossentropy",
                 .metrics = {"accuracy"}});
  auto history = model.fit(data, labels, {.batch_size = 32, .epochs = 10});
  expect(history["loss"].size() == 10 && std::isfinite(history["loss"].back()), "finite losses");
  expect(history["loss"].back() < history["loss"].front(), "a falling loss");

  history = model.fit(
      data, labels,
      {.batch_size = 32, .epochs = 10, .verbose = 0, .validation_data = {val_data, val_labels}});
  expect(history["val_loss"].size() == 10, "numbers of the validation data");

  auto dataset = tf::data::Dataset::from_tensor_slices(tf::tuple(data, labels));
  dataset = dataset.batch(32).repeat();
  auto val_dataset = tf::data::Dataset::from_tensor_slices(tf::tuple(val_data, val_labels));
  val_dataset = val_dataset.batch(32).repeat();
  history = model.fit(dataset, {.epochs = 10,
                                .verbose = 0,
                                .validation_data = val_dataset,
                                .steps_per_epoch = 30,
                                .validation_steps = 3});
  expect(history["val_accuracy"].size() == 10, "ten epochs of 30 steps");

  std::cout << model.evaluate(data, labels, {.batch_size = 32}) << '\n';
  std::cout << model.evaluate(dataset, {.steps = 30}) << '\n';
  const Tensor result = model.predict(data, {.batch_size = 32});
  std::cout << result.shape() << '\n';
  expect(result.shape() == tf::TensorShape({1000, 10}), "a row for each sample");
  for (const float sum : tf::reduce_sum(result, 1).to_vector<float>())
    expect(std::abs(sum - 1) < 1e-5f, "rows that sum to 1");
  expect(model.predict(dataset, {.steps = 30}).shape().dim(0) == 30 * 32, "30 batches");

  // Other losses, metrics and optimizers (P02).
  keras::Sequential regression = stack();
  regression.compile({.optimizer = tf::compat::v1::train::AdamOptimizer(0.01),
                      .loss = "mse",         // mean squared error
                      .metrics = {"mae"}});  // mean absolute error
  history = regression.fit(data, labels, {.epochs = 3, .verbose = 0});
  expect(history.contains("mae") && history["loss"].back() < history["loss"].front(), "mse falls");
  keras::Sequential classes = stack();
  classes.compile({.optimizer = tf::compat::v1::train::RMSPropOptimizer(0.01),
                   .loss = keras::losses::categorical_crossentropy,
                   .metrics = {keras::metrics::categorical_accuracy}});
  history = classes.fit(data, labels, {.epochs = 3, .verbose = 0});
  expect(history.contains("categorical_accuracy"), "a metric given as a function");
}
