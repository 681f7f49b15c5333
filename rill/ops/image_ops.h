#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Images: [batch, height, width, channels] or, where it says so, one image
// [height, width, channels]; gray has 1 channel, RGB 3. Integer images span
// their dtype (uint8: 0 to 255), float images 0 to 1. Names, arguments and
// defaults are TensorFlow's.
namespace rill RILL_API {

namespace image {

// The names that `method` of resize takes.
struct ResizeMethod {
  static constexpr std::string_view BILINEAR = "bilinear", NEAREST_NEIGHBOR = "nearest",
                                    BICUBIC = "bicubic", AREA = "area", LANCZOS3 = "lanczos3",
                                    LANCZOS5 = "lanczos5", GAUSSIAN = "gaussian",
                                    MITCHELLCUBIC = "mitchellcubic";
};
struct ResizeOptions {
  bool preserve_aspect_ratio = false;  // the largest size of the same shape that fits
  bool antialias = false;              // when making smaller, mean over what is left out
  std::string name = {};
};
// Images, or one image, of `size` = {height, width}. float32, but "nearest"
// keeps the dtype. "bilinear", "bicubic" and "nearest" pick pixels at their
// centres; "area" is the mean of what a pixel covers and has no gradient; the
// other methods, and antialias, weigh by a filter as wide as the scale asks.
Tensor resize(const Operand& images, const Operand& size, std::string_view method = "bilinear",
              const ResizeOptions& options = {});
struct ResizeArguments {
  std::string method = "bilinear";
  bool preserve_aspect_ratio = false;
  bool antialias = false;
};
template <int = 0>
Tensor resize(const Operand& images, const Operand& size, const ResizeArguments& o) {
  return resize(images, size, o.method,
                {.preserve_aspect_ratio = o.preserve_aspect_ratio, .antialias = o.antialias});
}

struct CropAndResizeOptions {
  std::string method = "bilinear";  // or "nearest"
  double extrapolation_value = 0;   // of places outside the image
  std::string name = {};
};
// Boxes [n, 4] = y1, x1, y2, x2, in parts of height - 1 and width - 1, of the
// images that box_indices [n] name, each made crop_size = {height, width}:
// float32 [n, height, width, channels]. y1 > y2 turns the crop upside down.
Tensor crop_and_resize(const Operand& image, const Operand& boxes, const Operand& box_indices,
                       const Operand& crop_size, const CropAndResizeOptions& options = {});

struct ProjectiveTransformOptions {
  std::string interpolation = "BILINEAR";  // or "NEAREST"
  // What is outside: "CONSTANT" fill_value, "REFLECT" (dcba|abcd|dcba), "WRAP" (abcd|abcd|abcd),
  // "NEAREST" (aaaa|abcd|dddd).
  std::string fill_mode = "CONSTANT";
  double fill_value = 0;
};
// Images [n, height, width, channels], made output_shape = {height, width}. The pixel (x, y) is
// that at ((a x + b y + c) / k, (d x + e y + f) / k) with k = g x + h y + 1, where transforms [n,
// 8] or [1, 8] has the numbers a .. h. The gradient is TensorFlow's, by the inverse transform.
Tensor projective_transform(const Operand& images, const Operand& transforms,
                            const Operand& output_shape,
                            const ProjectiveTransformOptions& options = {});

// Of one image or of a batch: turned by k quarters counter-clockwise, mirrored
// left to right, top to bottom, along the diagonal.
Tensor rot90(const Operand& image, int k = 1);
Tensor flip_left_right(const Operand& image);
Tensor flip_up_down(const Operand& image);
Tensor transpose(const Operand& image);

// The parts of images that begin at a pixel and have a size; images put into a
// larger one of zeros; the middle of images, a fraction in (0, 1] of each side.
Tensor crop_to_bounding_box(const Operand& image, int offset_height, int offset_width,
                            int target_height, int target_width);
Tensor pad_to_bounding_box(const Operand& image, int offset_height, int offset_width,
                           int target_height, int target_width);
Tensor central_crop(const Operand& image, double central_fraction);
// Cropped or padded about the middle, as each side needs.
Tensor resize_with_crop_or_pad(const Operand& image, int target_height, int target_width);
// As large as fits without another shape, about the middle of zeros.
Tensor resize_with_pad(const Operand& image, int target_height, int target_width,
                       std::string_view method = "bilinear", bool antialias = false);

// Windows of `sizes` = {1, rows, columns, 1} pixels, one every `strides`, of pixels `rates` apart;
// each is a vector of rows * columns * channels. padding "VALID" or "SAME".
Tensor extract_patches(const Operand& images, const std::vector<std::int64_t>& sizes,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& rates, std::string_view padding);

struct ExtractGlimpseOptions {
  bool centered = true;    // offset 0, 0 is the middle of the image, else its upper left corner
  bool normalized = true;  // offsets are parts of the image: -1 .. 1 where centered, else 0 .. 1
  std::string noise = "uniform";  // outside the image: within its range, or "gaussian", "zero"
};
// A window of size = {height, width} of each image, float32: its middle is at offsets [batch, 2] =
// y, x, or, where these are not both centered and normalized, its upper left corner, as in
// TensorFlow. The noise is the same at each call.
Tensor extract_glimpse(const Operand& input, const Operand& size, const Operand& offsets,
                       const ExtractGlimpseOptions& options = {});

// Another dtype and its range: uint8 0 .. 255 becomes float32 0 .. 1. `saturate`
// cuts what does not fit.
struct ConvertImageOptions {
  bool saturate = false;
};
Tensor convert_image_dtype(const Operand& image, DType dtype, bool saturate = false);
template <int = 0>
Tensor convert_image_dtype(const Operand& image, DType dtype, const ConvertImageOptions& options) {
  return convert_image_dtype(image, dtype, options.saturate);
}
// The luma of RGB in one channel; one channel three times.
Tensor rgb_to_grayscale(const Operand& images);
Tensor grayscale_to_rgb(const Operand& images);
// With delta (of a range 0 .. 1) added; contrast_factor times the distance from
// the mean of each channel; gain * image ** gamma. Same dtype.
Tensor adjust_brightness(const Operand& image, const Operand& delta);
Tensor adjust_contrast(const Operand& images, const Operand& contrast_factor);
Tensor adjust_gamma(const Operand& image, double gamma = 1, double gain = 1);
// RGB with delta, a part of the circle in [-1, 1], added to its hue; with its saturation
// multiplied.
Tensor adjust_hue(const Operand& image, const Operand& delta);
Tensor adjust_saturation(const Operand& image, const Operand& saturation_factor);
// Float RGB of 0 .. 1 as hue, saturation and value, as luma with two colours (YIQ, YUV), and back.
Tensor rgb_to_hsv(const Operand& images);
Tensor hsv_to_rgb(const Operand& images);
Tensor rgb_to_yiq(const Operand& images);
Tensor yiq_to_rgb(const Operand& images);
Tensor rgb_to_yuv(const Operand& images);
Tensor yuv_to_rgb(const Operand& images);
// Each image with mean 0 and deviation 1 (of a flat image at least
// 1 / sqrt(elements) is taken for the deviation): float32.
Tensor per_image_standardization(const Operand& image);

}  // namespace image

}  // namespace RILL_API
