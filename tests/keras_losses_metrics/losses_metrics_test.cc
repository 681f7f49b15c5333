// Losses, metrics, regularizers, constraints and activations beside real Keras: each is made of
// the configuration that Keras saves. tools/keras_losses_metrics.py made the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/keras_losses_metrics/goldens.h"

namespace tf = rill;
namespace keras = rill::keras;
using keras::Config;
using rill::testing::cases;
using rill::testing::expect_near;
using rill::testing::tensor_of;
using tf::Tensor;

namespace {

// Keras's own keys are all there with Keras's values.
void expect_config(const Config& ours, const Config& theirs) {
  for (const std::string& key : theirs.keys()) {
    if (key == "fn") continue;  // says again what the class says
    ASSERT_TRUE(ours.contains(key)) << "config lacks " << key;
    EXPECT_EQ(ours[key], theirs[key]) << key << ": " << ours[key] << " instead of " << theirs[key];
  }
}

class KerasLosses : public ::testing::TestWithParam<const char*> {};
// "newer": those of Keras 3.
INSTANTIATE_TEST_SUITE_P(All, KerasLosses, ::testing::Values("losses", "newer_losses"),
                         [](const auto& i) { return i.param; });

TEST_P(KerasLosses, EqualKeras) {
  for (const Config& c : cases(GetParam())) {
    SCOPED_TRACE(c["loss"].to_json());
    const keras::LossRef loss = keras::losses::deserialize(c["loss"]);
    ASSERT_TRUE(loss.defined());
    expect_config(loss->get_config(), c["loss"]["config"]);
    EXPECT_EQ(keras::losses::deserialize(keras::losses::serialize(loss))->get_config().to_json(),
              loss->get_config().to_json());
    const Tensor y_true = tensor_of(c["y_true"]), y_pred = tensor_of(c["y_pred"]);
    for (std::size_t i = 0; i < c["calls"].size(); ++i) {
      const Config& call = c["calls"][i];
      tf::GradientTape tape;
      tape.watch(y_pred);
      const Tensor value = (*loss)(y_true, y_pred, tensor_of(call["weight"]));
      expect_near(value, call["value"], tf::format("value of call {}", i));
      expect_near(tape.gradient(value, y_pred), call["gradient"],
                  tf::format("gradient of call {}", i));
      if (HasFatalFailure()) return;
    }
  }
}

// Probabilities of 0 and 1 have lost the gradient; the logits behind them have not.
TEST(KerasLossesOfLogits, InFunctionsLookThroughSoftmaxAndSigmoid) {
  for (const Config& c : cases("saturated")) {
    const std::string name = c["loss"].as_string();
    SCOPED_TRACE(name);
    const keras::LossRef loss = name;
    const tf::Variable w(tensor_of(c["w"]));
    const auto step = tf::function([&](const Tensor& x, const Tensor& y) {
      tf::GradientTape tape;
      const Tensor logits = tf::matmul(x, w);
      const Tensor value = loss->call(
          y, name == "binary_crossentropy" ? tf::nn::sigmoid(logits) : tf::nn::softmax(logits));
      return std::vector<Tensor>{value, tape.gradient(value, w)};
    });
    const std::vector<Tensor> got = step(tensor_of(c["x"]), tensor_of(c["y_true"]));
    expect_near(got[0], c["value"], "value");
    expect_near(got[1], c["gradient"], "gradient");
  }
}

// One update, as Keras's callers write it.
void update(keras::Metric& metric, const std::vector<Tensor>& arguments, const Tensor& weight) {
  if (arguments.size() == 2)
    metric.update_state(arguments[0], arguments[1], weight);
  else
    metric.update_state(arguments[0], weight);
}

void run_metric(const Config& c, bool traced) {
  SCOPED_TRACE(c["metric"].to_json() + (traced ? " traced" : ""));
  const keras::MetricRef metric = keras::metrics::deserialize(c["metric"]);
  EXPECT_EQ(metric->class_name(), c["metric"]["class_name"].as_string());
  expect_config(metric->get_config(), c["metric"]["config"]);
  const keras::MetricRef again =
      keras::metrics::deserialize(Config::from_json(keras::metrics::serialize(metric).to_json()));
  EXPECT_EQ(again->get_config().to_json(), metric->get_config().to_json());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < c["updates"].size(); ++i) {
      const Config& u = c["updates"][i];
      std::vector<Tensor> arguments;
      for (const Config& a : u["arguments"].items()) arguments.push_back(tensor_of(a));
      const Tensor weight = tensor_of(u["weight"]);
      Tensor result;
      if (traced) {
        const auto step = tf::function([&](const std::vector<Tensor>& all) {
          const std::vector<Tensor> own(all.begin(),
                                        all.begin() + static_cast<long>(arguments.size()));
          update(*metric, own, weight.defined() ? all.back() : Tensor());
          return metric->result();
        });
        std::vector<Tensor> all = arguments;
        if (weight.defined()) all.push_back(weight);
        result = step(all);
      } else {
        update(*metric, arguments, weight);
        result = metric->result();
      }
      expect_near(result, u["result"], tf::format("round {}, update {}", round, i));
      if (::testing::Test::HasFatalFailure()) return;
    }
    metric->reset_state();
  }
}

