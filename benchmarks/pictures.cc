// JPEGs of 500 x 375 pixels, quality 90, by one thread, beside libjpeg-turbo called directly.
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <random>
#include <vector>

#include <jpeglib.h>

#include "benchmarks/budget.h"
#include "rill/base/parallel.h"
#include "rill/rill.h"

namespace tf = rill;

namespace {

constexpr int kHeight = 375, kWidth = 500;

// Waves, edges and noise: about as many bytes as a photograph takes.
std::string photograph() {
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0, 7);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c) {
        const float wave = std::sin(static_cast<float>(x) / (17.f + static_cast<float>(c))) *
                           std::cos(static_cast<float>(y) / 13.f);
        const float v = 120 + 80 * wave + ((x / 40 + y / 50) % 2 ? 30.f : 0.f) + noise(random);
        pixels.push_back(static_cast<std::uint8_t>(std::min(std::max(v, 0.f), 255.f)));
      }
  const tf::Tensor image = tf::reshape(tf::constant(pixels), {kHeight, kWidth, 3});
  return tf::io::encode_jpeg(image, {.quality = 90}).item<std::string>();
}

// The shortest way through the library, with the settings of tf.io.decode_jpeg.
void decode_directly(const std::string& bytes, std::vector<std::uint8_t>& out) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.dct_method = JDCT_IFAST;
  jpeg_start_decompress(&info);
  out.resize(static_cast<std::size_t>(info.output_width) * info.output_height * 3);
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[8];
    for (unsigned i = 0; i < 8; ++i)
      rows[i] =
          out.data() + static_cast<std::size_t>(info.output_scanline + i) * info.output_width * 3;
    jpeg_read_scanlines(&info, rows, std::min(8u, info.output_height - info.output_scanline));
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

void rate_row(const char* what, double seconds, double gate, double goal) {
  const double rate = 1 / seconds;
  std::printf("%-62s %10.0f /s   gate %6.0f  goal %6.0f  %s\n", what, rate, gate, goal,
              budget::verdict(rate >= goal, rate >= gate));
}

}  // namespace

int main() {
  tf::set_compute_width(1);
  const std::string bytes = photograph();
  const tf::Tensor contents = tf::constant(bytes);
  std::printf("a JPEG of %zu bytes\n", bytes.size());
  std::vector<std::uint8_t> pixels;
  const budget::Pair decode = budget::best_of_both([&] { tf::io::decode_jpeg(contents); },
                                                   [&] { decode_directly(bytes, pixels); }, 5, 60);
  std::printf("%-62s %10.0f /s\n", "JPEG 500 x 375, quality 90: pictures decoded", 1 / decode.ours);
  budget::speed_row("the same as part of libjpeg-turbo's", decode, 0.95, 1);

  const tf::Tensor mean = tf::constant({123.7f, 116.3f, 103.5f}),
                   scale = tf::constant({1 / 58.4f, 1 / 57.1f, 1 / 57.4f});
  auto prepared = [&] {
    const tf::Tensor image = tf::image::resize(tf::io::decode_jpeg(contents), {224, 224});
    return (image - mean) * scale;
  };
  rate_row("decoded, made 224 x 224 and normalised", budget::best([&] { prepared(); }, 5, 60), 850,
           1000);
  auto traced = tf::function([&](const tf::Tensor& b) {
    const tf::Tensor image = tf::image::resize(tf::io::decode_jpeg(b, {.channels = 3}), {224, 224});
    return (image - mean) * scale;
  });
  std::printf("%-62s %10.0f /s\n", "the same as a traced function",
              1 / budget::best([&] { traced(contents); }, 5, 60));
  const tf::Tensor window = tf::constant({75, 138, 224, 224});
  std::printf("%-62s %10.0f /s\n", "only 224 x 224 of its middle (decode_and_crop_jpeg)",
              1 / budget::best([&] { tf::io::decode_and_crop_jpeg(contents, window); }, 5, 60));
  const tf::Tensor image = tf::io::decode_jpeg(contents);
  std::printf("%-62s %10.0f /s\n", "encoded as a JPEG",
              1 / budget::best([&] { tf::io::encode_jpeg(image); }, 3, 30));
  std::printf("%-62s %10.0f /s\n", "encoded as a PNG",
              1 / budget::best([&] { tf::io::encode_png(image); }, 1, 10));
  const tf::Tensor png = tf::io::encode_png(image);
  std::printf("%-62s %10.0f /s\n", "decoded from a PNG",
              1 / budget::best([&] { tf::io::decode_png(png); }, 3, 20));
}
