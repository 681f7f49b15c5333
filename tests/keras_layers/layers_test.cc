// Every layer beside real Keras: the configuration as Keras saves it is read, the weights are
// set, and outputs and gradients must be equal. tools/keras_layers.py made the goldens, and
// tools/keras3_goldens.py those of what only Keras 3 has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/registration.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace tf = rill;
namespace keras = rill::keras;
using tf::Tensor;

namespace {

Tensor tensor_of(const keras::Config& c) {
  std::vector<double> values;
  for (const keras::Config& v : c["data"].items())
    values.push_back(v.kind() == keras::Config::Kind::boolean ? v.as_bool() : v.as_double());
  const tf::DType dtype = tf::DType::from_name(c["dtype"].as_string());
  return tf::cast(tf::reshape(tf::constant(values), c["shape"].as_shape()), dtype);
}
std::vector<Tensor> tensors_of(const keras::Config& list) {
  std::vector<Tensor> v;
  for (const keras::Config& c : list.items()) v.push_back(tensor_of(c));
  return v;
}

// The same numbers as tools/keras_layers.py.
Tensor ramp(const tf::TensorShape& shape, tf::DType dtype) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    v.push_back(static_cast<double>((i * 7) % 11 - 5) / 8.0);
  return tf::cast(tf::reshape(tf::constant(v), shape), dtype);
}

void expect_near(const Tensor& got, const keras::Config& want, double tolerance,
                 const std::string& what) {
  const Tensor expected = tensor_of(want);
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  EXPECT_EQ(got.dtype(), expected.dtype()) << what;
  const auto a = tf::cast(got, tf::float64).to_vector<double>();
  const auto b = tf::cast(expected, tf::float64).to_vector<double>();
  double largest = 1;
  for (double v : b) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * largest) << what << ", element " << i;
}

// Without what newer files say of where a class comes from.
keras::Config without_modules(const keras::Config& c) {
  if (c.is_list()) {
    keras::Config out = keras::Config::list();
    for (const keras::Config& i : c.items()) out.push_back(without_modules(i));
    return out;
  }
  if (!c.is_dict()) return c;
  keras::Config out = keras::Config::dict();
  for (const std::string& key : c.keys())
    if (key != "module" && key != "registered_name" && key != "build_config")
      out.set(key, without_modules(c[key]));
  return out;
}

