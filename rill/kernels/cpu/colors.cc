// Colours of pixels. Half types are computed in float.
#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

template <class T>
struct Color {
  T a, b, c;
};

template <class T>
Color<T> hsv_of(Color<T> rgb) {
  const auto [r, g, b] = rgb;
  const T value = std::max({r, g, b}), range = value - std::min({r, g, b});
  const T saturation = value > 0 ? range / value : 0;
  T hue = 0;
  if (range > 0) {
    const T norm = T(1. / 6) / range;
    hue = r == value   ? norm * (g - b)
          : g == value ? norm * (b - r) + T(2. / 6)
                       : norm * (r - g) + T(4. / 6);
    if (hue < 0) hue += 1;
  }
  return {hue, saturation, value};
}
template <class T>
Color<T> rgb_of(Color<T> hsv) {
  const auto [hue, saturation, value] = hsv;
  const T h = hue * 6;
  auto channel = [&](T part) {
    return ((1 - saturation) + saturation * std::clamp(part, T(0), T(1))) * value;
  };
  return {channel(std::abs(h - 3) - 1), channel(2 - std::abs(h - 2)), channel(2 - std::abs(h - 4))};
}

// The hue in sixths of the circle, and the ends of what the channels span: between these lies the
// third channel, in a place that the hue says.
Color<float> hue_moved(Color<float> rgb, float sixths) {
  const auto [r, g, b] = rgb;
  const float high = std::max({r, g, b}), low = std::min({r, g, b}), range = high - low;
  float hue = 0;
  if (range > 0) {
    // Which sixth, by the order of the channels; in odd ones the middle channel falls.
    const int sixth = r < g ? (b < r ? 1 : b > g ? 3 : 2) : (b < g ? 0 : b > r ? 4 : 5);
    const float middle = std::max(std::min(r, g), std::min(std::max(r, g), b));
    const float part = (middle - low) / range;
    hue = static_cast<float>(sixth) + (sixth % 2 ? 1 - part : part);
  }
  hue += sixths;
  if (!std::isfinite(hue)) hue = 0;
  hue = std::fmod(hue, 6.f);
  if (hue < 0) hue += 6;
  if (hue >= 6) hue -= 6;
  const int sixth = static_cast<int>(hue);
  const float part = hue - static_cast<float>(sixth);
  const float middle = low + (sixth % 2 ? 1 - part : part) * range;
  switch (sixth) {
    case 0:
      return {high, middle, low};
    case 1:
      return {middle, high, low};
    case 2:
      return {low, high, middle};
    case 3:
      return {low, middle, high};
    case 4:
      return {middle, low, high};
    default:
      return {high, low, middle};
  }
}

// Calls f for each pixel of three channels.
template <class F>
void each_color(KernelContext& c, F f) {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    parallel_for(c.in(0).size / 3, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Color<W> from{static_cast<W>(in[3 * i]), static_cast<W>(in[3 * i + 1]),
                            static_cast<W>(in[3 * i + 2])};
        const Color<W> to = f(from);
        out[3 * i] = static_cast<T>(to.a), out[3 * i + 1] = static_cast<T>(to.b),
                out[3 * i + 2] = static_cast<T>(to.c);
      }
    });
  });
}
void rgb_to_hsv_cpu(KernelContext& c) noexcept {
  each_color(c, [](auto color) { return hsv_of(color); });
}
void hsv_to_rgb_cpu(KernelContext& c) noexcept {
  each_color(c, [](auto color) { return rgb_of(color); });
}
void adjust_hue_cpu(KernelContext& c) noexcept {
  const float sixths = *c.in<float>(1) * 6;
  each_color(c, [sixths](auto color) {
    const Color<float> moved =
        hue_moved(Color<float>{static_cast<float>(color.a), static_cast<float>(color.b),
                               static_cast<float>(color.c)},
                  sixths);
    return decltype(color){moved.a, moved.b, moved.c};
  });
}
void adjust_saturation_cpu(KernelContext& c) noexcept {
  const float scale = *c.in<float>(1);
  each_color(c, [scale](auto color) {
    auto hsv = hsv_of(color);
    using W = decltype(hsv.b);
    hsv.b = std::min(W(1), std::max(W(0), hsv.b * static_cast<W>(scale)));
    return rgb_of(hsv);
  });
}
RILL_KERNEL("RGBToHSV", cpu, kFloatTypes, rgb_to_hsv_cpu);
RILL_KERNEL("HSVToRGB", cpu, kFloatTypes, hsv_to_rgb_cpu);
RILL_KERNEL("AdjustHue", cpu, (TypeSet{float16, float32}), adjust_hue_cpu);
RILL_KERNEL("AdjustSaturation", cpu, (TypeSet{float16, float32}), adjust_saturation_cpu);

}  // namespace
}  // namespace rill::cpu
