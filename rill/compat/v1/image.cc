#include "rill/compat/v1/image.h"

#include "rill/ops/image/resize_impl.h"
#include "rill/ops/op_helpers.h"

namespace rill::compat::v1::image {

Tensor resize_images(const Operand& images, const Operand& size, std::string_view method,
                     const ResizeImagesOptions& options) {
  constexpr std::string_view tag = "image::resize_images";
  const char* op = method == ResizeMethod::BILINEAR           ? "ResizeBilinear"
                   : method == ResizeMethod::BICUBIC          ? "ResizeBicubic"
                   : method == ResizeMethod::NEAREST_NEIGHBOR ? "ResizeNearestNeighbor"
                   : method == ResizeMethod::AREA             ? "ResizeArea"
                                                              : nullptr;
  RILL_CHECK(op, invalid_argument,
             "[{}] method is \"{}\"; expected bilinear, nearest, bicubic or area", tag, method);
  return resize_any(
      tag, images, size, options.preserve_aspect_ratio, true,
      [&](const Tensor& x, const Tensor& to) {
        return execute(find_op(op), {x, to}, {{"align_corners", options.align_corners}});
      });
}
Tensor resize(const Operand& images, const Operand& size, std::string_view method,
              const ResizeImagesOptions& options) {
  return resize_images(images, size, method, options);
}
Tensor resize_bilinear(const Operand& images, const Operand& size, bool align_corners,
                       bool half_pixel_centers) {
  return execute(find_op("ResizeBilinear"), {Arg(images), Arg(size, int32)},
                 {{"align_corners", align_corners}, {"half_pixel_centers", half_pixel_centers}});
}
Tensor resize_nearest_neighbor(const Operand& images, const Operand& size, bool align_corners,
                               bool half_pixel_centers) {
  return execute(find_op("ResizeNearestNeighbor"), {Arg(images), Arg(size, int32)},
                 {{"align_corners", align_corners}, {"half_pixel_centers", half_pixel_centers}});
}
Tensor resize_bicubic(const Operand& images, const Operand& size, bool align_corners,
                      bool half_pixel_centers) {
  return execute(find_op("ResizeBicubic"), {Arg(images), Arg(size, int32)},
                 {{"align_corners", align_corners}, {"half_pixel_centers", half_pixel_centers}});
}
Tensor resize_area(const Operand& images, const Operand& size, bool align_corners) {
  return execute(find_op("ResizeArea"), {Arg(images), Arg(size, int32)},
                 {{"align_corners", align_corners}});
}

Tensor resize_image_with_pad(const Operand& image, int target_height, int target_width,
                             std::string_view method, bool align_corners) {
  return resize_and_pad("image::resize_image_with_pad", image, target_height, target_width,
                        [&](const Tensor& x, const Tensor& size) {
                          return resize_images(x, size, method, {.align_corners = align_corners});
                        });
}
Tensor resize_image_with_crop_or_pad(const Operand& image, int target_height, int target_width) {
  return resize_with_crop_or_pad(image, target_height, target_width);
}
Tensor transpose_image(const Operand& image) { return transpose(image); }
Tensor extract_image_patches(const Operand& images, const std::vector<std::int64_t>& ksizes,
                             const std::vector<std::int64_t>& strides,
                             const std::vector<std::int64_t>& rates, std::string_view padding) {
  return extract_patches(images, ksizes, strides, rates, padding);
}

}  // namespace rill::compat::v1::image
