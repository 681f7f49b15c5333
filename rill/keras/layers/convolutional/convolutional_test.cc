#include "rill/keras/layers/convolutional.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/graph/function/function.h"
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

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-5) << "element " << i;
}

TEST(Conv, SamePaddingKeepsTheSize) {
  const layers::Conv2D conv(
      32, 5, {.padding = "same", .data_format = "channels_last", .activation = tf::nn::relu});
  const Tensor y = conv(tf::random::normal({2, 9, 7, 3}));
  EXPECT_EQ(y.shape(), TensorShape({2, 9, 7, 32}));
  EXPECT_GE(tf::reduce_min(y).item<float>(), 0.f);
  EXPECT_EQ(conv.weights()[0].shape(), TensorShape({5, 5, 3, 32}));
  EXPECT_EQ(conv.weights()[1].shape(), TensorShape({32}));
  RILL_SHOWS("K22");
}

TEST(Conv, KeywordsAndPositionsAreTheSame) {
  const Tensor x = tf::ones({1, 28, 28, 1});
  const layers::Conv2D by_name(
      {.filters = 32, .kernel_size = {5, 5}, .padding = "same", .activation = tf::nn::relu});
  EXPECT_EQ(by_name(x).shape(), TensorShape({1, 28, 28, 32}));
  const layers::Conv2D by_place(32, {5, 5}, {.padding = "same", .activation = "relu"}),
      mixed(32, {.kernel_size = 5, .padding = "same", .activation = "relu"});
  for (const layers::Conv2D& other : {by_place, mixed}) {
    keras::Config a = by_name.get_config(), b = other.get_config();
    a.erase("name"), b.erase("name");
    EXPECT_EQ(a.to_json(), b.to_json());
  }
  const layers::MaxPool2D pool({.pool_size = {2, 2}, .strides = 2}), same(2, 2);
  EXPECT_EQ(pool(x).shape(), TensorShape({1, 14, 14, 1}));
  EXPECT_EQ(same(x).shape(), TensorShape({1, 14, 14, 1}));
  RILL_SHOWS("K23", "K100");
}

TEST(Conv, ValidIsTheDefault) {
  const layers::Conv2D conv(16, {3, 3}, {.activation = "relu"});
  EXPECT_EQ(conv(tf::zeros({1, 256, 256, 3})).shape(), TensorShape({1, 254, 254, 16}));
  keras::Sequential model(
      {layers::Conv2D(32, 3, {.activation = "relu", .input_shape = {256, 256, 3}})});
  EXPECT_TRUE(model.built());
  EXPECT_EQ(model.compute_output_shape({tf::None, 256, 256, 3}),
            TensorShape({tf::None, 254, 254, 32}));
  RILL_SHOWS("K24");
}

// One layer of each kind and each number of axes, in both formats.
template <class L, class O>
void expect_equal_formats(O options, const TensorShape& input, int axes) {
  options.data_format = "channels_last";
  const L last(options);
  options.data_format = "channels_first";
  const L first(options);
  std::vector<int> to_first{0, axes + 1}, to_last{0};
  for (int i = 0; i < axes; ++i) to_first.push_back(i + 1), to_last.push_back(i + 2);
  to_last.push_back(1);
  const Tensor x = tf::random::normal(tf::constant(input.as_list())),
               other = tf::transpose(x, to_first);
  last(x), first(other);
  first.set_weights(last.get_weights());
  expect_near(tf::transpose(first(other), to_last), last(x));
  EXPECT_EQ(keras::layers::deserialize(keras::layers::serialize(first))
                ->get_config()["data_format"]
                .as_string(),
            "channels_first");
}
TEST(Conv, ChannelsFirst) {
  const layers::ConvOptions conv{
      .filters = 4, .kernel_size = 3, .padding = "same", .bias_initializer = "ones"};
  expect_equal_formats<layers::Conv1D>(conv, {2, 6, 2}, 1);
  expect_equal_formats<layers::Conv2D>(conv, {2, 6, 5, 2}, 2);
  expect_equal_formats<layers::Conv3D>(conv, {1, 4, 5, 3, 2}, 3);
  expect_equal_formats<layers::Conv1D>(
      layers::ConvOptions{
          .filters = 4, .kernel_size = 3, .padding = "causal", .bias_initializer = "ones"},
      {2, 6, 2}, 1);
  expect_equal_formats<layers::Conv2D>(
      layers::ConvOptions{.filters = 4, .kernel_size = 3, .groups = 2}, {2, 6, 5, 4}, 2);
  const layers::ConvTransposeOptions back{
      .filters = 3, .kernel_size = 3, .strides = 2, .bias_initializer = "ones"};
  expect_equal_formats<layers::Conv1DTranspose>(back, {2, 4, 2}, 1);
  expect_equal_formats<layers::Conv2DTranspose>(back, {2, 3, 4, 2}, 2);
  expect_equal_formats<layers::Conv3DTranspose>(back, {1, 2, 3, 2, 2}, 3);
  const layers::DepthwiseConvOptions depthwise{
      .kernel_size = 3, .depth_multiplier = 2, .bias_initializer = "ones"};
  expect_equal_formats<layers::DepthwiseConv1D>(depthwise, {2, 6, 2}, 1);
  expect_equal_formats<layers::DepthwiseConv2D>(depthwise, {2, 5, 6, 2}, 2);
  const layers::SeparableConvOptions separable{
      .filters = 4, .kernel_size = 3, .bias_initializer = "ones"};
  expect_equal_formats<layers::SeparableConv1D>(separable, {2, 6, 2}, 1);
  expect_equal_formats<layers::SeparableConv2D>(separable, {2, 5, 6, 2}, 2);
  RILL_SHOWS("K25", "Z18");
}

