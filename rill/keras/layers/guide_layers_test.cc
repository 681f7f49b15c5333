// What the guides say of layers, row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using ::testing::ElementsAre;
using tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::sample, tf::testing::values;

namespace {

TEST(KerasGuide, DenseIsAWPlusB) {
  RILL_SHOWS("K05", "K06", "K07");
  layers::Dense d({.units = 3, .activation = "relu", .use_bias = true});
  const Tensor x = sample({4, 5});
  d(x);
  ASSERT_EQ(d.variables().size(), 2u);
  EXPECT_EQ(d.variables()[0].shape(), tf::TensorShape({5, 3}));
  EXPECT_EQ(d.variables()[1].shape(), tf::TensorShape({3}));
  EXPECT_TRUE(d.variables()[0].trainable() && d.variables()[1].trainable());
  d.variables()[1].assign({1.f, 2.f, 3.f});
  expect_near(d(x), tf::nn::relu(tf::matmul(x, d.variables()[0]) + d.variables()[1]));
}

TEST(KerasGuide, ActivationsByNameAndAsFunctions) {
  RILL_SHOWS("K08", "K09", "K10");
  const Tensor x = sample({2, 3});
  const auto of = [&](keras::Activation a) {
    layers::Dense d(3, {.activation = a, .kernel_initializer = "identity"});
    return d(x);
  };
  expect_near(of("relu"), of(tf::nn::relu));
  expect_near(of("sigmoid"), of(tf::sigmoid));
  expect_near(of("softmax"), of(tf::nn::softmax));
  expect_near(of("sigmoid"), tf::sigmoid(x));
  expect_near(of([](const Tensor& t) { return t * 2.f; }), x * 2.f);
  expect_near(of(nullptr), x);
  expect_near(of({}), x);
  EXPECT_EQ(keras::Activation(tf::nn::relu).name(), "relu");
  expect_error<tf::errors::InvalidArgument>([&] { of("rellu"); }, "relu");
}

TEST(KerasGuide, InitializersAndBias) {
  RILL_SHOWS("K11", "K12", "K13");
  layers::Dense no_bias(4, {.use_bias = false});
  no_bias(sample({1, 4}));
  EXPECT_EQ(no_bias.variables().size(), 1u);
  layers::Dense d(4, {.kernel_initializer = "orthogonal",
                      .bias_initializer = keras::initializers::constant(2.0)});
  d(sample({1, 4}));
  const Tensor k = d.variables()[0];
  expect_near(tf::matmul(k, k, {.transpose_a = true}), tf::eye(4), 1e-5);
  EXPECT_THAT(values(d.variables()[1]), ElementsAre(2, 2, 2, 2));
}

TEST(KerasGuide, TheDefaultBiasIsZero) {
  RILL_SHOWS("K14");
  layers::Dense d(64);
  d(sample({1, 64}));
  const auto kernel = values(d.variables()[0]), bias = values(d.variables()[1]);
  EXPECT_THAT(bias, ::testing::Each(0.f));
  const float limit = std::sqrt(6.f / 128.f);  // Glorot's
  for (float v : kernel) EXPECT_LE(std::abs(v), limit);
  EXPECT_GT(*std::max_element(kernel.begin(), kernel.end()), 0.9f * limit);
}

TEST(KerasGuide, RegularizersAddToTheLoss) {
  RILL_SHOWS("K15", "K16", "K17");
  layers::Dense d(2, {.kernel_initializer = "ones",
                      .bias_initializer = keras::initializers::constant(3.0),
                      .kernel_regularizer = keras::regularizers::l1(0.01),
                      .bias_regularizer = keras::regularizers::l2(0.01)});
  d(sample({1, 5}));
  const auto losses = d.losses();
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_NEAR(losses[0].item<float>(), 0.1, 1e-6);
  EXPECT_NEAR(losses[1].item<float>(), 0.18, 1e-6);
  layers::Dense plain(2);
  plain(sample({1, 5}));
  EXPECT_TRUE(plain.losses().empty());
  // fit's loss has them.
  keras::Sequential m({d});
  m.compile({.optimizer = keras::optimizers::SGD(0.0), .loss = "mse"});
  const Tensor x = tf::zeros({4, 5}), y = tf::fill({4, 2}, 3.f);
  EXPECT_NEAR(m.evaluate(x, y, {.verbose = 0})["loss"], 0.28, 1e-6);
  EXPECT_NEAR(m.fit(x, y, {.verbose = 0})["loss"][0], 0.28, 1e-6);
}

TEST(KerasGuide, ActivationSoftmaxFlattenReshape) {
  RILL_SHOWS("K18", "K19", "K20");
  const Tensor x = sample({3, 4});
  expect_near(layers::Activation("softmax")(x), tf::nn::softmax(x));
  EXPECT_EQ(layers::Flatten()(tf::zeros({2, 28, 28, 1})).shape(), tf::TensorShape({2, 784}));
  keras::Sequential m({layers::Reshape({.target_shape = {1, 28, 28}, .input_shape = {28 * 28}}),
                       layers::Flatten(), layers::Dense(10)});
  // Only the number of elements of a sample matters.
  EXPECT_EQ(m(tf::zeros({5, 784})).shape(), tf::TensorShape({5, 10}));
  EXPECT_EQ(m(tf::zeros({1, 1, 784})).shape(), tf::TensorShape({1, 10}));
  EXPECT_EQ(m(tf::zeros({32, 28, 28})).shape(), tf::TensorShape({32, 10}));
}

TEST(KerasGuide, ReshapeInAllForms) {
  const Tensor x = tf::zeros({2, 6});
  const tf::TensorShape want({2, 3, 2}), shape({3, 2});
  const layers::Reshape named{{.target_shape = {3, 2}}};
  const std::int64_t three = 3;
  EXPECT_EQ(named(x).shape(), want);
  EXPECT_EQ(layers::Reshape({.target_shape = {3, 2}})(x).shape(), want);
  EXPECT_EQ(layers::Reshape({.target_shape = {6}})(x).shape(), tf::TensorShape({2, 6}));
  EXPECT_EQ(layers::Reshape({three, -1})(x).shape(), want);
  EXPECT_EQ(layers::Reshape({6})(x).shape(), tf::TensorShape({2, 6}));
  EXPECT_EQ(layers::Reshape(shape, {.input_shape = {6}})(x).shape(), want);
  EXPECT_EQ(layers::Reshape{shape}(x).shape(), want);
}

TEST(KerasGuide, SoftmaxLayer) {
  RILL_SHOWS("K31");
  const Tensor x = sample({3, 4});
  expect_near(layers::Softmax()(x), tf::nn::softmax(x));
}

TEST(KerasGuide, RegularizersAreFunctionsOfWeights) {
  RILL_SHOWS("L34");
  const Tensor w = tf::constant({{1.f, -2.f}, {3.f, 0.f}});
  EXPECT_NEAR(keras::regularizers::l1(0.01)(w).item<float>(), 0.06, 1e-7);
  EXPECT_NEAR(keras::regularizers::l2(0.01)(w).item<float>(), 0.14, 1e-7);
}

struct WithConstraint : layers::Layer {
  tf::Variable w;
  void build(const tf::TensorShape&) override {
    w = add_weight("w", {2}, {.initializer = "zeros", .constraint = [](const Tensor& v) {
                                return tf::minimum(v, 0.25f);
                              }});
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return x * w; }
};

// A constraint projects its weight after each update, whatever the optimizer.
TEST(KerasGuide, ConstraintsProjectAfterUpdates) {
  RILL_SHOWS("L35");
  layers::Dense d(2, {.kernel_initializer = "zeros",
                      .activity_regularizer = keras::regularizers::l2(0.5),
                      .kernel_constraint = "non_neg",
                      .bias_constraint = keras::constraints::max_norm(1)});
  d(tf::ones({1, 2}));
  const tf::Variable kernel = d.variables()[0], bias = d.variables()[1];
  const auto gradients = [&]() -> tf::GradientsAndVariables {
    return {{tf::constant({{1.f, -1.f}, {-2.f, 2.f}}), kernel}, {tf::constant({-3.f, -4.f}), bias}};
  };
  keras::optimizers::SGD(1.0).apply_gradients(gradients());
  EXPECT_THAT(values(kernel), ElementsAre(0, 1, 2, 0));
  expect_near(bias, tf::constant({0.6f, 0.8f}));
  tf::compat::v1::train::GradientDescentOptimizer(1.0).apply_gradients(gradients());
  EXPECT_THAT(values(kernel), ElementsAre(0, 2, 4, 0));
  // What the layer gives adds to the loss: half the sum of squares.
  const Tensor y = d(tf::ones({1, 2}));
  ASSERT_EQ(d.losses().size(), 1u);
  EXPECT_NEAR(d.losses()[0].item<float>(), 0.5f * tf::reduce_sum(tf::square(y)).item<float>(),
              1e-5);
  // By the sample: four alike have the loss of one.
  const float of_one = d.losses()[0].item<float>();
  d(tf::ones({4, 2}));
  EXPECT_NEAR(d.losses()[0].item<float>(), of_one, 1e-5);
  // A tracked variable.
  WithConstraint own;
  own(tf::ones({2}));
  keras::optimizers::SGD(1.0).apply_gradients({{tf::constant({-1.f, 1.f}), own.w}});
  EXPECT_THAT(values(own.w), ElementsAre(0.25f, -1));
}

}  // namespace
