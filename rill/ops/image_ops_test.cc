#include "rill/ops/image_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/base/parallel.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_box_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/shows.h"

namespace rill {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const errors::Error& e) {
    return e.message();
  }
  return "no error";
}
Tensor noise(const TensorShape& shape, DType dtype = float32) {
  return cast(random::uniform(shape, 0, 255, {.seed = 7}), dtype);
}

TEST(Resize, OfBytesGivesFloatsThatDivideAsFloats) {
  RILL_SHOWS("O37");
  const Tensor bytes = constant({0, 255, 127, 64}, uint8, {1, 2, 2, 1});
  const Tensor resized = image::resize(bytes, {4, 4});
  EXPECT_EQ(resized.dtype(), float32);
  EXPECT_EQ(resized.shape(), TensorShape({1, 4, 4, 1}));
  const Tensor scaled = resized / 255.0;
  EXPECT_EQ(scaled.dtype(), float32);
  const auto from = resized.to_vector<float>(), to = scaled.to_vector<float>();
  for (std::size_t i = 0; i < from.size(); ++i) EXPECT_FLOAT_EQ(to[i], from[i] / 255.f);
  EXPECT_FLOAT_EQ(to[1], 0.25f);  // a quarter of the way from 0 to 255
  EXPECT_FLOAT_EQ(to[3], 1.f);
}

TEST(Images, AreNumberHeightWidthChannelsEverywhere) {
  RILL_SHOWS("O39");
  // MNIST: bytes of one gray channel, scaled to floats of 0 to 1.
  const Tensor digits = reshape(noise({5, 28, 28}, uint8), {-1, 28, 28, 1});
  const Tensor x = cast(digits, float32) / 255;
  EXPECT_EQ(x.shape(), TensorShape({5, 28, 28, 1}));
  EXPECT_EQ(x.dtype(), float32);
  EXPECT_THAT(x.to_vector<float>(), Each(::testing::AllOf(::testing::Ge(0.f), ::testing::Le(1.f))));
  EXPECT_FLOAT_EQ((cast(constant({255}, uint8), float32) / 255).item<float>(), 1);
  // Height, then width, then channels, through what a network does.
  for (int channels : {1, 3}) {
    const Tensor images = noise({2, 12, 20, channels});
    const Tensor resized = image::resize(images, {8, 16});
    EXPECT_EQ(resized.shape(), TensorShape({2, 8, 16, channels}));
    const Tensor features = nn::conv2d(resized, ones({3, 5, channels, 4}), 1, "VALID");
    EXPECT_EQ(features.shape(), TensorShape({2, 6, 12, 4}));
    EXPECT_EQ(nn::max_pool(features, 2, 2, "SAME").shape(), TensorShape({2, 3, 6, 4}));
  }
  // Each channel, and each image, apart.
  const Tensor rgb = noise({2, 3, 4, 3}), large = image::resize(rgb, {7, 5});
  for (int n : {0, 1})
    for (int c : {0, 1, 2}) {
      const Tensor one = reshape(rgb(n, all, all, c), {3, 4, 1});
      EXPECT_EQ(image::resize(one, {7, 5}).to_vector<float>(),
                large(n, all, all, c).to_vector<float>());
    }
}

TEST(Resize, KeepsTheDtypeOnlyOfNearest) {
  const Tensor bytes = noise({1, 4, 6, 3}, uint8);
  for (std::string_view method : {"bilinear", "bicubic", "area"})
    EXPECT_EQ(image::resize(bytes, {3, 3}, method).dtype(), float32) << method;
  EXPECT_EQ(image::resize(bytes, {3, 3}, image::ResizeMethod::NEAREST_NEIGHBOR).dtype(), uint8);
  EXPECT_EQ(image::resize(bytes, {4, 6}).dtype(), float32);  // of the same size too
}

TEST(Resize, TakesOneImageAndKeepsProportions) {
  const Tensor one = noise({4, 6, 3});
  EXPECT_EQ(image::resize(one, {3, 3}).shape(), TensorShape({3, 3, 3}));
  EXPECT_EQ(image::resize(one, {3, 3}, "nearest", {.preserve_aspect_ratio = true}).shape(),
            TensorShape({2, 3, 3}));
  EXPECT_EQ(image::resize(one, constant({8, 100}), "area", {.preserve_aspect_ratio = true}).shape(),
            TensorShape({8, 12, 3}));
}

TEST(Resize, PicksCentres) {
  const Tensor x = constant({0.f, 4.f}, float32, {1, 1, 2, 1});
  EXPECT_THAT(image::resize(x, {1, 4}).to_vector<float>(), ElementsAre(0, 1, 3, 4));
}

