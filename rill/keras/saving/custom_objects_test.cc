// Models that were compiled with user-defined losses and metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/io/zip.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/saving/registration.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
using rill::saving_tests::fresh_folder;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

// ---- without arguments, never registered
struct Stranger : keras::Loss {
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return tf::reduce_mean(tf::abs(y_true - y_pred), -1);
  }
};
// ---- without arguments
struct PlainLoss : Stranger {};
// ---- with an argument, from a Config
struct PowerLoss : keras::Loss {
  explicit PowerLoss(double p, keras::LossOptions o = {}) : Loss(std::move(o)), power(p) {}
  static PowerLoss from_config(const keras::Config& c) {
    return PowerLoss(c["power"].as_double(), {.reduction = c["reduction"] == keras::Config("sum")
                                                               ? keras::Reduction::SUM
                                                               : keras::Reduction::AUTO});
  }
  keras::Config get_config() const override {
    keras::Config c = Loss::get_config();
    c.set("power", power);
    return c;
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return tf::reduce_mean(tf::pow(tf::abs(y_true - y_pred), static_cast<float>(power)), -1);
  }
  double power;
};
struct Largest : keras::Metric {
  tf::Variable largest = add_weight("largest");
  double scale;
  explicit Largest(double s = 1) : scale(s) {}
  explicit Largest(const keras::Config& c) : Largest(c["scale"].as_double()) {}
  keras::Config get_config() const override {
    keras::Config c = Metric::get_config();
    c.set("scale", scale);
    return c;
  }
  void update_state(const Tensor&, const Tensor& y_pred, const Tensor&) override {
    largest.assign(tf::maximum(largest, tf::reduce_max(y_pred) * static_cast<float>(scale)));
  }
  Tensor result() override { return largest.value(); }
};
struct StrangeMetric : Largest {};

// ---- functions
Tensor absolute(const Tensor& y_true, const Tensor& y_pred) {
  return tf::reduce_mean(tf::abs(y_true - y_pred), -1);
}
Tensor other_absolute(const Tensor& y_true, const Tensor& y_pred) {
  return absolute(y_true, y_pred) * 2.f;
}
Tensor of_operands(const tf::Operand& y_true, const tf::Operand& y_pred) {
  return absolute(tf::to_tensor(y_true), tf::to_tensor(y_pred)) * 3.f;
}
constexpr auto kLambda = [](const Tensor& t, const Tensor& p) { return absolute(t, p) * 4.f; };

void register_all() {
  static const bool once = [] {
    keras::utils::register_keras_serializable<PlainLoss>("PlainLoss");
    keras::utils::register_keras_serializable<PowerLoss>("tests", "PowerLoss");  // as Python
    keras::utils::register_keras_serializable<Largest>("Largest", "tests");
    keras::utils::register_keras_serializable("absolute", absolute);
    keras::utils::register_keras_serializable("of_operands", of_operands, "tests");
    keras::utils::register_keras_serializable("four_times", kLambda);
    return true;
  }();
  static_cast<void>(once);
}

keras::Sequential model() {
  return keras::Sequential({keras::layers::Dense(
      1, {.use_bias = false, .kernel_initializer = "ones", .input_shape = {1}})});
}
const Tensor& x() {
  static const Tensor t = tf::reshape(tf::constant({1.f, 2.f, 3.f, 4.f}), {4, 1});
  return t;
}
const Tensor& y() {
  static const Tensor t = x() * 3.f;
  return t;
}

keras::Config saved_training(const std::string& path) {
  if (path.ends_with(".h5"))
    return keras::Config::from_json(rill::io::Hdf5Reader(path).text("", "training_config"));
  return keras::Config::from_json(
      rill::io::ZipReader::open(path).read("config.json"))["compile_config"];
}

