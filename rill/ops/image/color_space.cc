// Colours as hue, saturation and value, and as luma with two colours.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void require_rgb(const ShapeContext& c, int rank) {
  const TensorShape& s = c.input(0);
  RILL_CHECK(!s.has_rank() || s.rank() >= rank, invalid_argument,
             "[{}] images has shape {}; expected {} dimensions or more", c.tag(), s, rank);
  RILL_CHECK(!s.has_rank() || s.dim(-1) < 0 || s.dim(-1) == 3, invalid_argument,
             "[{}] images has shape {}; expected 3 channels in the last axis", c.tag(), s);
}
void colors_shape(ShapeContext& c) {
  require_rgb(c, 1);
  unchanged_shape(c);
}
void adjusted_shape(ShapeContext& c) {
  require_rgb(c, 3);
  require_rank(c, 1, 0, c.op().inputs[1].name);
  unchanged_shape(c);
}

// With M the largest of a pixel, m the smallest, R = M - m: value = M, saturation = R / M,
// hue = (x - y) / (6 R) + a third for each channel that M is from the first; x and y are those
// after M.
void rgb_to_hsv_grad(GradContext& g) {
  const Tensor x = g.input(0), zero = zeros_like(g.dy());
  const std::vector<Tensor> rgb = split(x, 3, -1), dy = split(g.dy(), 3, -1);
  const Tensor &r = rgb[0], &green = rgb[1], &b = rgb[2];
  // Of equal ones the first is the largest and the last the smallest, as in TensorFlow.
  const Tensor red_largest = logical_and(r >= b, r >= green),
               green_largest = logical_and(green > r, green >= b);
  const Tensor red_smallest = logical_and(r < b, r < green),
               green_smallest = logical_and(green <= r, green < b);
  const Tensor is_red = cast(red_largest, x.dtype()), is_green = cast(green_largest, x.dtype()),
               is_blue = 1 - is_red - is_green;
  const Tensor low_red = cast(red_smallest, x.dtype()), low_green = cast(green_smallest, x.dtype()),
               low_blue = 1 - low_red - low_green;
  const Tensor is_largest = concat({is_red, is_green, is_blue}, -1),
               is_smallest = concat({low_red, low_green, low_blue}, -1);
  const Tensor largest = reduce_sum(x * is_largest, -1, {.keepdims = true}),
               smallest = reduce_sum(x * is_smallest, -1, {.keepdims = true}),
               range = largest - smallest;
  const Tensor positive = cast(largest > 0, x.dtype());
  const Tensor ds = positive * (is_largest * divide_no_nan(smallest, square(largest)) -
                                is_smallest * divide_no_nan(ones_like(largest), largest));
  const Tensor after = is_red * (green - b) + is_green * (b - r) + is_blue * (r - green);
  // The channels after the largest one count up and down.
  const Tensor up = concat({is_blue, is_red, is_green}, -1),
               down = concat({is_green, is_blue, is_red}, -1);
  const Tensor dh = positive *
                    (divide_no_nan(up - down, range) -
                     (is_largest - is_smallest) * divide_no_nan(after, square(range))) /
                    6;
  g.set(0, dy[0] * dh + dy[1] * ds + dy[2] * is_largest);
}
const Op& rgb_to_hsv_op = OpBuilder("RGBToHSV", "image.rgb_to_hsv")
                              .input("images: T")
                              .output("output: T")
                              .type("T", kFloatTypes, float32)
                              .doc("RGB as hue, saturation and value.")
                              .shape(colors_shape)
                              .gradient(rgb_to_hsv_grad, "images")
                              .define();
const Op& hsv_to_rgb_op = OpBuilder("HSVToRGB", "image.hsv_to_rgb")
                              .input("images: T")
                              .output("output: T")
                              .type("T", kFloatTypes, float32)
                              .doc("Hue, saturation and value as RGB.")
                              .shape(colors_shape)
                              .no_gradient()
                              .define();
OpBuilder adjusting_op(const char* name, const char* tag, const char* amount) {
  OpBuilder b(name, tag);
  b.input("images: T")
      .input(amount)
      .output("output: T")
      .type("T", TypeSet{float16, float32}, float32)
      .shape(adjusted_shape)
      .no_gradient();
  return b;
}
const Op& adjust_hue_op = adjusting_op("AdjustHue", "image.adjust_hue", "delta: float32")
                              .doc("RGB with a number added to its hue.")
                              .define();
const Op& adjust_saturation_op =
    adjusting_op("AdjustSaturation", "image.adjust_saturation", "scale: float32")
        .doc("RGB with its saturation multiplied.")
        .define();

// As float of 0 .. 1, and back to the dtype it had.
Tensor adjusted(const Op& op, const Operand& image, const Operand& amount) {
  const Arg x(image), a(amount, float32);
  const bool direct = x->dtype() == float16 || x->dtype() == float32;
  const Tensor y = direct ? *x : image::convert_image_dtype(*x, float32);
  return image::convert_image_dtype(
      execute(op, {y, a->dtype() == float32 ? *a : cast(*a, float32)}), x->dtype());
}

Tensor by_matrix(const Operand& images, const std::vector<double>& matrix, std::string_view tag) {
  const Arg x(images);
  const TensorShape& s = x->shape();
  RILL_CHECK(s.has_rank() && s.rank() >= 1 && (s.dim(-1) == 3 || s.dim(-1) < 0), invalid_argument,
             "[{}] images has shape {}; expected 3 channels in the last axis", tag, s);
  return tensordot(*x, cast(reshape(constant(matrix), {3, 3}), x->dtype()), {{-1}, {0}});
}

}  // namespace

namespace image {

Tensor rgb_to_hsv(const Operand& images) { return execute(rgb_to_hsv_op, {Arg(images, float32)}); }
Tensor hsv_to_rgb(const Operand& images) { return execute(hsv_to_rgb_op, {Arg(images, float32)}); }
Tensor adjust_hue(const Operand& image, const Operand& delta) {
  const Arg d(delta, float32);
  if (value_known(*d) && d->ndim() == 0) {
    const double v = d->item<double>();
    RILL_CHECK(v >= -1 && v <= 1, invalid_argument,
               "[image.adjust_hue] delta is {}; expected a number in [-1, 1]", v);
  }
  return adjusted(adjust_hue_op, image, *d);
}
Tensor adjust_saturation(const Operand& image, const Operand& saturation_factor) {
  return adjusted(adjust_saturation_op, image, saturation_factor);
}

// Each row is what a channel adds to luma and to the two colours.
Tensor rgb_to_yiq(const Operand& images) {
  return by_matrix(
      images,
      {0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955},
      "image.rgb_to_yiq");
}
Tensor yiq_to_rgb(const Operand& images) {
  return by_matrix(
      images, {1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049},
      "image.yiq_to_rgb");
}
Tensor rgb_to_yuv(const Operand& images) {
  return by_matrix(images,
                   {0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512, 0.114,
                    0.43601035, -0.10001026},
                   "image.rgb_to_yuv");
}
Tensor yuv_to_rgb(const Operand& images) {
  return by_matrix(images, {1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0},
                   "image.yuv_to_rgb");
}

}  // namespace image
}  // namespace rill
