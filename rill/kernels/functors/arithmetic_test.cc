#include "rill/kernels/functors/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "rill/kernels/cpu/simd_loop.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/compare.h"
#include "rill/kernels/functors/elementary.h"

namespace rill {
namespace {

namespace fn = functors;
using cpu::Isa;

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

// Pairs with every awkward operand, then random ones of all sizes.
template <class T>
void pairs(std::vector<T>& a, std::vector<T>& b) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       T(1),
                       T(2),
                       T(3),
                       T(7),
                       static_cast<T>(-1),
                       static_cast<T>(-2),
                       static_cast<T>(-7),
                       Limits::min(),
                       static_cast<T>(Limits::min() + 1),
                       Limits::max(),
                       static_cast<T>(Limits::max() - 1)};
  for (const T x : special) {
    for (const T y : special) a.push_back(x), b.push_back(y);
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    a.push_back(static_cast<T>(random() >> (random() % 64)));
    b.push_back(static_cast<T>(random() >> (random() % 64)));
  }
}

__extension__ using Wide = __int128;

template <class F, class T, class Reference>
void check(const char* name, Reference reference) {
  std::vector<T> a, b;
  pairs(a, b);
  std::vector<T> y(a.size());
  for (const Isa set : {Isa::plain, cpu::isa()}) {
    cpu::detail::binary<cpu::detail::Sides::both>(set, a.data(), b.data(), y.data(),
                                                  static_cast<std::int64_t>(a.size()), F{});
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T want = static_cast<T>(reference(Wide{a[i]}, Wide{b[i]}));
      ASSERT_EQ(+y[i], +want) << name << "(" << +a[i] << ", " << +b[i] << ")";
    }
  }
}

Wide floor_div(Wide a, Wide b) {
  return b == 0 ? 0 : a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}

TYPED_TEST(Integers, WrapAndFloor) {
  using T = TypeParam;
  check<fn::Add, T>("Add", [](Wide a, Wide b) { return a + b; });
  check<fn::Sub, T>("Sub", [](Wide a, Wide b) { return a - b; });
  check<fn::Mul, T>("Mul", [](Wide a, Wide b) {
    return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
  });
  check<fn::Div, T>("Div", [](Wide a, Wide b) { return b == 0 ? 0 : a / b; });
  check<fn::TruncateMod, T>("Mod", [](Wide a, Wide b) { return b == 0 ? 0 : a % b; });
  check<fn::FloorDiv, T>("FloorDiv", floor_div);
  check<fn::FloorMod, T>("FloorMod",
                         [](Wide a, Wide b) { return b == 0 ? 0 : a - floor_div(a, b) * b; });
  check<fn::Maximum, T>("Maximum", [](Wide a, Wide b) { return a > b ? a : b; });
  check<fn::LeftShift, T>("LeftShift", [](Wide a, Wide b) {
    const Wide top = sizeof(T) * 8 - 1;
    return static_cast<std::uint64_t>(a) << static_cast<int>(b > top ? top : b < 0 ? 0 : b);
  });
  check<fn::RightShift, T>("RightShift", [](Wide a, Wide b) {
    const Wide top = sizeof(T) * 8 - 1;
    return a >> static_cast<int>(b > top ? top : b < 0 ? 0 : b);
  });
}

TYPED_TEST(Integers, BadOperandsAreDetectable) {
  using T = TypeParam;
  EXPECT_TRUE(fn::Div::bad(T(1), T(0)));
  EXPECT_TRUE(fn::FloorMod::bad(T(1), T(0)));
  EXPECT_FALSE(fn::FloorDiv::bad(T(0), T(1)));
  EXPECT_EQ(fn::Pow::bad(T(2), static_cast<T>(-1)), std::is_signed_v<T>);
  EXPECT_EQ(fn::Pow::apply(T(3), T(4)), T(81));
  EXPECT_EQ(fn::Pow::apply(T(0), T(0)), T(1));
  EXPECT_TRUE(fn::Inv::bad(T(0)));
}

TEST(Arithmetic, EdgeOfSignedRange) {
  constexpr int kMin = std::numeric_limits<int>::min();
  EXPECT_EQ(fn::Neg::apply(kMin), kMin);
  EXPECT_EQ(fn::Abs::apply(kMin), kMin);
  EXPECT_EQ(fn::Abs::apply(std::int8_t{-128}), -128);
  EXPECT_EQ(fn::Sign::apply(-5), -1);
  EXPECT_EQ(fn::Sign::apply(5u), 1u);
}