// As in Keras: the file is written, and the model in it is loaded without what compile was told.
TEST(CustomObjects, AModelWithAFunctionOfOnesOwnIsSaved) {
  const std::string folder = fresh_folder("custom_functions");
  const auto distance = [](const Tensor& t, const Tensor& p) {
    return tf::reduce_mean(tf::abs(t - p), -1);
  };
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    keras::Sequential m = model();
    m.compile({.optimizer = "sgd", .loss = distance, .metrics = {distance}});
    m.fit(x(), y(),
          {.epochs = 2,
           .verbose = 0,
           .callbacks = {keras::callbacks::ModelCheckpoint(folder + file)}});
    EXPECT_EQ(saved_training(folder + file)["loss"], keras::Config("<lambda>"));
    keras::Model back = keras::models::load_model(folder + file, {.compile = false});
    EXPECT_FALSE(back.compiled());
    EXPECT_EQ(back.get_weights()[0].item<float>(), m.get_weights()[0].item<float>());
    const auto load = [&] { keras::models::load_model(folder + file); };
    expect_error<tf::errors::NotFound>(load, "the loss is a user-defined function");
    expect_error<tf::errors::NotFound>(load, "load with {.compile = false}");
    m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {distance}});
    m.save(folder + file);
    expect_error<tf::errors::NotFound>(load, "the metric \"metric\" is a user-defined function");
    expect_error<tf::errors::NotFound>(load, "load with {.compile = false}");
  }
}

// A name alone does not make a function the library's.
TEST(CustomObjects, AFunctionOfOnesOwnThatIsCalledAsOneOfTheLibrary) {
  const std::string folder = fresh_folder("misnamed_functions");
  const keras::metrics::MeanMetricWrapper own(
      [](const Tensor& t, const Tensor& p) { return tf::reduce_mean(tf::abs(t - p), -1); },
      {.name = "mse"});
  const keras::metrics::MeanMetricWrapper library(keras::BinaryFn(keras::metrics::mse),
                                                  {.name = "error"});
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    keras::Sequential m = model();
    m.compile({.optimizer = "sgd", .loss = "mae", .metrics = {own}});
    m.save(folder + file);
    expect_error<tf::errors::NotFound>([&] { keras::models::load_model(folder + file); },
                                       "the metric \"mse\" is a user-defined function");
    m.compile({.optimizer = "sgd", .loss = "mae", .metrics = {library}});
    m.save(folder + file);
    keras::Model back = keras::models::load_model(folder + file);
    EXPECT_EQ(back.evaluate(x(), y(), {.verbose = 0})["error"],
              m.evaluate(x(), y(), {.verbose = 0})["error"]);
  }
  expect_error<tf::errors::FailedPrecondition>([&] { keras::metrics::serialize(own); },
                                               "a user-defined function");
  const keras::Config c = keras::metrics::serialize(library);
  EXPECT_EQ(c["config"]["fn"], keras::Config("mean_squared_error"));
  EXPECT_EQ(keras::metrics::deserialize(c)->name(), "error");
}

TEST(CustomObjects, ClassesThatAreKnownComeBack) {
  register_all();
  const std::string folder = fresh_folder("custom_classes");
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    keras::Sequential m = model();
    m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.001, .momentum = 0.9}),
               .loss = PowerLoss(3, {.reduction = keras::Reduction::SUM}),
               .metrics = {"mae", Largest(2)}});
    const keras::FitOptions epochs{.epochs = 2, .verbose = 0, .shuffle = false};
    m.fit(x(), y(), epochs);
    m.save(folder + file);
    const keras::Config c = saved_training(folder + file);
    // As Keras has it: archives hold the class and its registered name, HDF5 files the second.
    const char* key = file.ends_with(".h5") ? "class_name" : "registered_name";
    EXPECT_EQ(c["loss"][key], keras::Config("tests>PowerLoss"));
    EXPECT_EQ(c["metrics"][1][key], keras::Config("tests>Largest"));
    keras::Model back = keras::models::load_model(folder + file);
    ASSERT_TRUE(back.compiled());
    // The same loss, metrics and state of the optimizer: training continues as it would have.
    const auto on = m.fit(x(), y(), epochs), again = back.fit(x(), y(), epochs);
    for (const char* name : {"loss", "mae", "largest"}) EXPECT_EQ(on[name], again[name]) << name;
    EXPECT_EQ(back.get_weights()[0].item<float>(), m.get_weights()[0].item<float>());
    m.compile({.optimizer = "sgd", .loss = PlainLoss()});
    m.save(folder + file);
    EXPECT_EQ(saved_training(folder + file)["loss"][key], keras::Config("Custom>PlainLoss"));
    EXPECT_EQ(keras::models::load_model(folder + file).evaluate(x(), y(), {.verbose = 0})["loss"],
              m.evaluate(x(), y(), {.verbose = 0})["loss"]);
  }
}

