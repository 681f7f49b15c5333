#include "rill/kernels/cpu/softmax_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace rill::cpu {
namespace {

using Peak = RowPeak<float> (*)(const float*, float*, std::int64_t);
struct Set {
  std::string name;
  Peak peak;
};
std::vector<Set> sets() {
  std::vector<Set> all{{"plain", detail::plain_peak<float>}};
#if RILL_X86_VARIANTS
  if (isa() != Isa::plain) all.push_back({"avx2", detail::avx2_peak<float>});
  if (isa() == Isa::avx512) all.push_back({"avx512", detail::avx512_peak<float>});
#endif
  return all;
}

TEST(SoftmaxRow, ExponentialsAreWithinOneUnitOfTheLastPlaceOnEveryInstructionSet) {
  constexpr float kLift = functors::math::kExpLift<float>;
  constexpr int n = 1007;
  std::mt19937 random(5);
  for (const Set& set : sets()) {
    double worst = 0;
    for (int row = 0; row < 100; ++row) {
      std::vector<float> x{0, -0.0f, -87, -87.3f, -87.4f, -103.9f, -104}, y(n);
      while (x.size() < n) x.push_back(std::uniform_real_distribution<float>(-104, 0)(random));
      const RowPeak<float> p = set.peak(x.data(), y.data(), n);
      EXPECT_EQ(p.max, 0) << set.name;
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double want = kLift * std::exp(static_cast<double>(x[i]));
        const double unit = std::ldexp(1.0, std::ilogb(want) - 23);
        worst = std::max(worst, std::abs(y[i] - want) / unit);
        sum += want;
      }
      EXPECT_NEAR(p.sum / sum, 1, 1e-6) << set.name;
      EXPECT_EQ(p.sum, set.peak(x.data(), nullptr, n).sum) << set.name;
    }
    EXPECT_LT(worst, 1.1) << set.name;
  }
}

TEST(SoftmaxRow, EndsInSubnormalsAndZeroes) {
  const std::vector<float> x{
      5, -90, -98, -99, -100, -1e30f, -std::numeric_limits<float>::infinity()};
  std::vector<float> y(x.size());
  softmax_row(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp(static_cast<double>(x[i]) - 5);
    EXPECT_NEAR(y[i], want, 1e-7 * want + 0x1p-149) << i;
  }
  EXPECT_EQ(y[5], 0);
  EXPECT_EQ(y[6], 0);
}

// Whatever the sign and the payload, and wherever it stands.
TEST(SoftmaxRow, OneNanMakesAllNan) {
  for (std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0xffffffffu, 0x7f8001ffu}) {
    for (int at : {0, 5, 17, 36}) {
      std::vector<float> x(37, 1.f), y(37);
      x[static_cast<std::size_t>(at)] = __builtin_bit_cast(float, bits);
      const RowPeak<float> p = softmax_row(x.data(), y.data(), 37);
      EXPECT_TRUE(std::isnan(p.sum)) << std::hex << bits << " at " << std::dec << at;
      EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
    }
  }
}

}  // namespace
}  // namespace rill::cpu
