// Pictures in files: what goldens do not say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "rill/graph/function/function.h"
#include "rill/io/file.h"
#include "rill/io/picture_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/picture_ops.h"
#include "tests/expect_error.h"
#include "tests/fuzz.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill {
namespace {

using rill::testing::expect_error;

std::string test_picture(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return io::file_contents(std::string(root ? root : ".") + "/rill/io/testdata/pictures/" + name);
}
void put_big(std::string& bytes, std::size_t at, std::uint32_t v, int n) {
  for (int i = 0; i < n; ++i)
    bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(v >> (8 * (n - 1 - i)));
}
void put_little(std::string& bytes, std::size_t at, std::uint32_t v, int n) {
  for (int i = 0; i < n; ++i)
    bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(v >> (8 * i));
}
// Makes the sums at the ends of a PNG's chunks right, so that what was damaged is read.
void mend_sums(std::string& png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<std::uint8_t>(png[at + i]);
    if (n > png.size() - at - 12) return;
    std::uint32_t sum = ~0u;
    for (std::size_t i = at + 4; i < at + 8 + n; ++i) {
      sum ^= static_cast<std::uint8_t>(png[i]);
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    put_big(png, at + 8 + n, ~sum, 4);
    at += 12 + n;
  }
}
// Slopes.
Tensor smooth_picture(int height, int width, int channels) {
  std::vector<std::uint8_t> v;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        v.push_back(static_cast<std::uint8_t>(x * 2 + y * (c + 1) + 20 * c));
  return reshape(constant(v), {height, width, channels});
}
int largest_difference(const Tensor& a, const Tensor& b) {
  return reduce_max(abs(cast(a, int32) - cast(b, int32))).item<int>();
}

TEST(Pictures, OutAndIn) {
  RILL_SHOWS("D57");
  const std::string path = testing::fresh_folder("pictures") + "/a.jpg";
  const Tensor image = smooth_picture(30, 40, 3);
  io::write_file(path, io::encode_jpeg(image, {.quality = 100, .chroma_downsampling = false}));
  const Tensor back = image::decode_jpeg(read_file(path));
  EXPECT_EQ(back.dtype(), uint8);
  EXPECT_EQ(back.shape(), image.shape());
  EXPECT_LE(largest_difference(back, image), 12);
  EXPECT_EQ(largest_difference(io::decode_jpeg(read_file(path), {.channels = 3}), back), 0);
  EXPECT_EQ(image::decode_jpeg(read_file(path), {.channels = 1}).shape(), TensorShape({30, 40, 1}));
  for (int channels = 1; channels <= 4; ++channels) {
    const Tensor p = smooth_picture(7, 5, channels);
    EXPECT_EQ(largest_difference(image::decode_png(image::encode_png(p)), p), 0);
    const Tensor wide = cast(p, uint16) * 200;
    EXPECT_EQ(
        largest_difference(image::decode_png(image::encode_png(wide), {.dtype = uint16}), wide), 0);
  }
}
TEST(Pictures, BatchesOfPngs) {
  const Tensor images = reshape(smooth_picture(6, 10, 3), {2, 3, 10, 3});
  const Tensor bytes = io::encode_png(images);
  ASSERT_EQ(bytes.shape(), TensorShape({2}));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(largest_difference(io::decode_png(bytes(i)), images(i)), 0);
  EXPECT_EQ(io::encode_png(zeros({0, 3, 4, 1}, uint8)).shape(), TensorShape({0}));
}
TEST(Pictures, ShapesInGraphs) {
  auto f = function([](const Tensor& bytes) {
    const Tensor x = io::decode_jpeg(bytes, {.channels = 3});
    EXPECT_EQ(x.shape().rank(), 3);
    EXPECT_EQ(x.shape().dim(2), 3);
    EXPECT_EQ(io::decode_gif(bytes).shape().rank(), 4);
    EXPECT_FALSE(io::decode_image(bytes).shape().has_rank());
    EXPECT_EQ(io::decode_image(bytes, {.expand_animations = false}).shape().rank(), 3);
    return image::resize(x, {8, 6}) / 255.f;
  });
  EXPECT_EQ(f(constant(test_picture("rgb.jpg"))).shape(), TensorShape({8, 6, 3}));
}
TEST(Pictures, IsJpeg) {
  EXPECT_TRUE(io::is_jpeg(test_picture("rgb.jpg")).item<bool>());
  EXPECT_FALSE(image::is_jpeg(test_picture("rgb8.png")).item<bool>());
  EXPECT_FALSE(io::is_jpeg("").item<bool>());
}

// Claims that no bytes of this length can keep: refused before there is memory for them.
TEST(Pictures, HugeSizesAreRefused) {
  std::string jpeg = test_picture("gray.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, jpeg.npos);
  put_big(jpeg, frame + 5, 65500, 2), put_big(jpeg, frame + 7, 65500, 2);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_jpeg(jpeg); },
                                             "1 frames of 65500 x 65500 pixels");
  put_big(jpeg, frame + 5, 9000, 2), put_big(jpeg, frame + 7, 9000, 2);
  expect_error<errors::InvalidArgumentError>(
      [&] { io::decode_jpeg(jpeg); }, "9000 x 9000 pixels, which is more than 738 bytes can hold");
  expect_error<errors::InvalidArgumentError>(
      [&] { io::decode_jpeg(jpeg, {.try_recover_truncated = true}); },
      "more than 738 bytes can hold");
  for (std::uint32_t side : {0x7fffffffu, 20000u, 900'000u}) {
    std::string png = test_picture("rgba8.png");
    put_big(png, 16, side, 4), put_big(png, 20, side, 4);
    mend_sums(png);
    expect_error<errors::InvalidArgumentError>([&] { io::decode_png(png); },
                                               side == 20000 ? "20000 x 20000 pixels" : "the PNG");
  }
  std::string gif = test_picture("one.gif");
  const std::size_t image = gif.find(std::string("\x2c\0\0\0\0", 5));
  ASSERT_NE(image, gif.npos);
  put_little(gif, image + 5, 65535, 2), put_little(gif, image + 7, 65535, 2);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_gif(gif); }, "65535 x 65535 pixels");
  put_little(gif, image + 5, 5000, 2), put_little(gif, image + 7, 5000, 2);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_gif(gif); },
                                             "frame 0 of the GIF says that it has 5000 x 5000");
  std::string bmp = test_picture("bits24.bmp");
  put_little(bmp, 18, 0x7fffffff, 4), put_little(bmp, 22, 0x7fffffff, 4);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_bmp(bmp); }, "the BMP says");
  put_little(bmp, 22, 0x80000000, 4);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_bmp(bmp); }, "the BMP says");
  put_little(bmp, 18, 10000, 4), put_little(bmp, 22, 10000, 4);
  expect_error<errors::InvalidArgumentError>([&] { io::decode_bmp(bmp); },
                                             "the BMP has 166 bytes; expected 300000054");
}

