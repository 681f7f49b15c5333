#pragma once
#include <string>
#include <string_view>

#include "rill/ops/image_ops.h"

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
Tensor resize_area(const Operand& images, const Operand& size, bool align_corners = false);

}  // namespace compat::v1::image
}  // namespace RILL_API
