// Models that are trained by add_loss alone need no labels.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Nest, tf::Tensor;
using tf::errors::InvalidArgument;

namespace {

const Tensor x = tf::reshape(tf::range(32.f), {4, 8}) / 32.f;

keras::Model with_symbolic_loss() {
  const Tensor in = keras::Input({8}), out = layers::Dense(8, {.kernel_initializer = "ones"})(in);
  keras::Model m(in, out);
  m.add_loss(tf::reduce_mean(tf::square(in - out)));
  return m;
}

struct LossLayer : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext&) override {
    add_loss(tf::reduce_mean(tf::square(v)));
    return v;
  }
};
keras::Model with_loss_layer() {
  const Tensor in = keras::Input({8});
  return {in, std::make_shared<LossLayer>()->operator()(layers::Dense(8)(in))};
}

struct Subclass : keras::Model {
  layers::Dense dense{8};
  Subclass() { track("dense", dense); }
  Tensor call(const Tensor& v, const keras::CallContext&) override {
    const Tensor out = dense(v);
    add_loss(tf::reduce_mean(tf::square(v - out)));
    return out;
  }
};

void expect_trains(keras::Model& m) {
  m.compile({.optimizer = "sgd"});
  const keras::History h = m.fit(x, {.epochs = 3, .verbose = 0});
  EXPECT_LT(h["loss"][2], h["loss"][0]);
  const double loss = m.evaluate(x, {.verbose = 0})["loss"];
  EXPECT_LT(loss, h["loss"][2]);
  EXPECT_EQ(m.evaluate(x, {}, {.verbose = 0})["loss"], loss);
  EXPECT_EQ(m.test_on_batch(x)["loss"], loss);
  const auto data = tf::data::Dataset::from_tensor_slices(x).batch(4);
  EXPECT_EQ(m.evaluate(data, {.verbose = 0})["loss"], loss);
  EXPECT_EQ(m.evaluate(x, x, {.verbose = 0})["loss"], loss);  // labels do no harm
  EXPECT_EQ(m.train_on_batch(x)["loss"], loss);
  const keras::History all = m.fit(data, {.epochs = 2, .verbose = 0, .validation_data = x});
  EXPECT_LT(all["val_loss"][1], all["val_loss"][0]);
  for (const keras::ValidationData& v :
       {keras::ValidationData{x, {}}, keras::ValidationData{x}, keras::ValidationData(data)})
    EXPECT_TRUE(m.fit(x, {}, {.verbose = 0, .validation_data = v}).contains("val_loss"));
  EXPECT_TRUE(m.fit(x, {.verbose = 0, .validation_split = 0.5}).contains("val_loss"));
}

TEST(NoLabels, ASymbolicLoss) {
  keras::Model m = with_symbolic_loss();
  // (8 * mean - x)^2 of ones, before the first step.
  const Tensor out = tf::matmul(x, tf::ones({8, 8}));
  m.compile({.optimizer = "sgd"});
  EXPECT_NEAR(m.evaluate(x, {.verbose = 0})["loss"],
              tf::reduce_mean(tf::square(x - out)).item<float>(), 1e-5);
  expect_trains(m);
}
TEST(NoLabels, ALossOfALayer) {
  keras::Model m = with_loss_layer();
  expect_trains(m);
}
TEST(NoLabels, ALossOfASubclass) {
  Subclass m;
  expect_trains(m);
}

// As in Keras, where a planned step leaves symbols without values; here it leaves nothing.
TEST(NoLabels, LossesOfAnEagerStepCanBeRead) {
  Subclass m;
  m.compile({.optimizer = "sgd", .run_eagerly = true});
  m.fit(x, {.verbose = 0});
  ASSERT_EQ(m.losses().size(), 1u);
  const double loss = m.evaluate(x, {.verbose = 0})["loss"];
  ASSERT_EQ(m.losses().size(), 1u);
  EXPECT_NEAR(m.losses()[0].item<float>(), loss, 1e-6);
}

TEST(NoLabels, ALossOfCompileNeedsThem) {
  keras::Sequential m({keras::Input({8}), layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  for (const auto& f : std::vector<std::function<void()>>{
           [&] { m.fit(x, {.verbose = 0}); }, [&] { m.evaluate(x, {.verbose = 0}); },
           [&] { m.train_on_batch(x); },
           [&] { m.fit(tf::data::Dataset::from_tensor_slices(x).batch(4), {.verbose = 0}); }})
    expect_error<InvalidArgument>(f, "target data is missing: compile was given a loss");
  expect_error<InvalidArgument>(
      [&] {
        m.fit(x, tf::ones({4, 1}), {.verbose = 0, .validation_data = x});
      },
      "target data is missing");
}

TEST(NoLabels, MetricsOfCompileAreLeftOut) {
  keras::Model m = with_symbolic_loss();
  m.compile({.optimizer = "sgd", .metrics = {"mae"}});
  const keras::History h = m.fit(x, {.verbose = 0});
  EXPECT_EQ(h.history.keys(), std::vector<std::string>{"loss"});  // as Keras
}

}  // namespace