TEST(CustomObjects, FunctionsThatAreKnownComeBack) {
  register_all();
  const std::string folder = fresh_folder("custom_known_functions");
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    const auto comes_back = [&](const keras::LossRef& loss, const keras::MetricRef& metric,
                                const char* saved_as) {
      keras::Sequential m = model();
      m.compile({.optimizer = "sgd", .loss = loss, .metrics = {metric}});
      m.fit(x(), y(), {.verbose = 0});
      m.save(folder + file);
      const keras::Config c = saved_training(folder + file);
      EXPECT_EQ(c["loss"], keras::Config(saved_as));
      EXPECT_EQ(c["metrics"][0]["config"]["fn"], keras::Config(saved_as));
      keras::Model back = keras::models::load_model(folder + file);
      EXPECT_EQ(back.evaluate(x(), y(), {.verbose = 0}).items(),
                m.evaluate(x(), y(), {.verbose = 0}).items())
          << saved_as;
      back.save(folder + file);  // and goes again
      EXPECT_EQ(saved_training(folder + file)["loss"], c["loss"]);
    };
    comes_back(absolute, absolute, "Custom>absolute");
    comes_back(of_operands, of_operands, "tests>of_operands");
    comes_back(kLambda, kLambda, "Custom>four_times");
    // Of the same type, but another function.
    keras::Sequential m = model();
    m.compile({.optimizer = "sgd", .loss = other_absolute});
    m.save(folder + file);
    EXPECT_EQ(saved_training(folder + file)["loss"], keras::Config("<lambda>"));
  }
  // By name, too; a metric is shown by it, as in Keras.
  keras::Sequential m = model();
  m.compile({.optimizer = "sgd", .loss = "four_times", .metrics = {absolute, "Custom>four_times"}});
  const auto scores = m.evaluate(x(), y(), {.verbose = 0});
  EXPECT_EQ(scores["loss"], 20.0);
  EXPECT_EQ(scores["absolute"], 5.0);
  EXPECT_EQ(scores["four_times"], 20.0);
}

// As Keras 2.15 writes a registered function, and one that is not.
TEST(CustomObjects, FunctionsOfKerasFiles) {
  register_all();
  const std::string path = fresh_folder("custom_keras_functions") + "/m.keras";
  keras::Sequential m = model();
  m.compile({.optimizer = "sgd", .loss = absolute});
  m.save(path);
  const auto with = [&](const char* name) {
    const rill::io::ZipReader zip = rill::io::ZipReader::open(path);
    keras::Config all = keras::Config::from_json(zip.read("config.json")),
                  c = all["compile_config"];
    const keras::Config function = keras::Config::dict({{"module", "builtins"},
                                                        {"class_name", "function"},
                                                        {"config", name},
                                                        {"registered_name", "function"}});
    c.set("loss", function);
    c.set("metrics", keras::Config::list({function}));
    all.set("compile_config", c);
    rill::io::ZipWriter out;
    out.add("metadata.json", zip.read("metadata.json"));
    out.add("config.json", all.to_json());
    out.add("model.weights.h5", zip.read("model.weights.h5"));
    rill::io::write_file_atomically(path + ".2", out.finish());
    return keras::models::load_model(path + ".2");
  };
  EXPECT_EQ(with("absolute").evaluate(x(), y(), {.verbose = 0})["absolute"], 5.0);
  expect_error<tf::errors::NotFound>([&] { with("fl"); },
                                     "keras::utils::register_keras_serializable(\"fl\", fl)");
}

