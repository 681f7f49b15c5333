#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/ops/image_box_ops.h"
#include "rill/ops/image_measures.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/image_random_ops.h"
#include "rill/ops/picture_ops.h"

// Where TensorFlow 1's functions differ from rill::image: pixels are picked at their corners.
namespace rill RILL_API {
namespace compat::v1::image {

using namespace rill::image;
struct ResizeImagesOptions {
  bool align_corners = false;  // the centres of the corner pixels stay
  bool preserve_aspect_ratio = false;
  std::string name = {};
};
// Images that already have the size come back as they are, dtype and all.
Tensor resize_images(const Operand& images, const Operand& size,
                     std::string_view method = "bilinear", const ResizeImagesOptions& options = {});
Tensor resize(const Operand& images, const Operand& size, std::string_view method = "bilinear",
              const ResizeImagesOptions& options = {});
Tensor resize_bilinear(const Operand& images, const Operand& size, bool align_corners = false,
                       bool half_pixel_centers = false);
Tensor resize_nearest_neighbor(const Operand& images, const Operand& size,
                               bool align_corners = false, bool half_pixel_centers = false);
Tensor resize_bicubic(const Operand& images, const Operand& size, bool align_corners = false,
                      bool half_pixel_centers = false);
// Of another size without another shape, on zeros.
Tensor resize_image_with_pad(const Operand& image, int target_height, int target_width,
                             std::string_view method = "bilinear", bool align_corners = false);
Tensor resize_image_with_crop_or_pad(const Operand& image, int target_height, int target_width);
Tensor transpose_image(const Operand& image);
// extract_patches under its old name.
Tensor extract_image_patches(const Operand& images, const std::vector<std::int64_t>& ksizes,
                             const std::vector<std::int64_t>& strides,
                             const std::vector<std::int64_t>& rates, std::string_view padding);
Tensor resize_area(const Operand& images, const Operand& size, bool align_corners = false);

}  // namespace compat::v1::image
}  // namespace RILL_API