class KerasMetrics : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, KerasMetrics, ::testing::Values("metrics", "newer_metrics"),
                         [](const auto& i) { return i.param; });

TEST_P(KerasMetrics, EqualKeras) {
  for (const Config& c : cases(GetParam())) {
    run_metric(c, false);
    if (HasFatalFailure()) return;
  }
}
TEST_P(KerasMetrics, EqualKerasInTracedFunctions) {
  for (const Config& c : cases(GetParam())) {
    run_metric(c, true);
    if (HasFatalFailure()) return;
  }
}

Tensor ramp(const tf::TensorShape& shape) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    v.push_back(static_cast<float>((i * 7) % 11 - 5) / 8.f);
  return tf::reshape(tf::constant(v), shape);
}
template <class F>
void run_function(const Config& c, const F& f) {
  const Tensor x = tensor_of(c["x"]);
  tf::GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  expect_near(y, c["y"], "value");
  if (::testing::Test::HasFatalFailure() || c["gradient"].is_null()) return;
  // What depends on nothing has gradient 0.
  const Tensor total = tf::reduce_sum(y * ramp(y.shape())) + 0 * tf::reduce_sum(x);
  expect_near(tape.gradient(total, x), c["gradient"], "gradient");
}

TEST(KerasRegularizers, EqualKeras) {
  for (const Config& c : cases("regularizers")) {
    SCOPED_TRACE(c["regularizer"].to_json());
    const auto r = keras::Regularizer::deserialize(c["regularizer"]);
    run_function(c, r);
    EXPECT_EQ(r.serialize()["class_name"], c["regularizer"]["class_name"]);
    for (const std::string& key : c["regularizer"]["config"].keys())
      EXPECT_NEAR(key == "mode" ? 0 : r.serialize()["config"][key].as_double(),
                  key == "mode" ? 0 : c["regularizer"]["config"][key].as_double(), 1e-7);
  }
}
TEST(KerasConstraints, EqualKeras) {
  for (const Config& c : cases("constraints")) {
    SCOPED_TRACE(c["constraint"].to_json());
    const auto constraint = keras::Constraint::deserialize(c["constraint"]);
    run_function(c, constraint);
    expect_config(constraint.serialize()["config"], c["constraint"]["config"]);
  }
}
TEST(KerasActivations, EqualKeras) {
  for (const Config& c : cases("activations")) {
    SCOPED_TRACE(c["activation"].to_json());
    run_function(c, keras::Activation::deserialize(c["activation"]));
  }
}

}  // namespace
