#include "rill/keras/layers/pooling.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::TensorShape;
using tf::testing::expect_error;

namespace {

std::string arguments(const keras::Layer& l) {
  const keras::Config c = l.get_config();
  return c["pool_size"].to_json() + " " + c["strides"].to_json() + " " + c["padding"].as_string();
}

TEST(Pooling, EveryFormOfTheConstructor) {
  EXPECT_EQ(arguments(layers::MaxPooling2D()), "[2, 2] [2, 2] valid");
  EXPECT_EQ(arguments(layers::MaxPooling2D(3)), "[3, 3] [3, 3] valid");
  EXPECT_EQ(arguments(layers::MaxPooling2D(3, 2)), "[3, 3] [2, 2] valid");
  EXPECT_EQ(arguments(layers::MaxPooling2D({3, 2})), "[3, 2] [3, 2] valid");
  EXPECT_EQ(arguments(layers::MaxPooling2D({3, 2}, 1)), "[3, 2] [1, 1] valid");
  EXPECT_EQ(arguments(layers::MaxPooling2D({2, 2}, {2, 1}, {.padding = "same"})),
            "[2, 2] [2, 1] same");
  EXPECT_EQ(arguments(layers::MaxPooling2D({2, 2}, {.padding = "same"})), "[2, 2] [2, 2] same");
  EXPECT_EQ(arguments(layers::MaxPooling2D(2, {.padding = "same"})), "[2, 2] [2, 2] same");
  EXPECT_EQ(arguments(layers::MaxPooling2D(2, 1, {.padding = "SAME"})), "[2, 2] [1, 1] same");
  EXPECT_EQ(arguments(layers::MaxPooling2D({.pool_size = {2, 2}, .strides = 2})),
            "[2, 2] [2, 2] valid");
  EXPECT_EQ(arguments(layers::MaxPool2D({.pool_size = 3})), "[3, 3] [3, 3] valid");
  EXPECT_EQ(arguments(layers::AvgPool2D({.strides = 1})), "[2, 2] [1, 1] valid");
  EXPECT_EQ(arguments(layers::MaxPooling1D(3, 2)), "[3] [2] valid");
  EXPECT_EQ(arguments(layers::AveragePooling3D({1, 2, 3})), "[1, 2, 3] [1, 2, 3] valid");
}

TEST(Pooling, SamePaddingIsNotCounted) {
  // All are below 0, so padding with 0 would show.
  const Tensor x = tf::reshape(tf::constant({-1.f, -2.f, -3.f}), {1, 1, 3, 1});
  const layers::MaxPooling2D pool({2, 2}, {2, 2}, {.padding = "same"});
  EXPECT_EQ(pool(x).shape(), TensorShape({1, 1, 2, 1}));
  EXPECT_EQ(pool(x).to_vector<float>(), (std::vector<float>{-1, -3}));
  const layers::AveragePooling2D mean(2, 2, {.padding = "same"});
  EXPECT_EQ(mean(x).to_vector<float>(), (std::vector<float>{-1.5, -3}));
  RILL_SHOWS("K26", "K29");
}

TEST(Pooling, HalvesByDefault) {
  const Tensor x = tf::ones({1, 28, 28, 3});
  const layers::MaxPool2D named({.pool_size = {2, 2}, .strides = 2});
  EXPECT_EQ(named(named(x)).shape(), TensorShape({1, 7, 7, 3}));
  const layers::MaxPooling2D plain;
  EXPECT_EQ(plain(x).shape(), TensorShape({1, 14, 14, 3}));
  EXPECT_EQ(plain(plain(plain(x))).shape(), TensorShape({1, 3, 3, 3}));
  RILL_SHOWS("K27", "K28");
}

TEST(Pooling, GlobalMeans) {
  const Tensor x = tf::reshape(tf::range(0.f, 24.f), {2, 2, 3, 2});
  const Tensor y = layers::GlobalAveragePooling2D()(x);
  EXPECT_EQ(y.shape(), TensorShape({2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{5, 6, 17, 18}));
  RILL_SHOWS("K30");
}

TEST(Pooling, AMeanLeavesHiddenStepsOut) {
  const Tensor x = tf::reshape(tf::range(0.f, 12.f), {2, 3, 2});
  const Tensor mask = tf::constant({{1, 1, 0}, {0, 0, 1}}) > 0;
  const layers::GlobalAveragePooling1D pool;
  EXPECT_EQ(pool(x, {.mask = mask}).to_vector<float>(), (std::vector<float>{1, 2, 10, 11}));
  const layers::GlobalAveragePooling1D kept({.data_format = "channels_first", .keepdims = true});
  EXPECT_EQ(kept(tf::transpose(x, {0, 2, 1}), {.mask = mask}).to_vector<float>(),
            (std::vector<float>{1, 2, 10, 11}));
}

template <class L>
void expect_equal_formats(int axes, const TensorShape& shape) {
  std::vector<int> to_first{0, axes + 1}, to_last{0};
  for (int i = 0; i < axes; ++i) to_first.push_back(i + 1), to_last.push_back(i + 2);
  to_last.push_back(1);
  const Tensor x = tf::random::normal(tf::constant(shape.as_list()));
  const L last(3, 2, {.padding = "same"}),
      first(3, 2, {.padding = "same", .data_format = "channels_first"});
  const Tensor want = last(x), got = tf::transpose(first(tf::transpose(x, to_first)), to_last);
  EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>());
}
TEST(Pooling, ChannelsFirst) {
  expect_equal_formats<layers::MaxPooling1D>(1, {2, 7, 3});
  expect_equal_formats<layers::MaxPooling2D>(2, {2, 7, 6, 3});
  expect_equal_formats<layers::MaxPooling3D>(3, {1, 4, 5, 4, 2});
  expect_equal_formats<layers::AveragePooling1D>(1, {2, 7, 3});
  expect_equal_formats<layers::AveragePooling2D>(2, {2, 7, 6, 3});
  expect_equal_formats<layers::AveragePooling3D>(3, {1, 4, 5, 4, 2});
}

TEST(Pooling, InsideAModel) {
  const auto input = keras::Input({tf::None, 6, 2});
  const auto y = layers::MaxPooling2D()(input);
  EXPECT_EQ(y.shape(), TensorShape({tf::None, tf::None, 3, 2}));
  const keras::Model model(input, layers::GlobalMaxPooling2D()(y));
  EXPECT_EQ(model(tf::ones({3, 4, 6, 2})).shape(), TensorShape({3, 2}));
}

TEST(Pooling, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::MaxPooling2D(0); }, "[MaxPooling2D] pool_size");
  expect_error<InvalidArgument>([] { layers::MaxPooling2D(2, {.padding = "causal"}); },
                                "padding is \"causal\"");
  expect_error<InvalidArgument>(
      [] {
        layers::MaxPooling2D()(tf::ones({2, 3, 3}));
      },
      "expected ndim=4, found ndim=3");
  expect_error<InvalidArgument>([] { layers::GlobalMaxPooling1D({.data_format = "x"}); },
                                "[GlobalMaxPooling1D] data_format is \"x\"");
}

}  // namespace
