// Images turned, mirrored, cropped and padded: composites.
#include <algorithm>
#include <cmath>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image/resize_impl.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::image {
namespace {

// The axis of the height of one image or of a batch.
int height_axis(const Tensor& x, std::string_view tag) {
  const int rank = x.shape().rank();
  RILL_CHECK(rank == 3 || rank == 4, invalid_argument,
             "[{}] image has shape {}; expected 3 or 4 dimensions", tag, x.shape());
  return rank - 3;
}
Tensor swapped(const Tensor& x, int h) {
  return h == 0 ? rill::transpose(x, {1, 0, 2}) : rill::transpose(x, {0, 2, 1, 3});
}
// Height and width: numbers where they are known, else tensors.
struct Sides {
  bool known;
  int h, w;
  Tensor sizes;  // {h, w} where they are not known
};
Sides sides(const Tensor& x, std::string_view tag) {
  const int axis = height_axis(x, tag);
  const std::int64_t h = x.shape().dim(axis), w = x.shape().dim(axis + 1);
  if (h >= 0 && w >= 0) return {true, static_cast<int>(h), static_cast<int>(w), {}};
  return {false, 0, 0, shape(x)(rill::slice(axis, axis + 2))};
}

// The same where offsets and sizes, as {height, width}, are known only when the graph runs.
Tensor crop(const Tensor& x, const Tensor& offset, const Tensor& size) {
  const bool batch = x.ndim() == 4;
  const Tensor zero = constant({0}), rest = constant({-1});
  return batch ? slice(x, concat({zero, offset, zero}, 0), concat({rest, size, rest}, 0))
               : slice(x, concat({offset, zero}, 0), concat({size, rest}, 0));
}
Tensor pad_to(const Tensor& x, const Tensor& offset, const Tensor& size, int height, int width) {
  const Tensor target = constant({height, width}),
               borders = stack({offset, target - offset - size}, 1), none = zeros({1, 2}, int32);
  const bool batch = x.ndim() == 4;
  const Tensor out = pad(x, batch ? concat({none, borders, none}, 0) : concat({borders, none}, 0));
  Dims dims = x.shape().dims();
  dims[batch ? 1 : 0] = height, dims[batch ? 2 : 1] = width;
  out.set_shape(TensorShape(dims));
  return out;
}

}  // namespace

Tensor rot90(const Operand& image, int k) {
  Arg x(image);
  const int h = height_axis(*x, "image::rot90");
  switch ((k % 4 + 4) % 4) {
    case 1:
      return reverse(swapped(*x, h), {h});
    case 2:
      return reverse(*x, {h, h + 1});
    case 3:
      return reverse(swapped(*x, h), {h + 1});
  }
  return identity(*x);
}
Tensor flip_left_right(const Operand& image) {
  Arg x(image);
  return reverse(*x, {height_axis(*x, "image::flip_left_right") + 1});
}
Tensor flip_up_down(const Operand& image) {
  Arg x(image);
  return reverse(*x, {height_axis(*x, "image::flip_up_down")});
}
Tensor transpose(const Operand& image) {
  Arg x(image);
  return swapped(*x, height_axis(*x, "image::transpose"));
}