void run_case(const keras::Config& c, bool newer) {
  SCOPED_TRACE(c["name"].as_string());
  const double tolerance = c["tolerance"].as_double();
  const keras::LayerRef layer = keras::layers::deserialize(c["layer"]);
  const std::vector<Tensor> inputs = tensors_of(c["inputs"]);
  tf::Nest argument =
      inputs.size() == 1 && !c["list"].as_bool() ? tf::Nest(inputs[0]) : tf::Nest(inputs);
  if (!c.get("attention_mask").is_null()) {
    std::vector<Tensor> all = inputs;
    if (all.size() == 2) all.push_back(all[1]);  // the key is the value
    all.push_back(tensor_of(c["attention_mask"]));
    argument = tf::Nest(all);
  }
  keras::CallOptions options;
  for (const keras::Config& m : c.get("masks").items())
    options.masks.push_back(m.is_null() ? Tensor() : tensor_of(m));
  options.initial_state = tensors_of(c.get("states"));
  options.arguments = c.get("call");
  if (c["training"].as_bool()) options.training = 1;
  layer->apply(argument, options);
  layer->set_weights(tensors_of(c["weights"]));

  std::vector<Tensor> floats;
  for (const Tensor& x : inputs)
    if (x.dtype().is_floating()) floats.push_back(x);
  std::vector<Tensor> outputs;
  tf::Gradients by_input, by_weight;
  {
    tf::GradientTape tape({.persistent = true});
    for (const Tensor& x : floats) tape.watch(x);
    outputs = layer->apply(argument, options).flatten();
    Tensor total;
    for (const Tensor& o : outputs) {
      if (!o.dtype().is_floating()) continue;
      const Tensor part = tf::reduce_sum(o * ramp(o.shape(), o.dtype()));
      total = total.defined() ? total + part : part;
    }
    const tf::GradientOptions zero{.unconnected_gradients = "zero"};
    by_input = tape.gradient(total, floats, zero);
    by_weight = tape.gradient(total, layer->trainable_variables(), zero);
  }
  ASSERT_EQ(outputs.size(), c["outputs"].size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expect_near(outputs[i], c["outputs"][i], tolerance, tf::format("output {}", i));
  ASSERT_EQ(by_input.size(), c["input_gradients"].size());
  for (std::size_t i = 0; i < by_input.size(); ++i)
    expect_near(by_input[i], c["input_gradients"][i], 5 * tolerance,
                tf::format("gradient by input {}", i));
  ASSERT_EQ(by_weight.size(), c["weight_gradients"].size());
  for (std::size_t i = 0; i < by_weight.size(); ++i)
    expect_near(by_weight[i], c["weight_gradients"][i], 5 * tolerance,
                tf::format("gradient by weight {}", layer->trainable_variables()[i].name()));
  // What a step in training changed: statistics that move.
  for (std::size_t i = 0; i < c["weights_after"].size(); ++i)
    expect_near(layer->weights()[i].value(), c["weights_after"][i], tolerance,
                tf::format("weight {} after", i));

  // The configuration round trip: a layer made of ours computes the same.
  const keras::Config own = keras::layers::serialize(*layer);
  const keras::LayerRef again = keras::layers::deserialize(keras::Config::from_json(own.to_json()));
  EXPECT_EQ(again->get_config().to_json(), layer->get_config().to_json());
  // Keras's own keys are all there with Keras's values.
  for (const std::string& key : c["layer"]["config"].keys()) {
    if (key == "dtype" || key == "name" || (newer && key == "axis")) continue;
    // What Keras 3 has, and is off; initializers and names of functions are written otherwise.
    if (newer && (c["layer"]["config"][key].is_null() || c["layer"]["config"][key].is_dict()))
      continue;
    ASSERT_TRUE(own["config"].contains(key)) << "config lacks " << key;
    const keras::Config ours = without_modules(own["config"][key]),
                        theirs = without_modules(c["layer"]["config"][key]);
    EXPECT_EQ(ours, theirs) << key << ": " << ours << " instead of " << theirs;
  }
  // Shapes with an open batch agree with those of the result.
  if (inputs.size() == 1 && !c["list"].as_bool() && inputs[0].dtype() == tf::float32) {
    tf::TensorShape open = inputs[0].shape();
    open.set_dim(0, -1);
    const tf::TensorShape inferred = layer->compute_output_shape(open);
    EXPECT_TRUE(inferred.is_compatible_with(outputs[0].shape()))
        << inferred << " beside " << outputs[0].shape();
  }
}

std::filesystem::path goldens() {
  const char* source = std::getenv("RILL_SOURCE_DIR");
  return std::filesystem::path(source ? source : ".") / "tests/keras_layers/goldens";
}

std::vector<std::string>& tested() {
  static std::vector<std::string> names;
  return names;
}

void run_family(const std::string& name) {
  std::ifstream in(goldens() / (name + ".jsonl"));
  ASSERT_TRUE(in) << "no goldens of " << name;
  std::string line;
  int cases = 0;
  while (std::getline(in, line)) {
    run_case(keras::Config::from_json(line), name == "newer");
    ++cases;
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(cases, 0);
}

#define FAMILY(name)                                               \
  const bool name##_listed = (tested().emplace_back(#name), true); \
  TEST(KerasLayers, name) {                                        \
    EXPECT_TRUE(name##_listed);                                    \
    run_family(#name);                                             \
  }
FAMILY(activation)
FAMILY(convolutional)
FAMILY(attention)
FAMILY(core)
FAMILY(merging)
FAMILY(newer)
FAMILY(normalization)
FAMILY(pooling)
FAMILY(recurrent)
FAMILY(regularization)
FAMILY(reshaping)

TEST(KerasLayers, EveryFileIsTested) {
  for (const auto& e : std::filesystem::directory_iterator(goldens()))
    EXPECT_THAT(tested(), ::testing::Contains(e.path().stem().string()));
}

}  // namespace
