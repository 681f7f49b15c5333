#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "rill/base/host_device.h"
#include "rill/base/philox.h"

// Random numbers from the words of one group, for every device.
namespace rill::functors {

// Uniform in [0, 1): random mantissa bits below an exponent of 0, less 1.
RILL_HOST_DEVICE inline float unit_float(std::uint32_t x) {
  return std::bit_cast<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f;
}

RILL_HOST_DEVICE inline double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t mantissa = (std::uint64_t{high} & 0xfffff) << 32 | low;
  return std::bit_cast<double>(0x3ff0000000000000u | mantissa) - 1.0;
}

RILL_HOST_DEVICE inline std::uint64_t word64(const Philox::Group& g, int i) {
  return g[2 * i] | std::uint64_t{g[2 * i + 1]} << 32;
}

// sincos() and not sin() and cos(): the C library does not promise that they
// agree to the last bit.
RILL_HOST_DEVICE inline std::pair<float, float> sin_cos(float x) {
  float s, c;
  ::sincosf(x, &s, &c);
  return {s, c};
}

RILL_HOST_DEVICE inline std::pair<double, double> sin_cos(double x) {
  double s, c;
  ::sincos(x, &s, &c);
  return {s, c};
}

RILL_HOST_DEVICE inline std::array<float, 2> box_muller(std::uint32_t x0, std::uint32_t x1) {
  const float u = std::max(unit_float(x0), 1.0e-7f);
  // The product is one of doubles, rounded once.
  const auto angle = static_cast<float>(2.0 * std::numbers::pi * unit_float(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  const auto [s, c] = sin_cos(angle);
  return {s * radius, c * radius};
}

RILL_HOST_DEVICE inline std::array<double, 2> box_muller(std::uint32_t x0, std::uint32_t x1,
                                                         std::uint32_t x2, std::uint32_t x3) {
  const double u = std::max(unit_double(x0, x1), 1.0e-7);
  const double angle = 2.0 * std::numbers::pi * unit_double(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  const auto [s, c] = sin_cos(angle);
  return {s * radius, c * radius};
}

}  // namespace rill::functors
