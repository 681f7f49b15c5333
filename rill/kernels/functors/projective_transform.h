#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "rill/base/host_device.h"

// A pixel from where a projective transform says, for every device.
namespace rill::functors {

enum class Outside { constant, reflect, wrap, nearest };
inline Outside outside_of(std::string_view fill_mode) {
  return fill_mode == "REFLECT"   ? Outside::reflect
         : fill_mode == "WRAP"    ? Outside::wrap
         : fill_mode == "NEAREST" ? Outside::nearest
                                  : Outside::constant;
}

// The coordinate inside an axis of `size` pixels that one outside stands for.
RILL_HOST_DEVICE inline float inside(float at, std::int64_t size, Outside mode) {
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
RILL_HOST_DEVICE T as_pixel(float v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        std::clamp(static_cast<double>(v), static_cast<double>(std::numeric_limits<T>::min()),
                   sizeof(T) == 8 ? 9223372036854774784.0
                                  : static_cast<double>(std::numeric_limits<T>::max())));
  else
    return static_cast<T>(v);
}

template <class T>
struct Picture {
  const T* pixels;
  std::int64_t height, width, channels;
  T fill;  // as in TensorFlow a value of the images' dtype, before it is mixed with pixels
  RILL_HOST_DEVICE float at(float y, float x, std::int64_t c) const {
    if (!(y >= 0 && x >= 0 && y < static_cast<float>(height) && x < static_cast<float>(width)))
      return static_cast<float>(fill);
    return static_cast<float>(
        pixels[(static_cast<std::int64_t>(y) * width + static_cast<std::int64_t>(x)) * channels +
               c]);
  }
};

// One pixel of the result, of `channels` elements at `to`: row oy and column ox of the image that
// the eight numbers t make of `from`.
template <class T>
RILL_HOST_DEVICE void transformed_pixel(const Picture<T>& from, const float* t, float oy, float ox,
                                        Outside mode, bool bilinear, T* to) {
  const std::int64_t channels = from.channels;
  const float k = t[6] * ox + t[7] * oy + 1.f;
  if (k == 0) {
    for (std::int64_t i = 0; i < channels; ++i) to[i] = from.fill;
    return;
  }
  const float x = inside((t[0] * ox + t[1] * oy + t[2]) / k, from.width, mode),
              y = inside((t[3] * ox + t[4] * oy + t[5]) / k, from.height, mode);
  if (!bilinear) {
    for (std::int64_t i = 0; i < channels; ++i)
      to[i] = as_pixel<T>(from.at(std::round(y), std::round(x), i));
    return;
  }
  const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
  for (std::int64_t i = 0; i < channels; ++i) {
    const float above = (x1 - x) * from.at(y0, x0, i) + (x - x0) * from.at(y0, x1, i),
                below = (x1 - x) * from.at(y1, x0, i) + (x - x0) * from.at(y1, x1, i);
    to[i] = as_pixel<T>((y1 - y) * above + (y - y0) * below);
  }
}

}  // namespace rill::functors