TEST(Resize, RefusesWhatItCannotDo) {
  const Tensor x = noise({1, 2, 2, 1});
  EXPECT_THAT(
      error_of([&] {
        image::resize(noise({2, 2}), {3, 3});
      }),
      ContainsRegex("\\[image::resize\\] images has shape \\[2, 2\\]; expected 3 or 4 dimensions"));
  EXPECT_THAT(error_of([&] {
                image::resize(x, {3, 3, 3});
              }),
              ContainsRegex("size has shape \\[3\\]; expected 2 elements"));
  EXPECT_THAT(error_of([&] {
                image::resize(x, constant({3.5f, 3.f}));
              }),
              ContainsRegex("size is float32"));
  EXPECT_THAT(error_of([&] {
                image::resize(x, {3, 3}, "cubic");
              }),
              ContainsRegex("method is \"cubic\"; expected bilinear"));
  EXPECT_THAT(error_of([&] {
                image::resize(x, {3, 0});
              }),
              ContainsRegex("output dimensions must be positive"));
}

TEST(Resize, GivesTheSameBitsAtEveryWidth) {
  for (std::string_view method : {"bilinear", "bicubic", "nearest", "area", "lanczos3"})
    for (DType d : {float32, uint8}) {
      const Tensor x = noise({3, 61, 47, 3}, d);
      auto at_width = [&](int width) {
        ComputeWidthScope scope(width);
        return image::resize(x, {97, 83}, method).to_vector<float>();
      };
      EXPECT_EQ(at_width(1), at_width(4)) << method;
    }
}

TEST(Images, OfBytesSpanZeroToOneAsFloats) {
  const Tensor bytes = constant({0, 51, 255}, uint8, {1, 3, 1});
  const Tensor floats = image::convert_image_dtype(bytes, float32);
  EXPECT_THAT(floats.to_vector<float>(), ElementsAre(FloatEq(0), FloatEq(0.2f), FloatEq(1)));
  EXPECT_EQ(image::convert_image_dtype(floats, uint8).to_vector<int>(), bytes.to_vector<int>());
  EXPECT_THAT(image::convert_image_dtype(floats * 3, uint8, true).to_vector<int>(),
              ElementsAre(0, 153, 255));
  EXPECT_THAT(error_of([&] { image::convert_image_dtype(constant({true}), uint8); }),
              ContainsRegex("from bool to uint8; expected integer or floating"));
}

TEST(Images, AreTurnedCounterClockwise) {
  RILL_SHOWS("D59");
  const Tensor x = constant({1, 2, 3, 4, 5, 6}, int32, {2, 3, 1});
  EXPECT_THAT(image::rot90(x).to_vector<int>(), ElementsAre(3, 6, 2, 5, 1, 4));
  EXPECT_EQ(image::rot90(x).shape(), TensorShape({3, 2, 1}));
  EXPECT_EQ(image::rot90(x, 5).to_vector<int>(), image::rot90(x, -3).to_vector<int>());
  EXPECT_EQ(image::rot90(x, 4).to_vector<int>(), x.to_vector<int>());
}

TEST(Images, ReportBoxesThatAreNotInside) {
  const Tensor x = noise({4, 5, 1});
  EXPECT_THAT(
      error_of([&] { image::crop_to_bounding_box(x, 1, 0, 4, 3); }),
      ContainsRegex("4 x 3 pixels from 1, 0 on are not inside an image of shape \\[4, 5, 1\\]"));
  EXPECT_THAT(error_of([&] { image::crop_to_bounding_box(x, -1, 0, 2, 2); }),
              ContainsRegex("offset is -1, 0; expected 0 or more"));
  EXPECT_THAT(error_of([&] { image::pad_to_bounding_box(x, 1, 0, 4, 5); }),
              ContainsRegex("does not fit 4 x 5 pixels"));
  EXPECT_THAT(error_of([&] { image::central_crop(x, 0); }),
              ContainsRegex("central_fraction is 0; expected a number in \\(0, 1\\]"));
}

// No image, no boxes, none wanted.
TEST(NonMaxSuppressionPadded, OfNothing) {
  const auto select = [](std::initializer_list<std::int64_t> outer, std::int64_t boxes, int most,
                         bool sorted) {
    std::vector<std::int64_t> scores(outer);
    scores.push_back(boxes);
    std::vector<std::int64_t> corners = scores;
    corners.push_back(4);
    return image::non_max_suppression_padded(
        ones(corners), ones(scores), most,
        {.pad_to_max_output_size = true, .sorted_input = sorted});
  };
  for (const bool sorted : {false, true}) {
    EXPECT_EQ(select({0}, 3, 2, sorted).t[0].shape(), TensorShape({0, 2}));
    EXPECT_EQ(select({0}, 3, 2, sorted).t[1].shape(), TensorShape({0}));
    EXPECT_EQ(select({2}, 0, 2, sorted).t[0].to_vector<int>(), (std::vector<int>{0, 0, 0, 0}));
    EXPECT_EQ(select({2}, 0, 2, sorted).t[1].to_vector<int>(), (std::vector<int>{0, 0}));
    EXPECT_EQ(select({2}, 3, 0, sorted).t[0].shape(), TensorShape({2, 0}));
    EXPECT_EQ(select({2}, 3, 0, sorted).t[1].to_vector<int>(), (std::vector<int>{0, 0}));
    EXPECT_EQ(select({}, 3, 2, sorted).t[0].shape(), TensorShape({2}));
    EXPECT_EQ(select({}, 3, 2, sorted).t[1].item<int>(), 2) << "boxes without area overlap nothing";
  }
}

}  // namespace
}  // namespace rill