Tensor crop_to_bounding_box(const Operand& image, int offset_height, int offset_width,
                            int target_height, int target_width) {
  constexpr std::string_view tag = "image::crop_to_bounding_box";
  Arg x(image);
  const int h = height_axis(*x, tag);
  RILL_CHECK(offset_height >= 0 && offset_width >= 0, invalid_argument,
             "[{}] the offset is {}, {}; expected 0 or more", tag, offset_height, offset_width);
  RILL_CHECK(target_height > 0 && target_width > 0, invalid_argument,
             "[{}] the target is {} x {}; expected 1 or more", tag, target_height, target_width);
  const TensorShape& s = x->shape();
  auto fits = [&](int axis, std::int64_t offset, std::int64_t size) {
    return s.dim(axis) < 0 || offset + size <= s.dim(axis);
  };
  RILL_CHECK(fits(h, offset_height, target_height) && fits(h + 1, offset_width, target_width),
             invalid_argument,
             "[{}] {} x {} pixels from {}, {} on are not inside an image of shape {}", tag,
             target_height, target_width, offset_height, offset_width, s);
  if (h == 0) return slice(*x, {offset_height, offset_width, 0}, {target_height, target_width, -1});
  return slice(*x, {0, offset_height, offset_width, 0}, {-1, target_height, target_width, -1});
}
Tensor pad_to_bounding_box(const Operand& image, int offset_height, int offset_width,
                           int target_height, int target_width) {
  constexpr std::string_view tag = "image::pad_to_bounding_box";
  Arg x(image);
  const int h = height_axis(*x, tag);
  const Sides s = sides(*x, tag);
  RILL_CHECK(offset_height >= 0 && offset_width >= 0, invalid_argument,
             "[{}] the offset is {}, {}; expected 0 or more", tag, offset_height, offset_width);
  if (!s.known)
    return pad_to(*x, constant({offset_height, offset_width}), s.sizes, target_height,
                  target_width);
  const int below = target_height - offset_height - s.h, right = target_width - offset_width - s.w;
  RILL_CHECK(below >= 0 && right >= 0, invalid_argument,
             "[{}] an image of shape {} at {}, {} does not fit {} x {} pixels", tag, x->shape(),
             offset_height, offset_width, target_height, target_width);
  if (h == 0) return pad(*x, {{offset_height, below}, {offset_width, right}, {0, 0}});
  return pad(*x, {{0, 0}, {offset_height, below}, {offset_width, right}, {0, 0}});
}
Tensor central_crop(const Operand& image, double central_fraction) {
  constexpr std::string_view tag = "image::central_crop";
  RILL_CHECK(central_fraction > 0 && central_fraction <= 1, invalid_argument,
             "[{}] central_fraction is {}; expected a number in (0, 1]", tag, central_fraction);
  Arg x(image);
  const Sides s = sides(*x, tag);
  if (central_fraction == 1) return identity(*x);
  if (!s.known) {
    const Tensor n = cast(s.sizes, float64), start = cast((n - n * central_fraction) / 2, int32);
    return crop(*x, start, s.sizes - 2 * start);
  }
  auto start = [&](int n) { return static_cast<int>((n - n * central_fraction) / 2); };
  const int top = start(s.h), left = start(s.w);
  return crop_to_bounding_box(*x, top, left, s.h - 2 * top, s.w - 2 * left);
}
Tensor resize_with_crop_or_pad(const Operand& image, int target_height, int target_width) {
  constexpr std::string_view tag = "image::resize_with_crop_or_pad";
  RILL_CHECK(target_height > 0 && target_width > 0, invalid_argument,
             "[{}] the target is {} x {}; expected 1 or more", tag, target_height, target_width);
  Arg x(image);
  const Sides s = sides(*x, tag);
  if (!s.known) {
    const Tensor target = constant({target_height, target_width}), size = minimum(s.sizes, target);
    const Tensor cropped = crop(*x, floordiv(maximum(s.sizes - target, 0), 2), size);
    return pad_to(cropped, floordiv(maximum(target - s.sizes, 0), 2), size, target_height,
                  target_width);
  }
  const int h = s.h, w = s.w;
  const Tensor cropped = crop_to_bounding_box(
      *x, std::max(h - target_height, 0) / 2, std::max(w - target_width, 0) / 2,
      std::min(h, target_height), std::min(w, target_width));
  return pad_to_bounding_box(cropped, std::max(target_height - h, 0) / 2,
                             std::max(target_width - w, 0) / 2, target_height, target_width);
}

Tensor resize_with_pad(const Operand& image, int target_height, int target_width,
                       std::string_view method, bool antialias) {
  return resize_and_pad("image::resize_with_pad", image, target_height, target_width,
                        [&](const Tensor& x, const Tensor& size) {
                          return resize(x, size, method, {.antialias = antialias});
                        });
}

}  // namespace rill::image

namespace rill {

Tensor resize_and_pad(std::string_view tag, const Operand& image, int target_height,
                      int target_width, const ResizeCall& resize) {
  RILL_CHECK(target_height > 0 && target_width > 0, invalid_argument,
             "[{}] the target is {} x {}; expected 1 or more", tag, target_height, target_width);
  Arg x(image);
  const image::Sides s = image::sides(*x, tag);
  const auto high = static_cast<float>(target_height), wide = static_cast<float>(target_width);
  if (!s.known) {
    const Tensor target = constant({high, wide}), n = cast(s.sizes, float32);
    const Tensor exact = n / reduce_max(n / target), size = cast(floor(exact), int32);
    const Tensor offset = maximum(cast(floor((target - exact) / 2.f), int32), 0);
    return image::pad_to(resize(*x, size), offset, size, target_height, target_width);
  }
  RILL_CHECK(s.h > 0 && s.w > 0, invalid_argument, "[{}] image has shape {}; expected pixels", tag,
             x->shape());
  const auto h = static_cast<float>(s.h), w = static_cast<float>(s.w),
             ratio = std::max(w / wide, h / high);
  auto border = [](float free) { return std::max(0, static_cast<int>(std::floor(free / 2))); };
  const Tensor small =
      resize(*x, constant({static_cast<int>(h / ratio), static_cast<int>(w / ratio)}));
  return image::pad_to_bounding_box(small, border(high - h / ratio), border(wide - w / ratio),
                                    target_height, target_width);
}

}  // namespace rill
