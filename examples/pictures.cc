// shows: P37 P38 D57 D60 D61
// data: made
// Pictures from files: decoded, made one size, cropped and padded in a dataset, and read by a
// user-defined function. The pictures are made here first.
#include <rill/rill.h>

#include <cmath>
#include <filesystem>

#include "example.h"
namespace tf = rill;
using tf::Tensor, tf::data::Dataset;

// A disc on a slope of colours.
Tensor make_picture(int height, int width, int number) {
  std::vector<float> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool disc = std::hypot(y - height / 2, x - width / 2) < 5 + 2 * number;
      pixels.push_back(disc ? 1.f : 0.1f * static_cast<float>(number));
      pixels.push_back(static_cast<float>(y) / static_cast<float>(height));
      pixels.push_back(static_cast<float>(x) / static_cast<float>(width));
    }
  return tf::image::convert_image_dtype(tf::reshape(tf::constant(pixels), {height, width, 3}),
                                        tf::uint8, true);
}
std::vector<std::string> write_pictures(const std::string& folder) {
  std::vector<std::string> filenames;
  for (int i = 0; i < 4; ++i) {
    filenames.push_back(tf::format("{}/image{}.jpg", folder, i + 1));
    tf::io::write_file(filenames.back(), tf::io::encode_jpeg(make_picture(40 + 10 * i, 60, i)));
  }
  return filenames;
}

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "rill_pictures").string();
  tf::io::gfile::makedirs(folder);
  const std::vector<std::string> names = write_pictures(folder);

  // Reads an image from a file, decodes it into a dense tensor, and resizes it to a fixed shape.
  auto parse = [](const Tensor& filename, const Tensor& label) {
    const Tensor image_string = tf::read_file(filename);
    const Tensor image_decoded = tf::image::decode_jpeg(image_string);
    const Tensor image_resized = tf::compat::v1::image::resize_images(image_decoded, {28, 28});
    return tf::tuple(image_resized, label);
  };
  const Tensor filenames = tf::constant(names), labels = tf::constant({0, 37, 29, 1});
  Dataset dataset = Dataset::from_tensor_slices(tf::tuple(filenames, labels)).map(parse);
  for (auto& element : dataset) {
    auto [image, label] = element.unpack<2>();
    std::cout << image.dtype() << " " << image.shape() << " of label " << label.item<int>() << "\n";
    expect(tf::reduce_max(image).item<float>() > 200, "bright pixels");
  }

  // The same by a user-defined reader: any C++ may stand in it. This one makes its pictures gray.
  auto read_host_function = [](const Tensor& filename, const Tensor& label) {
    const Tensor bytes = tf::read_file(filename);
    return std::vector<Tensor>{tf::image::decode_jpeg(bytes, {.channels = 1}), label};
  };
  auto resize = [](const Tensor& image_decoded, const Tensor& label) {
    image_decoded.set_shape({tf::None, tf::None, tf::None});
    return tf::tuple(tf::compat::v1::image::resize_images(image_decoded, {28, 28}), label);
  };
  dataset = Dataset::from_tensor_slices(tf::tuple(filenames, labels))
                .map([&](const Tensor& filename, const Tensor& label) {
                  const auto out = tf::py_function(read_host_function, {filename, label},
                                                   {tf::uint8, label.dtype()});
                  return tf::tuple(out[0], out[1]);
                })
                .map(resize);
  for (auto& element : dataset) {
    auto [image, label] = element.unpack<2>();
    std::cout << image.dtype() << " " << image.shape() << " of label " << label.item<int>() << "\n";
  }

  // Load, decode, crop or pad, change at random, and batch: the next batch is made while this one
  // is used.
  dataset = Dataset::from_tensor_slices(filenames)
                .map(
                    [](const Tensor& filename) {
                      Tensor image =
                          tf::image::decode_jpeg(tf::read_file(filename), {.channels = 3});
                      image = tf::image::resize_with_crop_or_pad(image, 48, 48);
                      image = tf::image::random_crop(image, {32, 32, 3});
                      image = tf::image::random_flip_left_right(image);
                      return tf::image::convert_image_dtype(image, tf::float32);
                    },
                    {.num_parallel_calls = tf::data::AUTOTUNE})
                .batch(2)
                .prefetch(1);
  for (const Tensor batch : dataset) std::cout << batch.dtype() << " " << batch.shape() << "\n";
  tf::io::gfile::rmtree(folder);
}
