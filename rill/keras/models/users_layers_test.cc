// Layers of a user's own inside models: what they add, mask and freeze counts as in Keras.
// Expected numbers are those of Keras 2.15.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::values;

namespace {

// Numbers that any program can make: (7 i + c) mod 11, in tenths above `from`.
Tensor tenths(const tf::TensorShape& shape, int c, double from) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>((7 * static_cast<int>(i) + c) % 11 / 10.0 + from);
  return tf::reshape(tf::constant(v), shape);
}
void set_weights(const keras::Model& m, double from = -.4) {
  std::vector<Tensor> all;
  for (const tf::Variable& v : m.weights())
    all.push_back(tenths(v.shape(), static_cast<int>(all.size()) + 2, from));
  m.set_weights(all);
}
const Tensor& x() {
  static const Tensor t = tenths({8, 4}, 1, -.5);
  return t;
}
const Tensor& y() {
  static const Tensor t = tenths({8, 1}, 3, 0);
  return t;
}
keras::History fit(keras::Model& m, bool eagerly = false) {
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = .1}),
             .loss = "mse",
             .run_eagerly = eagerly});
  return m.fit(x(), y(), {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
}
void expect_history(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6);
}

struct Adds : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext&) override {
    add_loss(tf::reduce_mean(v * v) * .3f);
    add_metric(tf::reduce_max(v), "top");
    return v * 2.f;
  }
};
struct Pass : layers::Layer {
  explicit Pass(bool copies) : copies(copies) { set_supports_masking(true); }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return copies ? v * 1.f : v; }
  bool copies;
};
struct ReadsMask : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext& context) override {
    return v * tf::expand_dims(tf::cast(context.mask, tf::float32), -1) * 3.f;
  }
};
struct Normalizes : layers::Layer {
  layers::BatchNormalization norm{{.momentum = .5}};
  Normalizes() { track("norm", norm); }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return norm(v); }
};
TEST(UsersLayers, AStackKeepsActivityRegularizers) {
  for (const bool eagerly : {false, true}) {
    keras::Sequential m(
        {layers::Dense(5, {.activity_regularizer = "l1", .input_shape = {4}}), layers::Dense(1)});
    set_weights(m);
    expect_history(fit(m, eagerly)["loss"], {0.15305809676647186, 0.11035211384296417});
  }
}

TEST(UsersLayers, WhatTheyAddInAStackCounts) {
  for (const bool eagerly : {false, true}) {
    keras::Sequential m({layers::Dense(5, {.input_shape = {4}}), Adds(), layers::Dense(1)});
    set_weights(m);
    const keras::History h = fit(m, eagerly);
    expect_history(h["loss"], {0.2390834093093872, 0.2031848281621933});
    expect_history(h["top"], {0.8804608583450317, 0.8384854793548584});
  }
}

TEST(UsersLayers, WhatTheyAddInAFunctionalModelCounts) {
  for (const bool eagerly : {false, true}) {
    auto i = keras::Input({4});
    keras::Model m(i, layers::Dense(1)(Adds()(layers::Dense(5)(i))));
    set_weights(m);
    const keras::History h = fit(m, eagerly);
    expect_history(h["loss"], {0.2390834093093872, 0.2031848281621933});
    expect_history(h["top"], {0.8804608583450317, 0.8384854793548584});
    const keras::Logs scores = m.evaluate(x(), y(), {.batch_size = 4, .verbose = 0});
    EXPECT_NEAR(scores["loss"], 0.14595462381839752, 2e-6);
    EXPECT_NEAR(scores["top"], 0.8386213183403015, 2e-6);
  }
}

TEST(UsersLayers, DrawingLeavesLossesOfTheLastCall) {
  keras::Sequential m({layers::Dense(5, {.input_shape = {4}}), Adds()});
  m(x());
  ASSERT_EQ(m.losses().size(), 1u);
  const float loss = m.losses()[0].item<float>();
  EXPECT_EQ(m.outputs().size(), 1u);  // draws
  m.compute_output_shape({tf::None, 4});
  ASSERT_EQ(m.losses().size(), 1u);
  EXPECT_EQ(m.losses()[0].item<float>(), loss);
}

