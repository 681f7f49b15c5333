#include "rill/keras/layers/reshaping.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
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

std::string argument(const keras::Layer& l, const char* name) {
  return l.get_config()[name].to_json();
}

TEST(Reshaping, EveryFormOfTheConstructor) {
  EXPECT_EQ(argument(layers::ZeroPadding2D(), "padding"), "[[1, 1], [1, 1]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D(3), "padding"), "[[3, 3], [3, 3]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D({1, 2}), "padding"), "[[1, 1], [2, 2]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D({{1, 2}, {3, 4}}), "padding"), "[[1, 2], [3, 4]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D({.padding = 2}), "padding"), "[[2, 2], [2, 2]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D({.padding = {1, 2}}), "padding"), "[[1, 1], [2, 2]]");
  EXPECT_EQ(argument(layers::ZeroPadding2D({.padding = {{1, 2}, {3, 4}}}), "padding"),
            "[[1, 2], [3, 4]]");
  EXPECT_EQ(argument(layers::ZeroPadding1D(2), "padding"), "[2, 2]");
  EXPECT_EQ(argument(layers::ZeroPadding1D({1, 2}), "padding"), "[1, 2]");
  EXPECT_EQ(argument(layers::Cropping1D(), "cropping"), "[1, 1]");
  EXPECT_EQ(argument(layers::Cropping2D(), "cropping"), "[[0, 0], [0, 0]]");
  EXPECT_EQ(argument(layers::Cropping2D({{1, 2}, {3, 4}}), "cropping"), "[[1, 2], [3, 4]]");
  EXPECT_EQ(argument(layers::Cropping3D(), "cropping"), "[[1, 1], [1, 1], [1, 1]]");
  EXPECT_EQ(argument(layers::Cropping3D({1, 2, 3}), "cropping"), "[[1, 1], [2, 2], [3, 3]]");
  EXPECT_EQ(argument(layers::UpSampling2D({2, 3}), "size"), "[2, 3]");
  EXPECT_EQ(argument(layers::UpSampling1D(), "size"), "2");
  EXPECT_EQ(argument(layers::Permute({2, 1}), "dims"), "[2, 1]");
  EXPECT_EQ(argument(layers::Permute({.dims = {2, 1}}), "dims"), "[2, 1]");
}

TEST(Reshaping, SizesThatAreNotKnownWhenTraced) {
  const auto image = keras::Input({tf::None, 4, 2});
  const TensorShape open({tf::None, tf::None, 8, 2});
  EXPECT_EQ(layers::UpSampling2D()(image).shape(), open);
  EXPECT_EQ(layers::UpSampling2D({.interpolation = "bilinear"})(image).shape(), open);
  EXPECT_EQ(layers::ZeroPadding2D(2)(image).shape(), open);
  EXPECT_EQ(layers::Cropping2D(1)(image).shape(), TensorShape({tf::None, tf::None, 2, 2}));
  auto x = layers::UpSampling2D({.interpolation = "bilinear"})(image);
  x = layers::Cropping2D({{1, 0}, {0, 1}})(layers::UpSampling2D()(x));
  const keras::Model model(image, x);
  EXPECT_EQ(model(tf::ones({2, 3, 4, 2})).shape(), TensorShape({2, 11, 15, 2}));
  const auto line = keras::Input({3});
  EXPECT_EQ(layers::RepeatVector(4)(line).shape(), TensorShape({tf::None, 4, 3}));
  const auto steps = keras::Input({tf::None, 3});
  EXPECT_EQ(layers::Permute({2, 1})(steps).shape(), TensorShape({tf::None, 3, tf::None}));
}

TEST(Reshaping, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::Permute({1, 3}); }, "[Permute] dims contains 3");
  expect_error<InvalidArgument>([] { layers::RepeatVector(0); }, "[RepeatVector] n is 0");
  expect_error<InvalidArgument>(
      [] {
        layers::ZeroPadding2D({.padding = {1, 2, 3}});
      },
      "padding has 3 entries");
  expect_error<InvalidArgument>([] { layers::Cropping1D(-1); }, "cropping contains -1");
  expect_error<InvalidArgument>(
      [] {
        layers::Cropping1D(2)(tf::ones({1, 4, 1}));
      },
      "expected less than its size");
  expect_error<InvalidArgument>([] { layers::UpSampling2D({.interpolation = "cubic"}); },
                                "interpolation is \"cubic\"");
  expect_error<InvalidArgument>([] { layers::UpSampling1D(0); }, "size contains 0");
}

}  // namespace
