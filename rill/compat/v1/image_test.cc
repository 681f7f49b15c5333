#include "rill/compat/v1/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/shows.h"

namespace tf = rill;
namespace v1 = tf::compat::v1::image;
using ::testing::ElementsAre;
using tf::Tensor;

namespace {

TEST(ResizeOfVersion1, PicksCorners) {
  RILL_SHOWS("D58");
  const Tensor x = tf::constant({0.f, 4.f}, tf::float32, {1, 1, 2, 1});
  EXPECT_THAT(tf::image::resize(x, {1, 4}).to_vector<float>(), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(v1::resize_bilinear(x, {1, 4}).to_vector<float>(), ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(v1::resize_images(x, {1, 3}, "bilinear", {.align_corners = true}).to_vector<float>(),
              ElementsAre(0, 2, 4));
  EXPECT_THAT(v1::resize_nearest_neighbor(x, {1, 4}).to_vector<float>(), ElementsAre(0, 0, 4, 4));
}

TEST(ResizeOfVersion1, GivesImagesOfThatSizeBackAsTheyAre) {
  const Tensor bytes = tf::zeros({1, 4, 6, 3}, tf::uint8);
  EXPECT_EQ(v1::resize_images(bytes, {4, 6}).dtype(), tf::uint8);
  EXPECT_EQ(v1::resize_images(bytes, {3, 3}).dtype(), tf::float32);
}

// The guides' pictures: any size in, floats of the size asked for.
TEST(ResizeOfVersion1, TakesOnePicture) {
  RILL_SHOWS("D58");
  const Tensor picture = tf::cast(tf::random::uniform({37, 51, 3}, 0., 256.), tf::uint8);
  for (const Tensor& y :
       {v1::resize_images(picture, {28, 28}), tf::image::resize(picture, {28, 28}) / 255.0}) {
    EXPECT_EQ(y.shape(), tf::TensorShape({28, 28, 3}));
    EXPECT_EQ(y.dtype(), tf::float32);
  }
}

TEST(ImagesOfVersion1, HaveTheirOldNames) {
  const Tensor x = tf::reshape(tf::range(12.f), {1, 3, 4, 1});
  EXPECT_EQ(v1::resize_image_with_crop_or_pad(x, 5, 2).shape(), tf::TensorShape({1, 5, 2, 1}));
  EXPECT_EQ(v1::transpose_image(x).shape(), tf::TensorShape({1, 4, 3, 1}));
  const Tensor padded = v1::resize_image_with_pad(x, 6, 4, "nearest");
  EXPECT_EQ(padded.shape(), tf::TensorShape({1, 6, 4, 1}));
  EXPECT_EQ(padded(0, 1, 1, 0).item<float>(), 1);
  EXPECT_EQ(padded(0, 5, 1, 0).item<float>(), 0);
  EXPECT_THAT(
      v1::extract_image_patches(x, {1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID")(0, 1, 2)
          .to_vector<float>(),
      ElementsAre(6, 7, 10, 11));
}

}  // namespace
