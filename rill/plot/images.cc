// Contact sheets.
#include <algorithm>
#include <cmath>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {
namespace {

// uint8 of one dtype and range, whatever the images had.
Tensor as_bytes(const Tensor& x) {
  if (x.dtype() == uint8) return x;
  const Tensor y = cast(x, float32);
  float low = 0, high = 1;
  if (y.size() > 0) {
    const auto least = reduce_min(y).item<float>(), largest = reduce_max(y).item<float>();
    if (x.dtype().is_integer() && least >= 0 && largest <= 255) return cast(y, uint8);
    // NaNs compare as false: then the range stays.
    if (least < 0 || largest > 1) low = least, high = largest > least ? largest : least + 1;
  }
  const Tensor part = (y - low) / (high - low);
  return cast(clip_by_value(where(is_nan(part), zeros_like(part), part), 0.f, 1.f) * 255.f + 0.5f,
              uint8);
}
// [height, width, 1, 3 or 4] as RGB on white.
Tensor as_rgb(const Tensor& x) {
  if (x.shape().dim(2) == 1) return image::grayscale_to_rgb(x);
  if (x.shape().dim(2) == 3) return x;
  const std::vector<Tensor> parts = split(cast(x, float32), {3, 1}, 2);
  const Tensor alpha = parts[1] / 255.f;
  return cast(parts[0] * alpha + 255.f * (1.f - alpha) + 0.5f, uint8);
}

Figure sheet(const std::vector<Tensor>& images, const ImagesOptions& o) {
  RILL_CHECK(!images.empty() && o.max_images > 0, invalid_argument,
             "[plot::images] there are {} images and max_images is {}; expected one at least",
             images.size(), o.max_images);
  RILL_CHECK(o.size > 0 && o.size <= 4096 && o.columns >= 0, invalid_argument,
             "[plot::images] size is {} and columns {}; expected 1 to 4096, and 0 or more", o.size,
             o.columns);
  const std::size_t n = std::min(images.size(), static_cast<std::size_t>(o.max_images));
  std::vector<Tensor> pictures;
  double largest = 1, tallest = 1, widest = 1;
  for (std::size_t i = 0; i < n; ++i) {
    pictures.push_back(as_rgb(images[i]));
    const auto h = static_cast<double>(pictures[i].shape().dim(0)),
               w = static_cast<double>(pictures[i].shape().dim(1));
    RILL_CHECK(h > 0 && w > 0, invalid_argument, "[plot::images] image {} has shape {}", i,
               images[i].shape());
    largest = std::max({largest, h, w}), tallest = std::max(tallest, h),
    widest = std::max(widest, w);
  }
  // Small ones grow by whole pixels, so that these stay square.
  const double zoom = largest < o.size ? std::ceil(o.size / largest) : 1;
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  const std::size_t columns = std::min(
      n, o.columns > 0 ? static_cast<std::size_t>(o.columns) : std::min<std::size_t>(square, 5));
  const std::size_t rows = (n + columns - 1) / columns;
  constexpr double kGap = 10, kTitle = 22;
  const double cell_width = widest * zoom, title = o.titles.empty() ? 0 : kTitle,
               cell_height = tallest * zoom + title;
  Drawing d{.width = static_cast<int>(kGap + static_cast<double>(columns) * (cell_width + kGap)),
            .height = static_cast<int>(kGap + static_cast<double>(rows) * (cell_height + kGap))};
  for (std::size_t i = 0; i < n; ++i) {
    const double x = kGap + static_cast<double>(i % columns) * (cell_width + kGap),
                 y = kGap + static_cast<double>(i / columns) * (cell_height + kGap);
    const double w = static_cast<double>(pictures[i].shape().dim(1)) * zoom,
                 h = static_cast<double>(pictures[i].shape().dim(0)) * zoom;
    d.images.push_back({x + std::floor((cell_width - w) / 2),
                        y + title + std::floor((cell_height - title - h) / 2), w, h, pictures[i]});
    if (i < o.titles.size())
      d.texts.push_back({x + cell_width / 2, y + kTitle / 2 - 2,
                         shortened(o.titles[i], 2, cell_width + kGap - 2), Anchor::middle});
  }
  return Figure(std::move(d));
}

// A batch taken apart; all images have one range.
std::vector<Tensor> single_images(const Tensor& batch, std::vector<Tensor> out) {
  const TensorShape& s = batch.shape();
  RILL_CHECK(s.rank() == 4 && (s.dim(3) == 1 || s.dim(3) == 3 || s.dim(3) == 4), invalid_argument,
             "[plot::images] images has shape {}; expected [n, height, width, 1, 3 or 4]", s);
  const Tensor bytes = as_bytes(batch);
  for (std::int64_t i = 0; i < s.dim(0); ++i) out.push_back(bytes(i));
  return out;
}
// With number and channels. A last axis of 1, 3 or 4 of three is taken for channels.
Tensor as_batch(const Tensor& x) {
  const TensorShape& s = x.shape();
  if (s.rank() == 2) return expand_dims(expand_dims(x, 0), -1);
  if (s.rank() != 3) return x;
  const bool channels = s.dim(2) == 1 || s.dim(2) == 3 || s.dim(2) == 4;
  return expand_dims(x, channels ? 0 : -1);
}

}  // namespace

Figure images(const TensorList& images, const ImagesOptions& options) {
  std::vector<Tensor> all;
  for (const Tensor& x : images.tensors()) all = single_images(as_batch(x), std::move(all));
  return sheet(all, options);
}

}  // namespace rill::plot
