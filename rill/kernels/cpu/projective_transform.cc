// Images whose pixels are taken from where a projective transform says. Rows are divided among
// threads.
#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

enum class Outside { constant, reflect, wrap, nearest };

// The coordinate inside an axis of `size` pixels that one outside stands for.
float inside(float at, std::int64_t size, Outside mode) {
  if (mode == Outside::constant) return at;
  const auto last = static_cast<float>(size - 1), n = static_cast<float>(size);
  if (mode == Outside::reflect && !(at >= 0 && at <= last)) {
    if (size <= 1) return 0;
    const float period = 2 * n;
    if (at < 0) {
      at = period * std::trunc(-at / period) + at;
      at = at < -n ? at + period : -at - 1;
    } else {
      at -= period * std::trunc(at / period);
      if (at >= n) at = period - at - 1;
    }
  } else if (mode == Outside::wrap && !(at >= 0 && at <= last)) {
    if (size <= 1) return 0;
    if (at < 0)
      at += n * (std::trunc(-at / last) + 1);
    else
      at -= n * std::trunc(at / last);
  }
  return at >= 0 ? std::min(at, last) : 0;  // NaN: 0
}

template <class T>
struct Picture {
  const T* pixels;
  std::int64_t height, width, channels;
  float fill;
  float at(float y, float x, std::int64_t c) const {
    if (!(y >= 0 && x >= 0 && y < static_cast<float>(height) && x < static_cast<float>(width)))
      return fill;
    return static_cast<float>(
        pixels[(static_cast<std::int64_t>(y) * width + static_cast<std::int64_t>(x)) * channels +
               c]);
  }
};

template <class T>
T as_pixel(float v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        std::clamp(static_cast<double>(v), static_cast<double>(std::numeric_limits<T>::min()),
                   sizeof(T) == 8 ? 9223372036854774784.0
                                  : static_cast<double>(std::numeric_limits<T>::max())));
  else
    return static_cast<T>(v);
}

void transform_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const TensorShape &in = c.in_shape(0), &out = c.out_shape();
  const std::string_view fill_mode = c.string_attr("fill_mode");
  const Outside mode = fill_mode == "REFLECT"   ? Outside::reflect
                       : fill_mode == "WRAP"    ? Outside::wrap
                       : fill_mode == "NEAREST" ? Outside::nearest
                                                : Outside::constant;
  const bool bilinear = c.string_attr("interpolation") == "BILINEAR";
  const std::int64_t rows = out.dim(1), columns = out.dim(2), channels = out.dim(3);
  const bool one = c.in_shape(1).dim(0) == 1;
  if (in.dim(1) == 0 || in.dim(2) == 0)
    return c.fail(Code::invalid_argument,
                  format("[{}] images has shape {}; expected pixels", c.tag(), in));
  dispatch_types<float, double, half, bfloat16_t, std::uint8_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class T>() {
        // As in TensorFlow a value of the images' dtype, before it is mixed with pixels.
        const auto fill = static_cast<float>(as_pixel<T>(c.in<float>(3)[0]));
        parallel_for(out.dim(0) * rows, 8, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t image = r / rows;
            const auto oy = static_cast<float>(r % rows);
            const float* t = c.in<float>(1) + (one ? 0 : image * 8);
            const Picture<T> from{c.in<T>(0) + image * in.dim(1) * in.dim(2) * channels, in.dim(1),
                                  in.dim(2), channels, fill};
            T* to = c.out<T>() + r * columns * channels;
            for (std::int64_t column = 0; column < columns; ++column, to += channels) {
              const auto ox = static_cast<float>(column);
              const float k = t[6] * ox + t[7] * oy + 1.f;
              if (k == 0) {
                std::fill_n(to, channels, as_pixel<T>(fill));
                continue;
              }
              const float x = inside((t[0] * ox + t[1] * oy + t[2]) / k, in.dim(2), mode),
                          y = inside((t[3] * ox + t[4] * oy + t[5]) / k, in.dim(1), mode);
              if (!bilinear) {
                for (std::int64_t i = 0; i < channels; ++i)
                  to[i] = as_pixel<T>(from.at(std::round(y), std::round(x), i));
                continue;
              }
              const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
              for (std::int64_t i = 0; i < channels; ++i) {
                const float above = (x1 - x) * from.at(y0, x0, i) + (x - x0) * from.at(y0, x1, i),
                            below = (x1 - x) * from.at(y1, x0, i) + (x - x0) * from.at(y1, x1, i);
                to[i] = as_pixel<T>((y1 - y) * above + (y - y0) * below);
              }
            }
          }
        });
      });
}
RILL_KERNEL("ImageProjectiveTransformV3", cpu, kFloatTypes | (TypeSet{uint8, int32, int64}),
            transform_cpu);

}  // namespace
}  // namespace rill::cpu