// Two samples of three steps, of which the second has one and the first two.
Tensor steps() {
  return tenths({2, 3, 2}, 2, .1) *
         tf::reshape(tf::constant({1.f, 1.f, 0.f, 1.f, 0.f, 0.f}), {2, 3, 1});
}

const std::vector<float> kMasked{-0.09048859030008316f, 0.2407417595386505f,
                                 0.13105157017707825f,  0.0f,
                                 0.10199526697397232f,  0.1547316312789917f};

TEST(UsersLayers, MasksGoThroughThem) {
  for (const bool copies : {true, false}) {
    auto i = keras::Input({3, 2});
    keras::Model m(i, layers::LSTM(3)(Pass(copies)(layers::Masking()(i))));
    set_weights(m);
    expect_near(m(steps()), tf::reshape(tf::constant(kMasked), {2, 3}));
    expect_near(m.predict(steps(), {.verbose = 0}), tf::reshape(tf::constant(kMasked), {2, 3}));
  }
}

TEST(UsersLayers, TheyReadMasks) {
  auto i = keras::Input({3, 2});
  keras::Model m(i, ReadsMask()(layers::Masking()(i)));
  expect_near(m(steps()), steps() * 3.f);
}

TEST(UsersLayers, MasksReachThemInAModelInside) {
  auto i = keras::Input({3, 2});
  keras::Model inner(i, layers::LSTM(3)(Pass(true)(i)));
  auto j = keras::Input({3, 2});
  keras::Model m(j, inner(layers::Masking()(j)));
  set_weights(m);
  expect_near(m(steps()), tf::reshape(tf::constant(kMasked), {2, 3}));
  // And what has no mask runs without.
  expect_near(inner(steps()), inner.get_layer(2)->apply(steps()).as_tensor());
}

struct RefusesMasks : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext& context) override {
    if (context.mask.defined()) throw tf::errors::Unimplemented("no masks here");
    return v;
  }
};

TEST(UsersLayers, AMaskThatTheyWereNotTracedForIsAnError) {
  auto i = keras::Input({3, 2});
  keras::Model inner(i, RefusesMasks()(i));
  auto j = keras::Input({3, 2});
  expect_error<tf::errors::FailedPrecondition>(
      [&] { keras::Model(j, inner(layers::Masking()(j))); }, "now others come. Keep the object");
}

TEST(UsersLayers, FreezingThemTakesEffectAfterTheyWereDrawn) {
  auto i = keras::Input({4});
  const std::vector<float> mean{.6f, .2f, .9f, .5f},
      moved{0.11562500894069672f, 0.05937499925494194f, -0.014062508940696716f, 0.015625f};
  for (const bool frozen : {true, false}) {
    Normalizes l;
    keras::Model m(i, layers::Dense(1)(l(i)));
    set_weights(m, .2);
    if (frozen) l.set_trainable(false);
    const std::vector<double> loss = fit(m)["loss"];
    if (frozen)
      expect_history(loss, {0.9876035451889038, 0.2153758406639099});
    else
      expect_history(loss, {3.1486029624938965, 0.14353251457214355});
    // The statistics stay as they are, or follow the batches.
    expect_near(l.norm.weights()[2].value(), tf::constant(frozen ? mean : moved), 2e-6);
  }
}

TEST(UsersLayers, TrainingThatTheCallNamedIsKept) {
  Normalizes l;
  auto i = keras::Input({4});
  keras::Model m(i, l(i, {.training = 0}));
  m(x(), {.training = 1});
  EXPECT_EQ(values(l.norm.weights()[2].value()), std::vector<float>(4, 0.f));
}

}  // namespace
