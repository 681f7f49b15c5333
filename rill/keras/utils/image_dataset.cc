// Folders of images as datasets.
#include "rill/base/check.h"
#include "rill/data/decode_picture_impl.h"
#include "rill/keras/utils/directory_index_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::utils {
namespace {

constexpr std::string_view kImageEndings[] = {".bmp", ".gif", ".jpeg", ".jpg", ".png"};

std::int64_t channels_of(const std::string& color_mode) {
  if (color_mode == "rgb") return 3;
  if (color_mode == "rgba") return 4;
  RILL_CHECK(color_mode == "grayscale", invalid_argument,
             "[image_dataset_from_directory] color_mode is \"{}\"; expected \"rgb\", \"rgba\" or "
             "\"grayscale\"",
             color_mode);
  return 1;
}

// The largest part in the middle that has the shape of `size`, resized.
Tensor cropped(const Tensor& image, const ImageDatasetOptions& o) {
  const std::int64_t h = image.shape().dim(0), w = image.shape().dim(1);
  const auto height = static_cast<float>(o.image_size[0]),
             width = static_cast<float>(o.image_size[1]);
  const std::int64_t crop_h =
      std::min(h, static_cast<std::int64_t>(static_cast<float>(w) * height / width));
  const std::int64_t crop_w =
      std::min(w, static_cast<std::int64_t>(static_cast<float>(h) * width / height));
  const std::int64_t top = (h - crop_h) / 2, left = (w - crop_w) / 2;
  return image::resize(image(slice(top, top + crop_h), slice(left, left + crop_w)),
                       {o.image_size[0], o.image_size[1]}, o.interpolation);
}
// All of it, as large as fits, with black around it.
Tensor padded(const Tensor& image, const ImageDatasetOptions& o) {
  const auto [height, width] = o.image_size;
  const Tensor fitted =
      image::resize(image, {height, width}, o.interpolation, {.preserve_aspect_ratio = true});
  return image::resize_with_crop_or_pad(fitted, static_cast<int>(height), static_cast<int>(width));
}

std::vector<DirectoryDataset> image_datasets(const std::string& directory,
                                             const ImageDatasetOptions& o) {
  const std::int64_t channels = channels_of(o.color_mode);
  RILL_CHECK(o.image_size[0] > 0 && o.image_size[1] > 0, invalid_argument,
             "[image_dataset_from_directory] image_size is {} x {}; expected height and width",
             o.image_size[0], o.image_size[1]);
  RILL_CHECK(!o.crop_to_aspect_ratio || !o.pad_to_aspect_ratio, invalid_argument,
             "[image_dataset_from_directory] only one of crop_to_aspect_ratio and "
             "pad_to_aspect_ratio can be set");
  RILL_CHECK(o.data_format == "channels_last" || o.data_format == "channels_first",
             invalid_argument,
             "[image_dataset_from_directory] data_format is \"{}\"; expected \"channels_last\" or "
             "\"channels_first\"",
             o.data_format);
  const auto load = [o, channels](const Tensor& path) {
    const Tensor image = data::decode_picture(io::read_file(path), channels);
    Tensor sized = o.crop_to_aspect_ratio ? cropped(image, o)
                   : o.pad_to_aspect_ratio
                       ? padded(image, o)
                       : image::resize(image, {o.image_size[0], o.image_size[1]}, o.interpolation);
    return o.data_format == "channels_first" ? transpose(sized, {2, 0, 1}) : sized;
  };
  return index_directory(
      directory, index_options(o, "image_dataset_from_directory", "images", kImageEndings), load);
}

}  // namespace

DirectoryDataset image_dataset_from_directory(const std::string& directory,
                                              const ImageDatasetOptions& options) {
  RILL_CHECK(options.subset != "both", invalid_argument,
             "[image_dataset_from_directory] subset is \"both\": image_datasets_from_directory "
             "gives two datasets");
  return image_datasets(directory, options)[0];
}
std::pair<DirectoryDataset, DirectoryDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDatasetOptions& options) {
  ImageDatasetOptions both = options;
  both.subset = "both";
  const std::vector<DirectoryDataset> parts = image_datasets(directory, both);
  return {parts[0], parts[1]};
}

}  // namespace rill::keras::utils