TEST(Conv, SeveralBatchAxesWithChannelsFirst) {
  const layers::Conv2D conv(3, 2, {.data_format = "channels_first", .bias_initializer = "ones"});
  const Tensor x = tf::random::normal({2, 3, 2, 4, 4});
  const Tensor y = conv(x), flat = conv(tf::reshape(x, {6, 2, 4, 4}));
  EXPECT_EQ(y.shape(), TensorShape({2, 3, 3, 3, 3}));
  expect_near(tf::reshape(y, {6, 3, 3, 3}), flat);
}

TEST(Conv, SizesThatAreNotKnownWhenTraced) {
  const layers::Conv2D down(4, 3, {.strides = 2, .padding = "same"});
  const layers::Conv2DTranspose up(2, 3, {.strides = 2, .padding = "same"});
  const layers::Conv1DTranspose line(2, 3, {.strides = 3});
  const auto input = keras::Input({tf::None, tf::None, 2});
  const auto output = up(down(input));
  EXPECT_EQ(output.shape(), TensorShape({tf::None, tf::None, tf::None, 2}));
  const keras::Model model(input, output);
  EXPECT_EQ(model(tf::ones({2, 6, 8, 2})).shape(), TensorShape({2, 6, 8, 2}));
  const auto half = keras::Input({8, tf::None, 2});
  EXPECT_EQ(up(down(half)).shape(), TensorShape({tf::None, 8, tf::None, 2}));
  const auto steps = keras::Input({tf::None, 2});
  const keras::Model lines(steps, line(steps));
  expect_near(lines(tf::ones({2, 4, 2})), line(tf::ones({2, 4, 2})));
}

TEST(Conv, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::Conv2D(0, 3); }, "[Conv2D] filters is 0");
  expect_error<InvalidArgument>([] { layers::Conv2D({.filters = 2}); },
                                "[Conv2D] kernel_size is not given");
  expect_error<InvalidArgument>(
      [] {
        layers::Conv2D({.filters = 2, .kernel_size = {1, 2, 3}});
      },
      "kernel_size has 3 entries; expected 1 or 2");
  expect_error<InvalidArgument>([] { layers::Conv2D(2, 3, {.strides = 0}); },
                                "strides contains 0; expected 1 or more");
  expect_error<InvalidArgument>([] { layers::Conv2D(2, 3, {.padding = "causal"}); },
                                "padding is \"causal\"; expected \"valid\" or \"same\"");
  expect_error<InvalidArgument>([] { layers::Conv1D(2, 3, {.padding = "full"}); },
                                "expected \"valid\", \"same\" or \"causal\"");
  expect_error<InvalidArgument>([] { layers::Conv2D(2, 3, {.data_format = "NHWC"}); },
                                "data_format is \"NHWC\"");
  expect_error<InvalidArgument>([] { layers::Conv2D(3, 3, {.groups = 2}); },
                                "filters is 3 and groups 2");
  expect_error<InvalidArgument>([] { layers::Conv2D(3, 3, {.strides = 2, .dilation_rate = 2}); },
                                "both above 1");
  expect_error<InvalidArgument>(
      [] {
        layers::Conv2D(2, 3, {.groups = 2})(tf::ones({1, 4, 4, 3}));
      },
      "do not divide into 2 groups");
  expect_error<InvalidArgument>(
      [] {
        layers::Conv2D(2, 3)(tf::ones({4, 4, 3}));
      },
      "expected min_ndim=4, found ndim=3");
  expect_error<InvalidArgument>(
      [] { layers::Conv2DTranspose(2, 3, {.strides = 2, .output_padding = 2}); },
      "expected less than the stride");
  const layers::Conv2D built(2, 3);
  built(tf::ones({1, 4, 4, 3}));
  expect_error<InvalidArgument>(
      [&] {
        built(tf::ones({1, 4, 4, 2}));
      },
      "expected axis -1 of input shape to have value 3");
}