// Bytes that are changed by chance: an error or a picture, and nothing outside of them is read.
//   RILL_FUZZ=100000 RILL_FUZZ_SEED=3 io_test --gtest_filter='Fuzz.DamagedPictures*'
void damage_pictures(const std::vector<std::string>& names,
                     const std::function<Tensor(const std::string&, unsigned)>& decode) {
  const long rounds = rill::testing::fuzz_rounds(10'000, 10);
  std::mt19937 random(rill::testing::fuzz_seed(7));
  std::vector<std::string> good;
  for (const std::string& name : names) good.push_back(test_picture(name));
  long decoded = 0;
  for (long i = 0; i < rounds; ++i) {
    std::string bad = good[static_cast<std::size_t>(i) % good.size()];
    // Mostly in the first bytes, where sizes and kinds are.
    for (unsigned k = 0; k <= random() % 4; ++k)
      bad[random() % (random() % 2 ? std::min<std::size_t>(bad.size(), 64) : bad.size())] =
          static_cast<char>(random());
    if (random() % 5 == 0) bad.resize(random() % (bad.size() + 1));
    if (random() % 20 == 0) bad.insert(random() % (bad.size() + 1), bad.substr(bad.size() / 2));
    const unsigned variant = static_cast<unsigned>(random());
    try {
      const Tensor t = decode(bad, variant);
      EXPECT_LE(t.size(), io::kMostPictureElements);
      ++decoded;
    } catch (const errors::InvalidArgumentError&) {
    }
  }
  EXPECT_GT(decoded, rounds / 50);
  EXPECT_LT(decoded, rounds);
}
TEST(Fuzz, DamagedPicturesJpeg) {
  damage_pictures(
      {"rgb.jpg", "progressive.jpg", "gray.jpg", "small.jpg", "cmyk.jpg", "ycck_adobe.jpg"},
      [](const std::string& bytes, unsigned v) {
        if (v % 8 == 0) io::extract_jpeg_shape(bytes);
        if (v % 4 == 1) return io::decode_and_crop_jpeg(bytes, {1, 2, 5, 3});
        return io::decode_jpeg(bytes, {.channels = v % 3 == 0 ? 1 : 0,
                                       .ratio = 1 << v / 4 % 4,
                                       .fancy_upscaling = v / 16 % 2 == 0,
                                       .try_recover_truncated = v / 32 % 4 == 0,
                                       .acceptable_fraction = v / 128 % 2 ? 0.2 : 1});
      });
}
TEST(Fuzz, DamagedPicturesPng) {
  damage_pictures({"gray1.png", "gray16.png", "palette2.png", "palette4_transparent.png",
                   "rgb8.png", "rgba16_interlaced.png", "gray_alpha8.png", "rgb16_transparent.png"},
                  [](const std::string& damaged, unsigned v) {
                    std::string bytes = damaged;
                    if (v / 16 % 8) mend_sums(bytes);
                    return io::decode_png(bytes,
                                          {.channels = v % 5 == 2 ? 0 : static_cast<int>(v % 5),
                                           .dtype = v / 5 % 2 ? uint8 : uint16});
                  });
}
TEST(Fuzz, DamagedPicturesGif) {
  damage_pictures({"one.gif", "one_interlaced.gif", "animated.gif", "small_first.gif"},
                  [](const std::string& bytes, unsigned v) {
                    if (v % 2) return io::decode_gif(bytes);
                    return io::decode_image(bytes, {.dtype = v / 2 % 2 ? uint8 : float32,
                                                    .expand_animations = v / 4 % 2 == 0});
                  });
}
TEST(Fuzz, DamagedPicturesBmp) {
  damage_pictures({"bits8.bmp", "bits24.bmp", "bits32.bmp", "top_down.bmp"},
                  [](const std::string& bytes, unsigned v) {
                    return io::decode_bmp(bytes,
                                          {.channels = v % 3 ? static_cast<int>(2 + v % 3) : 0});
                  });
}

}  // namespace
}  // namespace rill
