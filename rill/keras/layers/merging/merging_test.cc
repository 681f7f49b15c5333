#include "rill/keras/layers/merging.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::TensorShape;
using tf::testing::expect_error;

namespace {

// x with a mask, as a layer before would leave it.
Tensor masked(const Tensor& x, const Tensor& mask) {
  const Tensor y = tf::identity(x), kept = mask;
  retain(kept.impl());
  y.impl()->mask = tf::Ref<tf::TensorImpl>(kept.impl());
  return y;
}
std::vector<bool> mask_of(const Tensor& x) { return Tensor(x.impl()->mask).to_vector<bool>(); }

TEST(Merging, InOneCall) {
  const Tensor a = tf::constant({{1.f, 5.f}}), b = tf::constant({{3.f, 2.f}});
  const auto list = [](const Tensor& t) { return t.to_vector<float>(); };
  using Floats = std::vector<float>;
  EXPECT_EQ(list(layers::add({a, b})), (Floats{4, 7}));
  EXPECT_EQ(list(layers::subtract({a, b})), (Floats{-2, 3}));
  EXPECT_EQ(list(layers::multiply({a, b})), (Floats{3, 10}));
  EXPECT_EQ(list(layers::average({a, b})), (Floats{2, 3.5}));
  EXPECT_EQ(list(layers::maximum({a, b})), (Floats{3, 5}));
  EXPECT_EQ(list(layers::minimum({a, b})), (Floats{1, 2}));
  EXPECT_EQ(list(layers::concatenate({a, b})), (Floats{1, 5, 3, 2}));
  EXPECT_EQ(layers::concatenate({a, b}, {.axis = 0}).shape(), TensorShape({2, 2}));
  EXPECT_EQ(list(layers::dot({a, b}, {.axes = 1})), (Floats{13}));
  EXPECT_EQ(list(layers::Add()({a, b, b})), (Floats{7, 9}));
}

TEST(Merging, InAFunctionalModel) {
  const auto a = keras::Input({4}), b = keras::Input({4});
  const auto joined = layers::concatenate({layers::add({a, b}), layers::Dense(3)(a)});
  EXPECT_EQ(joined.shape(), TensorShape({tf::None, 7}));
  const auto steps = keras::Input({tf::None, 3});
  EXPECT_EQ(layers::dot({steps, steps}, {.axes = 2}).shape(),
            TensorShape({tf::None, tf::None, tf::None}));
  const auto low = keras::Input({3});
  EXPECT_EQ(layers::add({steps, low}).shape(), TensorShape({tf::None, tf::None, 3}));
}

TEST(Merging, AStepCountsWhereAllDo) {
  const Tensor x = tf::ones({1, 3, 2});
  const Tensor a = masked(x, tf::constant({{1, 1, 0}}) > 0),
               b = masked(x, tf::constant({{0, 1, 1}}) > 0);
  EXPECT_EQ(mask_of(layers::add({a, b})), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(mask_of(layers::add({a, x})), (std::vector<bool>{true, true, false}));
  EXPECT_FALSE(layers::add({x, x}).impl()->mask);
  EXPECT_EQ(mask_of(layers::concatenate({a, b})), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(mask_of(layers::concatenate({a, x}, {.axis = 1})),
            (std::vector<bool>{true, true, false, true, true, true}));
  EXPECT_FALSE(layers::dot({a, b}, {.axes = 2}).impl()->mask);
  // Also where the inputs are cast to the layer's dtype.
  EXPECT_EQ(mask_of(layers::add({a, b}, {.dtype = "float64"})),
            (std::vector<bool>{false, true, false}));
}

TEST(Merging, BadInputsAreNamed) {
  using tf::errors::InvalidArgument;
  const Tensor x = tf::ones({2, 3});
  expect_error<InvalidArgument>([&] { layers::Add()(x); }, "should be called on a list of inputs");
  expect_error<InvalidArgument>([&] { layers::subtract({x, x, x}); }, "exactly 2 inputs; got 3");
  expect_error<InvalidArgument>(
      [&] {
        layers::add({x, tf::ones({1, 3})});
      },
      "different batch sizes: 2 and 1");
  expect_error<InvalidArgument>(
      [&] {
        layers::dot({x, x}, {.axes = 0});
      },
      "expected one after the batch");
  expect_error<InvalidArgument>(
      [&] {
        layers::dot({x, tf::ones({2, 4})}, {.axes = 1});
      },
      "different sizes along the axes");
  expect_error<InvalidArgument>([&] { layers::Dot({.normalize = true}); }, "axes has 0 entries");
}

}  // namespace
