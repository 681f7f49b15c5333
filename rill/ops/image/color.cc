// Ranges and colours of images: composites.
#include <cmath>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::image {
namespace {

int bits(DType d) { return static_cast<int>(d.itemsize()) * 8 - (d.is_unsigned() ? 0 : 1); }
double top(DType d) { return std::ldexp(1.0, bits(d)) - 1; }

// The nearest value that an integer dtype holds.
Tensor saturated(const Tensor& x, DType dtype) {
  if (!dtype.is_integer()) return cast(x, dtype);
  if (x.dtype().is_floating()) {
    const Tensor wide = x.dtype() == float64 ? x : cast(x, float32);
    const int digits =
        x.dtype() == float64 ? 53 : 24;  // the largest of dtype that x's dtype holds exactly:
    const double high = bits(dtype) <= digits
                            ? top(dtype)
                            : std::ldexp(1.0, bits(dtype)) - std::ldexp(1.0, bits(dtype) - digits);
    return cast(clip_by_value(wide, dtype.is_unsigned() ? 0. : -std::ldexp(1.0, bits(dtype)), high),
                dtype);
  }
  Tensor y = x;
  if (bits(dtype) < bits(x.dtype())) y = minimum(y, static_cast<std::int64_t>(top(dtype)));
  if (!x.dtype().is_unsigned() && dtype.is_unsigned())
    y = maximum(y, 0);
  else if (!x.dtype().is_unsigned() && bits(dtype) < bits(x.dtype()))
    y = maximum(y, -static_cast<std::int64_t>(top(dtype)) - 1);
  return cast(y, dtype);
}
// As float32 of 0 .. 1, unless it is a float32 or float16 already.
Tensor as_float(const Tensor& x) {
  return x.dtype() == float16 || x.dtype() == float32 ? x : convert_image_dtype(x, float32);
}

}  // namespace

Tensor convert_image_dtype(const Operand& image, DType dtype, bool saturate) {
  Arg arg(image);
  const Tensor& x = *arg;
  const DType from = x.dtype();
  RILL_CHECK(
      (from.is_integer() || from.is_floating()) && (dtype.is_integer() || dtype.is_floating()),
      invalid_argument,
      "[image::convert_image_dtype] from {} to {}; expected integer or floating dtypes", from,
      dtype);
  if (from == dtype) return identity(x);
  auto to = [&](const Tensor& y) { return saturate ? saturated(y, dtype) : cast(y, dtype); };
  if (from.is_integer() && dtype.is_integer()) {
    const int more = bits(dtype) - bits(from);
    if (more < 0) return to(floordiv(x, std::int64_t{1} << -more));
    return to(x) * (std::int64_t{1} << more);
  }
  if (dtype.is_floating()) return from.is_floating() ? to(x) : cast(x, dtype) * (1 / top(from));
  return to(x * (top(dtype) + 0.5));  // half a step, for what the cast cuts off
}

Tensor rgb_to_grayscale(const Operand& images) {
  Arg x(images);
  const TensorShape& s = x->shape();
  RILL_CHECK(
      !s.has_rank() || (s.rank() >= 1 && (s.dim(-1) == 3 || s.dim(-1) < 0)), invalid_argument,
      "[image::rgb_to_grayscale] images has shape {}; expected 3 channels in the last axis", s);
  const Tensor weights = constant({0.2989f, 0.5870f, 0.1140f});
  const Tensor gray =
      reduce_sum(convert_image_dtype(*x, float32) * weights, -1, {.keepdims = true});
  return convert_image_dtype(gray, x->dtype());
}
Tensor grayscale_to_rgb(const Operand& images) {
  Arg x(images);
  const TensorShape& s = x->shape();
  RILL_CHECK(s.has_rank() && s.rank() >= 1 && (s.dim(-1) == 1 || s.dim(-1) < 0), invalid_argument,
             "[image::grayscale_to_rgb] images has shape {}; expected 1 channel in the last axis",
             s);
  return concat({*x, *x, *x}, s.rank() - 1);
}

Tensor adjust_brightness(const Operand& image, const Operand& delta) {
  Arg x(image);
  const Tensor y = as_float(*x);
  Arg d(delta, y.dtype());
  return convert_image_dtype(y + (d->dtype() == y.dtype() ? *d : cast(*d, y.dtype())), x->dtype(),
                             true);
}
Tensor adjust_contrast(const Operand& images, const Operand& contrast_factor) {
  Arg x(images);
  RILL_CHECK(!x->shape().has_rank() || x->shape().rank() >= 3, invalid_argument,
             "[image::adjust_contrast] images has shape {}; expected 3 dimensions or more",
             x->shape());
  const Tensor y = as_float(*x), mean = reduce_mean(y, {-3, -2}, {.keepdims = true});
  Arg factor(contrast_factor, float32);
  return convert_image_dtype(
      (y - mean) * (factor->dtype() == y.dtype() ? *factor : cast(*factor, y.dtype())) + mean,
      x->dtype(), true);
}
Tensor adjust_gamma(const Operand& image, double gamma, double gain) {
  RILL_CHECK(gamma >= 0, invalid_argument, "[image::adjust_gamma] gamma is {}; expected 0 or more",
             gamma);
  Arg x(image);
  return convert_image_dtype(gain * pow(as_float(*x), gamma), x->dtype(), true);
}
Tensor per_image_standardization(const Operand& image) {
  Arg x(image);
  const TensorShape& s = x->shape();
  RILL_CHECK(s.has_rank() && s.rank() >= 3, invalid_argument,
             "[image::per_image_standardization] image has shape {}; expected 3 dimensions or more",
             s);
  const Tensor y = x->dtype() == float16 || x->dtype() == float32 ? *x : cast(*x, float32);
  const Tensor mean = reduce_mean(y, {-3, -2, -1}, {.keepdims = true}),
               deviation = reduce_std(y, {-3, -2, -1}, {.keepdims = true});
  const Tensor pixels = cast(reduce_prod(slice(shape(y), {s.rank() - 3}, {3})), y.dtype());
  return (y - mean) / maximum(deviation, rsqrt(pixels));
}

}  // namespace rill::image
