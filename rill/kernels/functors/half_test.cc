#include "rill/kernels/functors/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace rill {
namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

double half_value(std::uint16_t b) {
  const int exponent = (b >> 10) & 31, mantissa = b & 1023;
  const double magnitude = exponent == 31
                               ? (mantissa ? std::nan("") : std::numeric_limits<double>::infinity())
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return b & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, EveryPatternToFloatAndBack) {
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const auto h = half::from_bits(static_cast<std::uint16_t>(b));
    const float f = h;
    const double want = half_value(h.bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(f)) << b;
      EXPECT_EQ(half(f).bits, b | 0x200u) << b;
    } else {
      EXPECT_EQ(static_cast<double>(f), want) << b;
      EXPECT_EQ(half(f).bits, b);
    }
  }
}

// Between every two neighbours: the midpoint goes to the even one, a float
// past it to the nearer one.
TEST(Half, RoundsToNearestEven) {
  for (std::uint32_t b = 0; b < 0x7c00; ++b) {
    const double low = half_value(static_cast<std::uint16_t>(b));
    const double high = b + 1 == 0x7c00 ? 65536.0 : half_value(static_cast<std::uint16_t>(b + 1));
    const float middle = static_cast<float>((low + high) / 2);  // exact
    const std::uint32_t even = b & 1 ? b + 1 : b;
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(half(middle).bits, even);
    EXPECT_EQ(half(std::nextafter(middle, 0.0f)).bits, b);
    EXPECT_EQ(half(std::nextafter(middle, inf)).bits, b + 1);
    EXPECT_EQ(half(-middle).bits, even | 0x8000u);
  }
  EXPECT_EQ(half(1e30f).bits, 0x7c00);
  EXPECT_EQ(half(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(half(-0.0f).bits, 0x8000);
}

TEST(Bfloat16, EveryPatternToFloatAndBack) {
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const float f = bfloat16_t::from_bits(static_cast<std::uint16_t>(b));
    EXPECT_EQ(bits_of(f), b << 16);
    EXPECT_EQ(bfloat16_t(f).bits, std::isnan(f) ? b | 0x40u : b) << b;
  }
}

TEST(Bfloat16, RoundsToNearestEven) {
  for (std::uint32_t b = 0; b < 0x7f80; ++b) {
    const auto at = [b](std::uint32_t low) {
      return bfloat16_t(std::bit_cast<float>((b << 16) | low)).bits;
    };
    EXPECT_EQ(at(0x8000), b & 1 ? b + 1 : b);
    EXPECT_EQ(at(0x7fff), b);
    EXPECT_EQ(at(0x8001), b + 1);
  }
  EXPECT_TRUE(std::isnan(float(bfloat16_t(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(float(bfloat16_t(std::bit_cast<float>(0xffffffffu)))));
}

}  // namespace
}  // namespace rill