TEST(Arithmetic, FloatSpecialValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(fn::Maximum::apply(1.0f, nan)));
  EXPECT_TRUE(std::isnan(fn::Maximum::apply(nan, 1.0f)));
  EXPECT_TRUE(std::isnan(fn::Minimum::apply(1.0f, nan)));
  EXPECT_TRUE(std::isnan(fn::Minimum::apply(nan, 1.0f)));
  EXPECT_EQ(fn::FloorMod::apply(-1.0f, 3.0f), 2.0f);
  EXPECT_EQ(fn::FloorMod::apply(1.0f, -3.0f), -2.0f);
  EXPECT_EQ(fn::TruncateMod::apply(-1.0f, 3.0f), -1.0f);
  EXPECT_EQ(fn::FloorDiv::apply(-1.0f, 3.0f), -1.0f);
  EXPECT_EQ(fn::TruncateDiv::apply(-4.0f, 3.0f), -1.0f);
  EXPECT_FALSE(fn::Div::bad(1.0f, 0.0f));
  EXPECT_EQ(fn::DivNoNan::apply(nan, 0.0f), 0.0f);
  EXPECT_EQ(fn::MulNoNan::apply(inf, 0.0f), 0.0f);
  EXPECT_EQ(fn::Xdivy::apply(0.0f, 0.0f), 0.0f);
  EXPECT_EQ(fn::Xlogy::apply(0.0f, 0.0f), 0.0f);
  EXPECT_EQ(fn::Xlog1py::apply(0.0, -1.0), 0.0);
  EXPECT_TRUE(std::isnan(fn::Sign::apply(nan)));
  EXPECT_EQ(fn::Sign::apply(-0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(fn::Relu::apply(nan)));
  EXPECT_EQ(fn::Relu6::apply(inf), 6.0f);
  EXPECT_EQ(fn::Sigmoid::apply(-inf), 0.0f);
  EXPECT_EQ(fn::Softplus::apply(inf), inf);
  EXPECT_EQ(fn::Softplus::apply(-inf), 0.0f);
  EXPECT_EQ(fn::Elu::apply(-inf), -1.0f);
  EXPECT_EQ(fn::Elu::apply(inf), inf);
  EXPECT_EQ(fn::Selu::apply(inf), inf);
  EXPECT_EQ(fn::LeakyRelu(0.25).apply(-4.0f), -1.0f);
}

// Every gradient against a central difference of its function.
template <class F>
double slope(double x, const F& f = {}) {
  return (f.apply(x + 1e-6) - f.apply(x - 1e-6)) / 2e-6;
}

TEST(Activation, GradientsMatchDifferences) {
  for (double x = -3.05; x < 8; x += 0.3) {
    const double dy = 1.7, near = 1e-7;
    EXPECT_NEAR(fn::TanhGrad::apply(fn::Tanh::apply(x), dy), dy * slope<fn::Tanh>(x), near) << x;
    const double y = fn::Sigmoid::apply(x);
    EXPECT_NEAR(fn::SigmoidGrad::apply(y, dy), dy * slope<fn::Sigmoid>(x), near);
    EXPECT_NEAR(fn::ReluGrad::apply(dy, x), dy * slope<fn::Relu>(x), near);
    EXPECT_NEAR(fn::Relu6Grad::apply(dy, x), dy * slope<fn::Relu6>(x), near);
    EXPECT_NEAR(fn::EluGrad::apply(dy, fn::Elu::apply(x)), dy * slope<fn::Elu>(x), near);
    EXPECT_NEAR(fn::SeluGrad::apply(dy, fn::Selu::apply(x)), dy * slope<fn::Selu>(x), near);
    EXPECT_NEAR(fn::SoftplusGrad::apply(dy, x), dy * slope<fn::Softplus>(x), near);
    EXPECT_NEAR(fn::SoftsignGrad::apply(dy, x), dy * slope<fn::Softsign>(x), near);
    EXPECT_NEAR(fn::LeakyReluGrad(0.1).apply(dy, x), dy * slope(x, fn::LeakyRelu(0.1)), near);
    EXPECT_NEAR(fn::InvGrad::apply(fn::Inv::apply(x), dy) / slope<fn::Inv>(x), dy, near);
    if (x <= 0) continue;
    EXPECT_NEAR(fn::SqrtGrad::apply(fn::Sqrt::apply(x), dy), dy * slope<fn::Sqrt>(x), near);
    EXPECT_NEAR(fn::RsqrtGrad::apply(fn::Rsqrt::apply(x), dy) / slope<fn::Rsqrt>(x), dy, near);
  }
}

}  // namespace
}  // namespace rill
