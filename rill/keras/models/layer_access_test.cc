// The calls of a layer in a drawing, and weights given to its constructor.
#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

TEST(CallsOfALayer, AreKnownByTheirNumbers) {
  const Tensor a = keras::Input({4}), b = keras::Input({3, 4});
  const layers::Dense dense(2);
  const Tensor first = dense(a), second = dense(b);
  EXPECT_EQ(dense.get_input_at(0).as_tensor().shape(), a.shape());
  EXPECT_EQ(dense.get_output_shape_at(0), first.shape());
  EXPECT_EQ(dense.get_input_shape_at(1), b.shape());
  EXPECT_EQ(dense.get_output_at(1).as_tensor().shape(), second.shape());
  // They are the tensors themselves: a model ends there.
  const keras::Model m(b, dense.get_output_at(1).as_tensor());
  const Tensor x = tf::ones({2, 3, 4});
  EXPECT_EQ(m(x).to_vector<float>(), dense(x).to_vector<float>());
  expect_error<tf::errors::FailedPrecondition>([&] { static_cast<void>(dense.get_output_at(2)); },
                                               "asked for call 2, but the layer has 2");
}

TEST(CallsOfALayer, OfSeveralInputsAreLists) {
  const Tensor a = keras::Input({4}), b = keras::Input({4});
  const layers::Add add;
  const Tensor sum = add({a, b});
  EXPECT_EQ(add.get_input_at(0).size(), 2u);
  EXPECT_EQ(add.get_output_at(0).as_tensor().shape(), sum.shape());
}

TEST(WeightsOfAConstructor, AreThoseAfterTheBuild) {
  const Tensor kernel = tf::constant({{1.f, 2.f}, {3.f, 4.f}}), bias = tf::constant({5.f, 6.f});
  const layers::Dense dense(2, {.weights = {kernel, bias}});
  EXPECT_EQ(dense(tf::constant({{1.f, 1.f}})).to_vector<float>(), (std::vector<float>{9, 12}));
  const keras::Sequential m({layers::Dense(2, {.input_shape = {2}, .weights = {kernel, bias}})});
  EXPECT_EQ(m.get_weights()[0].to_vector<float>(), kernel.to_vector<float>());
  const layers::Embedding table(2, 2, {.weights = {kernel}});
  EXPECT_EQ(table(tf::constant({1})).to_vector<float>(), (std::vector<float>{3, 4}));
  // They are set once, and no part of the configuration.
  dense.set_weights({kernel, bias + 1.f});
  EXPECT_EQ(dense(tf::constant({{1.f, 1.f}})).to_vector<float>(), (std::vector<float>{10, 13}));
  EXPECT_FALSE(dense.get_config().contains("weights"));
}

TEST(WeightsOfAConstructor, MustFit) {
  const layers::Dense dense(2, {.weights = {tf::ones({3, 2}), tf::ones({2})}});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        dense(tf::ones({1, 4}));
      },
      "while setting the weights given to the constructor");
}

}  // namespace
