// Pictures from files to batches, images changed at random, and gradients of their measures.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill {
namespace {

using data::Dataset;

Tensor slope(const TensorShape& shape) {
  return reshape(cast(range(shape.num_elements()), float32) / 20.f, shape);
}
void starts_with(const Tensor& t, const std::vector<float>& want) {
  const auto got = t.to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6) << i;
}
std::vector<std::string> written_pictures(const std::string& folder) {
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const Tensor gray = fill({20 + 10 * i, 40, 1}, cast(constant(50 * (i + 1)), uint8));
    names.push_back(format("{}/{}.jpg", folder, i));
    io::write_file(names.back(), io::encode_jpeg(image::grayscale_to_rgb(gray)));
  }
  return names;
}

TEST(PicturesOfFiles, AreLoadedDecodedCroppedAndPadded) {
  RILL_SHOWS("D60");
  const auto names = written_pictures(testing::fresh_folder("pictures"));
  const Dataset dataset = Dataset::from_tensor_slices(constant(names))
                              .map([](const Tensor& name) {
                                const Tensor x =
                                    image::decode_jpeg(read_file(name), {.channels = 3});
                                return image::resize_with_crop_or_pad(x, 30, 30);
                              })
                              .batch(3);
  for (auto& batch : dataset) {
    ASSERT_EQ(batch.shape(), TensorShape({3, 30, 30, 3}));
    const Tensor x = cast(batch.as_tensor(), int32);
    EXPECT_EQ(x(0, 0, 0, 0).item<int>(), 0);  // padded
    EXPECT_NEAR(x(0, 15, 15, 0).item<int>(), 50, 2);
    EXPECT_NEAR(x(2, 0, 0, 1).item<int>(), 150, 2);  // cropped
  }
}
TEST(PicturesOfFiles, AreReadByAnyFunction) {
  RILL_SHOWS("D61");
  const auto names = written_pictures(testing::fresh_folder("pictures"));
  int calls = 0;
  auto read_gray = [&](const Tensor& name) {
    ++calls;  // plain C++, on values
    const std::string bytes = io::gfile::GFile(name.item<std::string>(), "rb").read();
    return image::decode_jpeg(bytes, {.channels = 1});
  };
  const Dataset dataset = Dataset::from_tensor_slices(constant(names)).map([&](const Tensor& name) {
    const Tensor x = numpy_function(read_gray, {name}, uint8);
    x.set_shape({None, None, None});
    return compat::v1::image::resize_images(x, {28, 28});
  });
  float level = 50;
  for (auto& element : dataset) {
    EXPECT_EQ(element.shape(), TensorShape({28, 28, 1}));
    EXPECT_NEAR(reduce_mean(element.as_tensor()).item<float>(), level, 2);
    level += 50;
  }
  EXPECT_GE(calls, 3);
}

