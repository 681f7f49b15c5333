// Losses and metrics that are added to a functional model. testdata/make_add_loss.py has Keras 2.15
// train the same model; given the files that RILL_ADD_LOSS_OUT asks for, it trains those.
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/optimizers/optimizer.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

std::string data(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/models/testdata/" + name;
}
keras::Config expected() {
  return keras::Config::from_json(rill::io::file_contents(data("add_loss.json")));
}

Tensor counted(const tf::TensorShape& shape, int step, int modulus, int shift, float by) {
  std::vector<float> v;
  for (int i = 0; i < shape.num_elements(); ++i)
    v.push_back(static_cast<float>(i * step % modulus - shift) / by);
  return tf::constant(v, tf::float32, shape);
}
Tensor given() { return counted({4, 6}, 7, 16, 0, 16); }
tf::Nest inputs() { return tf::Nest{given(), counted({4, 2}, 5, 16, 8, 8)}; }

keras::Model autoencoder() {
  const Tensor x = keras::Input({6}, {.name = "x"}), noise = keras::Input({2}, {.name = "noise"});
  const Tensor h = layers::Dense(5, {.activation = "tanh", .name = "hidden"})(x);
  const Tensor mean = layers::Dense(2, {.name = "mean"})(h);
  const Tensor log_var = layers::Dense(2, {.name = "log_var"})(h);
  const Tensor z = mean + tf::exp(0.5f * log_var) * noise;
  const Tensor y = layers::Dense(6, {.activation = "sigmoid", .name = "decoder"})(z);
  keras::Model m(tf::Nest{x, noise}, y, "vae");
  const Tensor kl = -0.5f * tf::reduce_mean(1.f + log_var - tf::square(mean) - tf::exp(log_var));
  m.add_loss(kl);
  m.add_metric(kl, "kl");
  m.add_metric(tf::abs(mean), "spread");
  for (tf::Variable& w : m.variables()) w.assign(counted(w.shape(), 5, 13, 6, 16));
  return m;
}
keras::Model compiled() {
  keras::Model m = autoencoder();
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.5}),
             .loss = "mse",
             .metrics = {"mae"}});
  return m;
}

void expect_logs(const keras::Logs& got, const keras::Config& want) {
  EXPECT_EQ(got.size(), want.keys().size());
  for (const std::string& key : want.keys())
    EXPECT_NEAR(got[key], want[key].as_double(), 2e-6) << key;
}
void expect_as_keras(keras::Model& m) {
  const keras::Config want = expected()["vae"];
  for (const keras::Config& step : want["steps"].items()) {
    m.reset_metrics();
    expect_logs(m.train_on_batch(inputs(), given()), step);
  }
  expect_logs(m.evaluate(inputs(), given(), {.batch_size = 2, .verbose = 0}), want["evaluate"]);
  const std::vector<float> y = m.predict_on_batch(inputs()).as_tensor().to_vector<float>();
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], want["predict"][i / 6][i % 6].as_double(), 2e-6) << i;
}

TEST(AddLoss, OfAFunctionalModelTrainsAsInKeras) {
  keras::Model m = compiled();
  expect_as_keras(m);
}

TEST(AddLoss, LayersAreInTheOrderOfKeras) {
  std::vector<std::string> kinds, want;
  const auto without_number = [](std::string name) {
    const std::size_t at = name.find_last_not_of("0123456789");
    return at + 1 < name.size() && name[at] == '_' ? name.substr(0, at) : name;
  };
  for (const keras::LayerRef& l : autoencoder().layers())
    kinds.push_back(without_number(l->name()));
  const keras::Config listed = expected()["layers"];
  for (const keras::Config& c : listed.items()) want.push_back(without_number(c.as_string()));
  EXPECT_EQ(kinds, want);
}

TEST(AddLoss, FilesOfKerasPredictAndTrain) {
  for (const char* name : {"add_loss.h5", "add_loss.keras"}) {
    SCOPED_TRACE(name);
    keras::Model m = keras::models::load_model(data(name));
    expect_as_keras(m);
  }
}

TEST(AddLoss, IsInOurFiles) {
  const char* out = std::getenv("RILL_ADD_LOSS_OUT");
  const std::string folder = out ? out : rill::testing::fresh_folder("add_loss");
  for (const char* name : {"/ours.h5", "/ours.keras"}) {
    SCOPED_TRACE(name);
    compiled().save(folder + name);
    keras::Model m = keras::models::load_model(folder + name);
    expect_as_keras(m);
    EXPECT_EQ(m.layers().size(), expected()["layers"].size());
  }
}

TEST(AddLoss, AfterTrainingIsMinded) {
  const Tensor x = keras::Input({2});
  const Tensor y = layers::Dense(1, {.use_bias = false, .kernel_initializer = "ones"})(x);
  keras::Model m(x, y);
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.0}), .loss = "mse"});
  const Tensor ones = tf::ones({3, 2}), zeros = tf::zeros({3, 1});
  EXPECT_FLOAT_EQ(static_cast<float>(m.train_on_batch(ones, zeros)["loss"]), 4.f);
  m.add_loss(tf::reduce_sum(y));  // 3 times 2
  m.reset_metrics();
  EXPECT_FLOAT_EQ(static_cast<float>(m.train_on_batch(ones, zeros)["loss"]), 10.f);
}

TEST(AddLoss, OfManyNumbersTrainsOnTheirSum) {
  const Tensor x = keras::Input({2});
  const Tensor y = layers::Dense(1, {.use_bias = false, .kernel_initializer = "ones"})(x);
  keras::Model m(x, y);
  m.add_loss(tf::reduce_sum(tf::square(y), 1));
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.1})});
  const keras::Config want = expected()["vector"];
  const Tensor few = tf::slice(given(), {0, 0}, {3, 2});
  for (int i = 0; i < 2; ++i) {
    m.reset_metrics();
    EXPECT_NEAR(m.train_on_batch(few, tf::zeros({3, 1}))["loss"], want["losses"][i].as_double(),
                1e-6);
  }
  const std::vector<float> kernel = m.variables()[0].value().to_vector<float>();
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(kernel[i], want["kernel"][i][0].as_double(), 1e-6);
  m.compile({.loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        m.train_on_batch(few, tf::zeros({3, 1}));
      },
      "expected scalars. tf::reduce_mean");
}

TEST(AddLoss, OfAnotherModelsTensorIsRefused) {
  const Tensor x = keras::Input({2}), other = keras::Input({2}, {.name = "stranger"});
  keras::Model m(x, layers::Dense(1)(x));
  expect_error<tf::errors::InvalidArgument>([&] { m.add_loss(tf::reduce_sum(other)); }, "stranger");
  keras::Sequential s({layers::Dense(1)});
  expect_error<tf::errors::InvalidArgument>([&] { s.add_loss(tf::reduce_sum(other)); },
                                            "expected a call on keras::Model(inputs, outputs)");
}

}  // namespace