// By the bare name, as Keras's archives have it, and by that with the package.
TEST(CustomObjects, BothNamesOfAClassAreUnderstood) {
  register_all();
  const keras::Config config =
      keras::Config::dict({{"reduction", "auto"}, {"name", nullptr}, {"power", 2.0}});
  const keras::LossRef loss = keras::LossRef::deserialize(
      keras::Config::dict({{"class_name", "PowerLoss"}, {"config", config}}));
  EXPECT_EQ((*loss)(y(), x()).item<float>(), (4.f + 16 + 36 + 64) / 4);
  EXPECT_EQ(loss.serialize()["class_name"], keras::Config("tests>PowerLoss"));
  const keras::MetricRef metric = keras::MetricRef::deserialize(
      keras::Config::dict({{"class_name", "tests>Largest"},
                           {"config", keras::Config::dict({{"name", "peak"}, {"scale", 5.0}})}}));
  EXPECT_EQ(metric->name(), "peak");
  metric->update_state(y(), x());
  EXPECT_EQ(metric->result().item<float>(), 20.f);
  EXPECT_EQ(metric.serialize()["class_name"], keras::Config("tests>Largest"));
}

TEST(CustomObjects, ClassesThatAreNotKnownSayWhatToDo) {
  const std::string folder = fresh_folder("custom_unknown");
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    const auto load = [&] { keras::models::load_model(folder + file); };
    keras::Sequential m = model();
    m.compile({.optimizer = "sgd", .loss = Stranger()});
    m.save(folder + file);
    expect_error<tf::errors::NotFound>(load, "unknown loss class \"Stranger\"");
    expect_error<tf::errors::NotFound>(load, "register_keras_serializable<Stranger>(\"Stranger\")");
    expect_error<tf::errors::NotFound>(load, "load with {.compile = false}");
    keras::models::load_model(folder + file, {.compile = false});
    m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {StrangeMetric()}});
    m.save(folder + file);
    expect_error<tf::errors::NotFound>(load, "unknown metric StrangeMetric");
    expect_error<tf::errors::NotFound>(load, "register_keras_serializable<StrangeMetric>");
    expect_error<tf::errors::NotFound>(load, "load with {.compile = false}");
  }
  // What a file cannot hold can be left out.
  keras::Sequential m = model();
  m.compile({.optimizer = keras::optimizers::SGD([](const Tensor&) { return tf::constant(0.1f); }),
             .loss = "mse"});
  expect_error<tf::errors::FailedPrecondition>([&] { m.save(folder + "/m.h5"); },
                                               "{.include_optimizer = false}");
  m.save(folder + "/m.h5", {.include_optimizer = false});
}

TEST(CustomObjects, AReductionThatGetsLostIsAnError) {
  register_all();
  const std::string path = fresh_folder("custom_reduction") + "/m.h5";
  struct Summed : PlainLoss {
    Summed() { options_.reduction = keras::Reduction::SUM; }
    std::string class_name() const override { return "PlainLoss"; }
  };
  keras::Sequential m = model();
  m.compile({.optimizer = "sgd", .loss = Summed()});
  m.save(path);
  expect_error<tf::errors::InvalidArgument>([&] { keras::models::load_model(path); },
                                            "says reduction = \"sum\"");
}

TEST(CustomObjects, TheCallThatRegistersALayerIsCpp) {
  expect_error<tf::errors::NotFound>(
      [] { keras::layers::from_config("Custom>Scalf", keras::Config::dict()); },
      "keras::utils::register_keras_serializable<Scalf>(\"Custom\", \"Scalf\")");
  expect_error<tf::errors::NotFound>(
      [] { keras::layers::from_config("Scalf", keras::Config::dict()); },
      "keras::utils::register_keras_serializable<Scalf>(\"Scalf\")");
}

TEST(CustomObjects, PackageAndNameInEitherOrder) {
  EXPECT_EQ(keras::registered_name(typeid(PowerLoss), "tests", "PowerLoss"), "tests>PowerLoss");
  EXPECT_EQ(keras::registered_name(typeid(PowerLoss), "PowerLoss", "tests"), "tests>PowerLoss");
  expect_error<tf::errors::InvalidArgument>(
      [] { keras::utils::register_keras_serializable<PowerLoss>("a", "b"); }, ".package = \"a\"");
}

}  // namespace