// TensorFlow 2.15 with tf.random.set_seed(5).
TEST(RandomImages, AreThoseOfTensorFlow) {
  const Tensor x = slope({2, 3, 3});
  random::set_seed(5);
  starts_with(image::random_brightness(x, 0.3, 7), {-0.0315217376f, 0.0184782632f});
  starts_with(image::random_brightness(x, 0.3, 7), {-0.2710158527f, -0.2210158557f});
  random::set_seed(5);
  starts_with(image::random_contrast(x, 0.3, 1.5), {-0.0193769038f, 0.0306231081f, 0.0806230903f});
  random::set_seed(5);
  starts_with(image::random_crop(x, {1, 2, 3}, 3), {0.15f, 0.2f, 0.25f});
  starts_with(random_crop(x, {1, 2, 3}, 3), {0.15f, 0.2f, 0.25f});
  random::set_seed(5);
  starts_with(image::random_hue(x, 0.3, 1), {0, 0.0904933736f, 0.1f, 0.15f, 0.2404933721f});
  random::set_seed(5);
  starts_with(image::random_saturation(x, 0.3, 1.7, 1), {0.015747413f, 0.0578737073f, 0.1f});
  random::set_seed(5);
  for (float first : {0.3f, 0.3f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f})
    starts_with(image::random_flip_left_right(x, 2), {first});
  random::set_seed(5);
  const Tensor flipped = image::random_flip_up_down(stack({x, x, x, x, x, x}), 2);
  const std::vector<float> first{0, 0, 0.45f, 0.45f, 0, 0};
  for (int i = 0; i < 6; ++i) starts_with(flipped(i), {first[static_cast<std::size_t>(i)]});
}
TEST(RandomImages, BoxesAreThoseOfTensorFlow) {
  using Ints = std::vector<int>;
  const Tensor boxes = constant({0.1f, 0.2f, 0.5f, 0.6f}, float32, {1, 1, 4});
  auto sample = [&](std::int64_t seed) {
    return image::sample_distorted_bounding_box({100, 200, 3}, boxes, seed);
  };
  random::set_seed(5);
  Tensors<3> box = sample(9);
  EXPECT_EQ(box.t[0].to_vector<int>(), (Ints{15, 39, 0}));
  EXPECT_EQ(box.t[1].to_vector<int>(), (Ints{80, 100, -1}));
  starts_with(box.t[2], {0.15f, 0.195f, 0.95f, 0.695f});
  box = sample(9);
  EXPECT_EQ(box.t[0].to_vector<int>(), (Ints{4, 41, 0}));
  EXPECT_EQ(box.t[1].to_vector<int>(), (Ints{67, 71, -1}));
  random::set_seed(5);
  EXPECT_EQ(sample(4).t[1].to_vector<int>(), (Ints{36, 40, -1}));
  EXPECT_EQ(sample(4).t[1].to_vector<int>(), (Ints{82, 102, -1}));
}
TEST(RandomImages, RefuseEmptyRanges) {
  const Tensor x = slope({2, 3, 3});
  EXPECT_THROW(image::random_brightness(x, -1), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_hue(x, 0.6), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_contrast(x, 1, 1), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_saturation(x, -1, 1), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_jpeg_quality(x, 90, 101), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_crop(x, {3, 3, 3}), errors::InvalidArgumentError);
  EXPECT_THROW(image::random_flip_up_down(x(0)), errors::InvalidArgumentError);
}

TEST(Glimpses, HaveNoiseLikeTheImageOutside) {
  const Tensor x = reshape(slope({2, 8, 8, 1}), {2, 8, 8, 1});
  for (const char* noise : {"uniform", "gaussian"}) {
    const Tensor y =
        image::extract_glimpse(x, {6, 6}, {{-1.f, -1.f}, {0.f, 0.f}}, {.noise = noise});
    ASSERT_EQ(y.shape(), TensorShape({2, 6, 6, 1}));
    EXPECT_EQ(y(0, 3, 3, 0).item<float>(), x(0, 0, 0, 0).item<float>());
    EXPECT_EQ(y(1, 0, 0, 0).item<float>(), x(1, 1, 1, 0).item<float>());
    EXPECT_NEAR(reduce_mean(y(0, slice(0, 3))).item<float>(), 1.6f, 1.2f) << noise;
    const Tensor again =
        image::extract_glimpse(x, {6, 6}, {{-1.f, -1.f}, {0.f, 0.f}}, {.noise = noise});
    EXPECT_TRUE(reduce_all(equal(y, again)).item<bool>());
  }
}

TEST(MeasuresOfImages, HaveTensorFlowsGradients) {
  const TensorShape shape{1, 13, 13, 2};
  const Tensor n = range(shape.num_elements());
  const Tensor a = reshape(cast(n % 17, float32), shape) / 17.f,
               b = reshape(cast(n % 11, float32), shape) / 11.f;
  auto check = [&](auto measure, float value, float sum, float one) {
    GradientTape tape;
    tape.watch(a);
    const Tensor y = measure(a);
    const Tensor g = tape.gradient(y, a);
    EXPECT_NEAR(y.item<float>(), value, std::abs(value) * 1e-5);
    EXPECT_NEAR(reduce_sum(abs(g)).item<float>(), sum, sum * 1e-4);
    EXPECT_NEAR(g(0, 3, 4, 1).item<float>(), one, std::abs(one) * 1e-3);
  };
  check([&](const Tensor& x) { return image::ssim(x, b, 1.0); }, -0.0728062019f, 2.94479394f,
        0.015423242f);
  check([&](const Tensor& x) { return image::psnr(x, b, 1.0); }, 7.75733995f, 17.3855076f,
        0.12135335f);
}

}  // namespace
}  // namespace rill
