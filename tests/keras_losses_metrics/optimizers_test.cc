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
  // Keras's own Nadam goes another way in graphs: Optimizer.NadamTrainsAsCompiledKerasDoes.
  if (traced && c["optimizer"]["class_name"].as_string() == "Nadam" &&
      c["optimizer"]["config"].get("gradient_accumulation_steps").is_null())
    return;
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
  const auto apply_one = [&](const Tensor& a) {
    optimizer.apply_gradients({{a, kernel}, {tf::Gradient(), layer.bias}});
    return tf::identity(a);
  };
  const auto step = tf::function(apply);
  const auto step_one = tf::function(apply_one);
  for (std::size_t i = 0; i < c["steps"].size(); ++i) {
    const Config& s = c["steps"][i];
    const Tensor a = tensor_of(s["gradients"][0]), b = tensor_of(s["gradients"][1]);
    if (!b.defined())
      traced ? step_one(a) : apply_one(a);
    else
      traced ? step(a, b) : apply(a, b);
    if (s.contains("iterations")) {
      EXPECT_EQ(optimizer.iterations().item<std::int64_t>(), s["iterations"].as_int()) << i;
    }
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

class KerasOptimizers : public ::testing::TestWithParam<const char*> {};
// "newer": those of Keras 3.
INSTANTIATE_TEST_SUITE_P(All, KerasOptimizers,
                         ::testing::Values("optimizers", "newer_optimizers",
                                           "accumulating_optimizers"),
                         [](const auto& i) { return i.param; });

TEST_P(KerasOptimizers, EqualKeras) {
  for (const Config& c : cases(GetParam())) {
    run_optimizer(c, false);
    if (HasFatalFailure()) return;
  }
}
TEST_P(KerasOptimizers, EqualKerasInTracedFunctions) {
  for (const Config& c : cases(GetParam())) {
    run_optimizer(c, true);
    if (HasFatalFailure()) return;
  }
}

// ---- loss scaling
void run_loss_scale(const Config& c, bool traced) {
  SCOPED_TRACE(c["optimizer"].to_json() + (traced ? " traced" : ""));
  const auto optimizer = keras::mixed_precision::LossScaleOptimizer::of(
      keras::optimizers::deserialize(c["optimizer"]));
  const std::vector<tf::Variable> variables{
      tf::Variable(tf::constant({{1.f, -2.f}, {3.f, 0.5f}}), {.name = "kernel"}),
      tf::Variable(tf::constant({0.4f, -0.3f, 0.2f}), {.name = "bias"})};
  const auto apply = [&](const Tensor& a, const Tensor& b) {
    keras::Optimizer(optimizer).apply_gradients({{a, variables[0]}, {b, variables[1]}});
    return tf::identity(a);
  };
  const auto step = tf::function(apply);
  for (std::size_t i = 0; i < c["steps"].size(); ++i) {
    const Config& s = c["steps"][i];
    const Tensor a = tensor_of(s["gradients"][0]), b = tensor_of(s["gradients"][1]);
    const Tensor bad = s["bad"] == Config(true) ? b * INFINITY : b;
    if (traced)
      step(a, bad);
    else
      apply(a, bad);
    for (int k = 0; k < 2; ++k)
      expect_near(variables[static_cast<std::size_t>(k)].value(), s["values"][k],
                  tf::format("variable {} after step {}", k, i));
    expect_near(optimizer.loss_scale(), s["scale"], tf::format("scale after step {}", i));
    EXPECT_EQ(optimizer.iterations().item<std::int64_t>(), s["iterations"].as_int());
    if (optimizer.dynamic()) {
      EXPECT_EQ(optimizer.dynamic_counter().item<std::int64_t>(), s["good_steps"].as_int());
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
  expect_near(optimizer.get_scaled_loss(tf::constant(0.5f)), c["scaled"], "scaled loss");
  const tf::Gradients parts = optimizer.get_unscaled_gradients(
      {tf::Gradient(tf::constant({3.f})), tf::Gradient(),
       tf::Gradient(tf::IndexedSlices{tf::constant({{8.f}}), tf::constant({1}), {2, 1}})});
  expect_near(parts[0].tensor(), c["unscaled"], "gradient");
  EXPECT_FALSE(parts[1].defined());
  expect_near(parts[2].slices().values, c["rows"], "gradient of rows");

  const Config own = keras::optimizers::serialize(optimizer), &theirs = c["optimizer"];
  EXPECT_EQ(own["class_name"], theirs["class_name"]);
  EXPECT_EQ(own["config"].keys(), theirs["config"].keys());
  for (const char* key : {"dynamic", "initial_scale", "dynamic_growth_steps"})
    EXPECT_EQ(own["config"][key].to_json(), theirs["config"][key].to_json()) << key;
  EXPECT_EQ(own["config"]["inner_optimizer"].keys(), theirs["config"]["inner_optimizer"].keys());
  EXPECT_EQ(keras::optimizers::serialize(keras::optimizers::deserialize(own)).to_json(),
            own.to_json());
}

TEST(KerasLossScale, StepsAreThoseOfKeras) {
  for (const Config& c : cases("loss_scale"))
    for (const bool traced : {false, true}) {
      run_loss_scale(c, traced);
      if (HasFatalFailure()) return;
    }
}

class MixedFloat16 : public ::testing::Test {
 protected:
  void SetUp() override { keras::mixed_precision::set_global_policy("mixed_float16"); }
  void TearDown() override { keras::mixed_precision::set_global_policy("float32"); }
};

// Gradients of float16 are sums, whose order is free: numbers agree as far as its ten bits do.
void expect_half(const Tensor& got, const Config& want, double largest, const std::string& what) {
  const auto a = got.to_vector<double>(), b = tensor_of(want).to_vector<double>();
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], largest * 0x1p-10) << what << ", element " << i;
}

TEST_F(MixedFloat16, FitsAsKerasDoes) {
  for (const Config& c : cases("mixed_fit"))
    for (const bool eagerly : {false, true}) {
      SCOPED_TRACE(c["optimizer"].to_json() + (eagerly ? " eagerly" : " planned"));
      keras::Sequential model(
          {keras::layers::Dense({.units = 3, .activation = "relu", .input_shape = {2}}),
           keras::layers::Dense({.units = 1, .dtype = "float32"})});
      model.set_weights({tf::constant({{0.5f, -0.25f, 1.f}, {1.f, 0.75f, -0.5f}}),
                         tf::constant({0.f, 0.5f, 0.25f}), tf::constant({{1.f}, {-0.5f}, {0.25f}}),
                         tf::constant({0.125f})});
      model.compile({.optimizer = keras::optimizers::deserialize(c["optimizer"]),
                     .loss = "mse",
                     .run_eagerly = eagerly});
      const auto optimizer = keras::mixed_precision::LossScaleOptimizer::of(model.optimizer());
      for (std::size_t i = 0; i < c["steps"].size(); ++i) {
        const Config& s = c["steps"][i];
        model.reset_metrics();
        const double loss = model.train_on_batch(tensor_of(s["x"]), tensor_of(s["y"]))["loss"];
        EXPECT_NEAR(loss, s["loss"].as_double(), s["loss"].as_double() * 4e-3) << "step " << i;
        const std::vector<Tensor> weights = model.get_weights();
        for (std::size_t k = 0; k < weights.size(); ++k)
          expect_half(weights[k], s["weights"][k], 1, tf::format("weight {} after step {}", k, i));
        EXPECT_EQ(optimizer.loss_scale().item<double>(), s["scale"].as_double()) << "step " << i;
        EXPECT_EQ(optimizer.iterations().item<std::int64_t>(), s["iterations"].as_int());
        if (HasFatalFailure()) return;
      }
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

TEST(ArgumentsOfOptimizers, OlderNamesOfArguments) {
  namespace o = keras::optimizers;
  const tf::Variable w(1.f);
  o::SGD sgd({.lr = 0.5, .decay = 1});
  EXPECT_EQ(sgd.learning_rate(), 0.5);
  for (int i = 0; i < 3; ++i) sgd.apply_gradients({{tf::constant(1.f), w}});
  EXPECT_NEAR(w.item<float>(), 1 - 0.5 * (1 + 1 / 2. + 1 / 3.), 1e-6);
}

TEST(ArgumentsOfOptimizers, WrongArgumentsAreNamed) {
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

TEST(ArgumentsOfOptimizers, TakeThoseOfVersion1) {
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