// Bias and activation become part of the convolution when a function is planned.
template <class L>
void expect_fused(const L& conv, const TensorShape& shape) {
  const Tensor x = tf::random::normal(tf::constant(shape.as_list()));
  const Tensor want = conv(x);
  const auto f = tf::function([conv](Tensor v) { return conv(v); });
  expect_near(f(x), want);
  const std::string plan = f.explain();
  EXPECT_NE(plan.find("1 convolutions with bias and activation"), plan.npos) << plan;
}
TEST(Conv, BiasAndActivationAreFused) {
  expect_fused(layers::Conv2D(4, 3, {.activation = "relu", .bias_initializer = "ones"}),
               {2, 6, 6, 3});
  expect_fused(layers::Conv1D(4, 3, {.activation = "relu", .bias_initializer = "ones"}), {2, 6, 3});
}

TEST(Conv, ANetworkTrains) {
  // Images whose class is where the bright half lies.
  tf::random::set_seed(3);
  const Tensor side = tf::cast(tf::random::uniform({128}) > 0.5f, tf::int32);
  const Tensor left = tf::reshape(tf::cast(side, tf::float32), {128, 1, 1, 1});
  const Tensor ramp = tf::reshape(tf::range(-3.5f, 4.f), {1, 1, 8, 1});
  const Tensor x = tf::random::normal({128, 8, 8, 1}) + ramp * (left * 2.f - 1.f);
  const layers::BatchNormalization norm;
  keras::Sequential model(
      {layers::Conv2D(8, 3, {.padding = "same", .use_bias = false}), norm, layers::ReLU(),
       layers::MaxPooling2D(), layers::SeparableConv2D(8, 3, {.activation = "relu"}),
       layers::SpatialDropout2D(0.1), layers::Flatten(), layers::LayerNormalization(),
       layers::Dense(2, {.activation = "softmax"})});
  model.compile({.optimizer = keras::optimizers::Adam(0.01),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  model.fit(x, side, {.batch_size = 16, .epochs = 4, .verbose = 0});
  EXPECT_GT(model.evaluate(x, side, {.verbose = 0})["accuracy"], 0.95);
  for (float v : norm.weights()[2].to_vector<float>()) EXPECT_NE(v, 0.f);  // the mean has moved
}

TEST(Conv, ComputesInTheDtypeOfItsPolicy) {
  const layers::Conv2D conv(2, 3, {.dtype = "mixed_bfloat16"});
  EXPECT_EQ(conv(tf::ones({1, 4, 4, 2})).dtype(), tf::bfloat16);
  EXPECT_EQ(conv.weights()[0].dtype(), tf::float32);
}

// As Keras says it; with the text that people look for. Eagerly the result is empty.
TEST(Conv, AWindowThatDoesNotFitIsAnErrorWhereAModelIsDrawn) {
  const auto fails = [](const auto& layer, tf::TensorShape image,
                        const char* text =
                            "Negative dimension size caused by subtracting 3 from 2") {
    expect_error<tf::errors::InvalidArgument>([&] { layer(keras::Input(image)); }, text);
  };
  fails(layers::Conv1D(1, 3), {2, 1});
  fails(layers::Conv2D(1, 3), {2, 2, 1});
  fails(layers::Conv2D(1, 3), {3, 2, 1});
  fails(layers::Conv3D(1, 3), {2, 2, 2, 1});
  fails(layers::Conv2D(1, 2, {.dilation_rate = 2}), {2, 2, 1});
  fails(layers::DepthwiseConv1D(3), {2, 1});
  fails(layers::DepthwiseConv2D(3), {2, 2, 1});
  fails(layers::SeparableConv1D(1, 3), {2, 1});
  fails(layers::SeparableConv2D(1, 3), {2, 2, 1});
  fails(layers::MaxPooling1D(3), {2, 1});
  fails(layers::MaxPooling2D(3), {2, 2, 1});
  fails(layers::MaxPooling3D(3), {2, 2, 2, 1});
  fails(layers::AveragePooling1D(3), {2, 1});
  fails(layers::AveragePooling2D(3), {2, 2, 1});
  fails(layers::AveragePooling3D(3), {2, 2, 2, 1});
  fails(layers::ConvLSTM2D(1, 3), {2, 2, 2, 1});
  fails(layers::LocallyConnected1D(1, 3), {2, 1}, "");
  fails(layers::Cropping2D(2), {2, 2, 1}, "");
  EXPECT_EQ(layers::Conv1D(1, 3, {.padding = "causal"})(keras::Input({2, 1})).shape(),
            TensorShape({tf::None, 2, 1}));
  EXPECT_EQ(layers::Conv2D(1, 3, {.padding = "same"})(keras::Input({2, 2, 1})).shape(),
            TensorShape({tf::None, 2, 2, 1}));
  EXPECT_EQ(layers::AveragePooling2D(3, {.strides = 1})(tf::zeros({1, 2, 2, 1})).shape(),
            TensorShape({1, 0, 0, 1}));
  const auto f = tf::function([](Tensor x, Tensor k) { return tf::nn::conv2d(x, k, 1, "VALID"); });
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        f(tf::zeros({1, 2, 2, 1}), tf::zeros({3, 3, 1, 1}));
      },
      "Negative dimension size caused by subtracting 3 from 2");
}

}  // namespace
