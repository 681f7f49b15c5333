// Initializers, regularizers, constraints and schedules of user-defined classes, and how files name
// classes of a user's: as Keras does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/io/zip.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/saving/registration.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using keras::Config;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

struct Hat : keras::initializers::Initializer {
  explicit Hat(double value = 2) : v(value) {}
  explicit Hat(const Config& c) : Hat(c.get("v", 2.0)) {}
  Tensor call(const tf::TensorShape& shape, tf::DType dtype) const override {
    return tf::cast(tf::fill(shape, static_cast<float>(v)), dtype);
  }
  Config get_config() const override { return Config::dict({{"v", v}}); }
  double v;
};
struct Reg : keras::regularizers::Regularizer {
  explicit Reg(double value = 2) : v(value) {}
  static Reg from_config(const Config& c) { return Reg(c["v"].as_double()); }
  Tensor call(const Tensor& x) const override { return tf::reduce_sum(x) * v; }
  Config get_config() const override { return Config::dict({{"v", v}}); }
  double v;
};
struct Con : keras::constraints::Constraint {
  Tensor call(const Tensor& w) const override { return tf::minimum(w, 1.5f); }
};
struct Warm : keras::optimizers::schedules::LearningRateSchedule {
  explicit Warm(double rate = 0.1) : r(rate) {}
  explicit Warm(const Config& c) : Warm(c["r"].as_double()) {}
  Tensor operator()(const Tensor& step) const override {
    return static_cast<float>(r) * tf::cast(step + 1, tf::float32);
  }
  Config get_config() const override { return Config::dict({{"r", r}}); }
  double r;
};
struct Twice : keras::Layer {
  Twice() = default;
  explicit Twice(const Config& c) : Layer(keras::LayerOptions::from_config(c)) {}
  Tensor call(const Tensor& x, const keras::CallContext&) override { return x * 2.f; }
};
struct Own : keras::Loss {
  Tensor call(const Tensor& y, const Tensor& p) override {
    return tf::reduce_mean(tf::square(y - p), -1);
  }
};
struct Mine : keras::metrics::Mean {
  using Mean::Mean;
  void update_state(const Tensor& y, const Tensor& p, const Tensor& w) override {
    Mean::update_state(y - p, Tensor(), w);
  }
};

keras::Sequential model() {
  return keras::Sequential({Twice(), layers::Dense(2, {.kernel_initializer = Hat(0.5),
                                                       .bias_initializer = "zeros",
                                                       .kernel_regularizer = Reg(0.25),
                                                       .kernel_constraint = Con(),
                                                       .input_shape = {3}})});
}
const Tensor& x() {
  static const Tensor t = tf::ones({4, 3});
  return t;
}
void compile(keras::Sequential& m) {
  m.build({tf::None, 3});
  m.compile({.optimizer = keras::optimizers::SGD(Warm(0.01)), .loss = Own(), .metrics = {Mine()}});
  m.train_on_batch(x(), tf::ones({4, 2}));
}
void add_all(keras::utils::custom_object_scope& scope) {
  scope.add<Hat>("Hat").add<Reg>("Reg").add<Con>("Con").add<Warm>("Warm").add<Twice>("Twice");
  scope.add<Own>("Own").add<Mine>("Mine");
}
Config config_of(const std::string& path) {
  return Config::from_json(rill::io::ZipReader::open(path).read("config.json"));
}
std::string folder() {
  if (const char* keep = std::getenv("RILL_OWN_PARTS")) return keep;
  return rill::testing::fresh_folder("own_parts");
}

TEST(OwnParts, DoWhatTheySay) {
  EXPECT_EQ(Hat(3)({2}).to_vector<float>(), (std::vector<float>{3, 3}));
  const keras::Initializer i = Hat(3);
  EXPECT_EQ(i({2}, tf::float64).to_vector<double>(), (std::vector<double>{3, 3}));
  EXPECT_EQ(i.class_name(), "Hat");
  EXPECT_EQ(i.config(), "{\"v\": 3.0}");
  EXPECT_EQ(keras::Regularizer(Reg(2))(x()).item<float>(), 24.f);
  EXPECT_EQ(keras::Constraint(Con())(x() * 2.f)[0].to_vector<float>(),
            (std::vector<float>{1.5, 1.5, 1.5}));
  keras::Sequential m = model();
  m.build({tf::None, 3});
  EXPECT_EQ(m.weights()[0].to_vector<float>(), std::vector<float>(6, 0.5f));
  EXPECT_EQ(m.losses()[0].item<float>(), 0.75f);
  struct Nothing : keras::Initializer {};
  expect_error<tf::errors::FailedPrecondition>([] { Nothing()({2}); },
                                               "the class Nothing has no call");
}

