// Optimizers and schedules beside real Keras, eager and traced: made of the configuration that
// Keras saves. tools/keras_losses_metrics.py made the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/keras_losses_metrics/goldens.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace v1 = tf::compat::v1;
using keras::Config;
using rill::testing::cases;
using rill::testing::expect_error;
using rill::testing::expect_near;
using rill::testing::tensor_of;
using tf::Tensor;

namespace {

void run_optimizer(const Config& c, bool traced) {
  SCOPED_TRACE(c["optimizer"].to_json() + (traced ? " traced" : ""));
  keras::Optimizer optimizer = keras::optimizers::deserialize(c["optimizer"]);
  // A layer makes the variable, which keeps the constraint.
  struct Weights : keras::layers::Layer {
    tf::Variable bias = add_weight(
        "bias", {3}, {.initializer = "zeros", .constraint = keras::constraints::NonNeg()});
  } layer;
  layer.bias.assign(tf::constant({0.4f, -0.3f, 0.2f}));
  const tf::Variable kernel(tf::constant({{1.f, -2.f}, {3.f, 0.5f}}), {.name = "kernel"});
  const std::vector<tf::Variable> variables{kernel, layer.bias};
  optimizer.exclude_from_weight_decay({}, {"bias"});
  const auto apply = [&](const Tensor& a, const Tensor& b) {
    optimizer.apply_gradients({{a, kernel}, {b, layer.bias}});
    return tf::identity(a);
  };
  const auto step = tf::function(apply);
  for (std::size_t i = 0; i < c["steps"].size(); ++i) {
    const Config& s = c["steps"][i];
    const Tensor a = tensor_of(s["gradients"][0]), b = tensor_of(s["gradients"][1]);
    if (traced)
      step(a, b);
    else
      apply(a, b);
    for (int k = 0; k < 2; ++k)
      expect_near(variables[static_cast<std::size_t>(k)].value(), s["values"][k],
                  tf::format("variable {} after step {}", k, i));
    if (::testing::Test::HasFatalFailure()) return;
  }
  optimizer.finalize_variable_values(variables);
  for (int k = 0; k < 2; ++k)
    expect_near(variables[static_cast<std::size_t>(k)].value(), c["final"][k], "final");

  const Config own = keras::optimizers::serialize(optimizer);
  EXPECT_EQ(own["class_name"], c["optimizer"]["class_name"]);
  for (const std::string& key : c["optimizer"]["config"].keys()) {
    const Config &theirs = c["optimizer"]["config"][key], &ours = own["config"].get(key);
    if (theirs.is_number())
      EXPECT_NEAR(ours.as_double(), theirs.as_double(), 1e-7) << key;
    else if (key == "learning_rate")
      EXPECT_EQ(ours["class_name"], theirs["class_name"]);
    else
      EXPECT_EQ(ours, theirs) << key << ": " << ours << " instead of " << theirs;
  }
  EXPECT_EQ(keras::optimizers::serialize(keras::optimizers::deserialize(own)).to_json(),
            own.to_json());
}

TEST(KerasOptimizers, EqualKeras) {
  for (const Config& c : cases("optimizers")) {
    run_optimizer(c, false);
    if (HasFatalFailure()) return;
  }
}
TEST(KerasOptimizers, EqualKerasInTracedFunctions) {
  for (const Config& c : cases("optimizers")) {
    run_optimizer(c, true);
    if (HasFatalFailure()) return;
  }
}

TEST(KerasSchedules, EqualKeras) {
  for (const Config& c : cases("schedules")) {
    SCOPED_TRACE(c["schedule"].to_json());
    const auto schedule = keras::optimizers::schedules::deserialize(c["schedule"]);
    const keras::optimizers::LearningRate rate = schedule;
    const auto steps = tensor_of(c["steps"]).to_vector<std::int64_t>();
    std::vector<float> got;
    for (std::int64_t s : steps) got.push_back(static_cast<float>(rate.at(s)));
    expect_near(tf::constant(got), c["rates"], "rates");
    EXPECT_EQ(keras::optimizers::LearningRate::from_config(rate.config()).config().to_json(),
              rate.config().to_json());
  }
}

TEST(KerasOptimizers, OlderNamesOfArguments) {
  namespace o = keras::optimizers;
  const tf::Variable w(1.f);
  o::SGD sgd({.lr = 0.5, .decay = 1});
  EXPECT_EQ(sgd.learning_rate(), 0.5);
  for (int i = 0; i < 3; ++i) sgd.apply_gradients({{tf::constant(1.f), w}});
  EXPECT_NEAR(w.item<float>(), 1 - 0.5 * (1 + 1 / 2. + 1 / 3.), 1e-6);
}

TEST(KerasOptimizers, WrongArgumentsAreNamed) {
  namespace o = keras::optimizers;
  expect_error<tf::errors::InvalidArgument>(
      [] { o::Adam({.clipnorm = 1.0, .global_clipnorm = 1.0}); }, "expected one of them at most");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        o::deserialize(Config::dict({{"class_name", "Adum"}}));
      },
      "Did you mean \"adam\"");
  o::SGD sgd;
  const tf::Variable w(1.f);
  sgd.apply_gradients({{tf::constant(1.f), w}});
  expect_error<tf::errors::FailedPrecondition>([&] { sgd.exclude_from_weight_decay({w}); },
                                               "before the first");
}

TEST(KerasOptimizers, TakeThoseOfVersion1) {
  keras::Sequential model({keras::layers::Dense({.units = 1, .input_shape = {2}})});
  model.compile({.optimizer = v1::train::AdamOptimizer(0.01), .loss = "mse"});
  const Tensor x = tf::constant({{1.f, 2.f}, {3.f, 4.f}}), y = tf::constant({{1.f}, {2.f}});
  const auto history = model.fit(x, y, {.epochs = 3, .verbose = 0});
  const auto& loss = history["loss"];
  EXPECT_LT(loss.back(), loss.front());
  const keras::Optimizer same = v1::train::GradientDescentOptimizer(0.1);
  expect_error<tf::errors::Unimplemented>([&] { same.get_config(); }, "has no configuration");
}

}  // namespace
