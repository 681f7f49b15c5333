#pragma once
#include <algorithm>
#include <cmath>

#include "rill/base/host_device.h"

// Colours of one pixel, for every device.
namespace rill::functors {

template <class T>
struct Color {
  T a, b, c;
};

template <class T>
RILL_HOST_DEVICE Color<T> hsv_of(Color<T> rgb) {
  const T r = rgb.a, g = rgb.b, b = rgb.c;
  const T value = std::max(std::max(r, g), b), range = value - std::min(std::min(r, g), b);
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
RILL_HOST_DEVICE Color<T> rgb_of(Color<T> hsv) {
  const T h = hsv.a * 6, saturation = hsv.b, value = hsv.c;
  auto channel = [=](T part) {
    return ((1 - saturation) + saturation * std::clamp(part, T(0), T(1))) * value;
  };
  return {channel(std::abs(h - 3) - 1), channel(2 - std::abs(h - 2)), channel(2 - std::abs(h - 4))};
}

// The hue in sixths of the circle, and the ends of what the channels span: between these lies the
// third channel, in a place that the hue says.
RILL_HOST_DEVICE inline Color<float> hue_moved(Color<float> rgb, float sixths) {
  const float r = rgb.a, g = rgb.b, b = rgb.c;
  const float high = std::max(std::max(r, g), b), low = std::min(std::min(r, g), b),
              range = high - low;
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

// What ops do to a pixel; W is float or double.
struct RgbToHsv {
  template <class W>
  RILL_HOST_DEVICE Color<W> operator()(Color<W> rgb) const {
    return hsv_of(rgb);
  }
};
struct HsvToRgb {
  template <class W>
  RILL_HOST_DEVICE Color<W> operator()(Color<W> hsv) const {
    return rgb_of(hsv);
  }
};
struct AdjustHue {
  float delta;  // of the circle
  RILL_HOST_DEVICE Color<float> operator()(Color<float> rgb) const {
    return hue_moved(rgb, delta * 6);
  }
};
struct AdjustSaturation {
  float scale;
  RILL_HOST_DEVICE Color<float> operator()(Color<float> rgb) const {
    Color<float> hsv = hsv_of(rgb);
    hsv.b = std::min(1.f, std::max(0.f, hsv.b * scale));
    return rgb_of(hsv);
  }
};

}  // namespace rill::functors