// By the bare name where a class is not registered or a scope knows it, with the package where it
// is registered; the module of both is null.
TEST(OwnParts, FilesNameThemAsKerasDoes) {
  const std::string at = folder();
  const auto expect_names = [&](const std::string& file, const std::string& package, int version) {
    keras::Sequential m = model();
    compile(m);
    m.save(at + "/" + file + ".keras", {.keras_version = version});
    const Config c = config_of(at + "/" + file + ".keras");
    const auto check = [&](const Config& record, const std::string& name) {
      EXPECT_TRUE(record["module"].is_null()) << file << name;
      EXPECT_EQ(record["class_name"], Config(name)) << file;
      EXPECT_EQ(record["registered_name"], Config(package + name)) << file;
    };
    const auto layer_records = c["config"]["layers"].items();
    for (const Config& l : layer_records)
      if (l["config"].contains("units")) {
        check(l["config"]["kernel_initializer"], "Hat");
        check(l["config"]["kernel_regularizer"], "Reg");
        check(l["config"]["kernel_constraint"], "Con");
        EXPECT_EQ(l["config"]["kernel_initializer"]["config"]["v"], Config(0.5));
      } else if (l["class_name"] != Config("InputLayer")) {
        check(l, "Twice");
      }
    check(c["compile_config"]["optimizer"]["config"]["learning_rate"], "Warm");
    check(c["compile_config"]["loss"], "Own");
    check(c["compile_config"]["metrics"][0], "Mine");
    m.save(at + "/" + file + ".h5");
    const Config h5 =
        Config::from_json(rill::io::Hdf5Reader(at + "/" + file + ".h5").text("", "model_config"));
    EXPECT_THAT(h5.to_json(), testing::HasSubstr("{\"class_name\": \"" + package + "Twice\""));
  };
  for (const int version : {2, 3}) {
    expect_names("plain" + std::to_string(version), "", version);
    {
      keras::utils::custom_object_scope scope;
      add_all(scope);
      expect_names("scope" + std::to_string(version), "", version);
      for (const std::string file : {"plain", "scope"})
        for (const std::string end : {".keras", ".h5"}) {
          keras::Model back =
              keras::models::load_model(at + "/" + file + std::to_string(version) + end);
          EXPECT_EQ(back.losses().size(), 1u);
          keras::Sequential m = model();
          compile(m);
          EXPECT_EQ(back(x()).to_vector<float>(), m(x()).to_vector<float>());
          // The schedule goes on where it was.
          back.train_on_batch(x(), tf::ones({4, 2}));
          m.train_on_batch(x(), tf::ones({4, 2}));
          EXPECT_EQ(back(x()).to_vector<float>(), m(x()).to_vector<float>());
        }
    }
  }
  expect_error<tf::errors::NotFound>([&] { keras::models::load_model(at + "/plain2.keras"); },
                                     "register_keras_serializable<Twice>(\"Twice\")");
  keras::utils::custom_object_scope scope;
  scope.add<Twice>("Twice").add<Reg>("Reg").add<Con>("Con");
  expect_error<tf::errors::InvalidArgument>(
      [&] { keras::models::load_model(at + "/plain2.keras"); }, "no initializer is called \"Hat\"");
  expect_error<tf::errors::InvalidArgument>(
      [&] { keras::models::load_model(at + "/plain2.keras"); },
      "register_keras_serializable<Hat>(\"Hat\")");
  keras::utils::register_keras_serializable<Hat>("Hat");
  keras::utils::register_keras_serializable<Reg>("Reg");
  keras::utils::register_keras_serializable<Con>("Con");
  keras::utils::register_keras_serializable<Warm>("Warm");
  keras::utils::register_keras_serializable<Twice>("Twice");
  keras::utils::register_keras_serializable<Own>("Own");
  keras::utils::register_keras_serializable<Mine>("Mine");
  for (const int version : {2, 3}) {
    expect_names("registered" + std::to_string(version), "Custom>", version);
    EXPECT_NO_THROW(
        keras::models::load_model(at + "/registered" + std::to_string(version) + ".keras"));
  }
  EXPECT_EQ(keras::initializers::get("Hat")({1}).item<float>(), 2.f);
}

TEST(OwnParts, AFileNeedsTheArguments) {
  struct Bare : keras::optimizers::schedules::LearningRateSchedule {
    Tensor operator()(const Tensor& step) const override {
      return tf::cast(step, tf::float32) * 0.1f;
    }
  };
  keras::Sequential m({layers::Dense(1, {.input_shape = {1}})});
  m.compile({.optimizer = keras::optimizers::SGD(Bare()), .loss = "mse"});
  const std::string at = rill::testing::fresh_folder("own_parts_bare");
  for (const std::string end : {".keras", ".h5"}) {
    expect_error<tf::errors::Unimplemented>([&] { m.save(at + "/m" + end); },
                                            "the class Bare has no get_config");
    EXPECT_FALSE(rill::io::file_exists(at + "/m" + end));
  }
  struct NoArguments : keras::Regularizer {
    Tensor call(const Tensor& t) const override { return tf::reduce_sum(t); }
  };
  keras::Sequential n(
      {layers::Dense(1, {.kernel_regularizer = NoArguments(), .input_shape = {1}})});
  expect_error<tf::errors::Unimplemented>([&] { n.save(at + "/n.keras"); },
                                          "the class NoArguments has no get_config");
}

}  // namespace
