#include "rill/kernels/functors/elementary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "rill/kernels/cpu/simd_loop.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"

// Errors against long double libm, on every instruction set this machine has.
// Half of the arguments are uniform in their bit patterns, half in a range
// where the function is interesting.
namespace rill {
namespace {

using cpu::Isa;
namespace fn = functors;

std::vector<Isa> sets() {
  std::vector<Isa> all{Isa::plain};
  if (cpu::isa() != Isa::plain) all.push_back(Isa::avx2);
  if (cpu::isa() == Isa::avx512) all.push_back(Isa::avx512);
  return all;
}

template <class T>
std::vector<T> arguments(T low, T high, std::uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {T(0),
                      T(-0.0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      -Limits::quiet_NaN(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::min(),
                      -Limits::min(),
                      Limits::max(),
                      Limits::lowest(),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(2),
                      T(88.7),
                      T(88.72283),
                      T(88.722839355),
                      T(88.73),
                      T(-87.0),
                      T(-87.3),
                      T(-87.4),
                      T(-103.9),
                      T(-104.1),
                      T(-18.1),
                      T(-17.9)};
  std::mt19937_64 random(seed);
  for (int i = 0; i < 60000; ++i) {
    const std::uint64_t bits = random();
    T v;
    std::memcpy(&v, &bits, sizeof v);
    x.push_back(v);
    x.push_back(low + (high - low) * static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53));
  }
  return x;
}

// |got - want| in units of the last place of T at `want`; huge when one is NaN
// or infinite and the other is not.
template <class T>
double ulps(T got, long double want) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = 1e30;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (static_cast<T>(want) == got) return 0;
  if (std::isinf(want)) return kWrong;
  const long double top = Limits::max();
  // At the edge of overflow an infinity stands for the next power of two.
  const long double edge = std::copysign(top * (1 + Limits::epsilon() / 2), got);
  const long double g = std::isinf(got) ? edge : got;
  if (std::isinf(got) && std::fabs(want) < top / 2) return kWrong;
  int exponent;
  std::frexp(want, &exponent);
  exponent = std::min(std::max(exponent, Limits::min_exponent), Limits::max_exponent);
  return static_cast<double>(std::fabs(g - want) / std::ldexp(1.0L, exponent - Limits::digits));
}

template <class F, class T, class Reference>
void check_unary(const char* name, T low, T high, double bound, Reference reference) {
  const std::vector<T> x = arguments<T>(low, high, 1);
  std::vector<T> y(x.size());
  double worst = 0;
  for (const Isa set : sets()) {
    cpu::detail::unary(set, x.data(), y.data(), static_cast<std::int64_t>(x.size()), F{});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double want = reference(static_cast<long double>(x[i]));
      const double error = ulps(y[i], want);
      worst = std::max(worst, error);
      ASSERT_LE(error, bound) << name << "(" << x[i] << ") = " << y[i] << ", not "
                              << static_cast<double>(want) << ", ISA " << static_cast<int>(set);
      if (want == 0 && y[i] == 0) {
        ASSERT_EQ(std::signbit(y[i]), std::signbit(want)) << name << "(" << x[i] << ")";
      }
    }
  }
  std::printf("%-10s %-6s %.2f ulp\n", name, sizeof(T) == 4 ? "float" : "double", worst);
}

#define CHECK_BOTH(Name, low, high, float_bound, double_bound, expression)          \
  TEST(Ulp, Name) {                                                                 \
    const auto reference = [](long double x) -> long double { return expression; }; \
    check_unary<fn::Name, float>(#Name, low, high, float_bound, reference);         \
    check_unary<fn::Name, double>(#Name, low, high, double_bound, reference);       \
  }

// The bounds are the errors measured, rounded up.
CHECK_BOTH(Exp, -104, 89, 1.5, 3, std::exp(x))
CHECK_BOTH(Expm1, -20, 20, 2, 3, std::expm1(x))
CHECK_BOTH(Log, 0, 4, 1.5, 2, std::log(x))
CHECK_BOTH(Log1p, -1, 4, 2, 2, std::log1p(x))
CHECK_BOTH(Sin, -10, 10, 2, 4, std::sin(x))
CHECK_BOTH(Cos, -10, 10, 2, 4, std::cos(x))
CHECK_BOTH(Tan, -10, 10, 4, 4, std::tan(x))
CHECK_BOTH(Asin, -1, 1, 3, 3, std::asin(x))
CHECK_BOTH(Acos, -1, 1, 3, 3, std::acos(x))
CHECK_BOTH(Atan, -5, 5, 3, 3, std::atan(x))
CHECK_BOTH(Sinh, -10, 10, 2, 3, std::sinh(x))
CHECK_BOTH(Cosh, -10, 10, 3, 3, std::cosh(x))
CHECK_BOTH(Tanh, -10, 10, 3, 3, std::tanh(x))
CHECK_BOTH(Asinh, -10, 10, 3, 3, std::asinh(x))
CHECK_BOTH(Acosh, 1, 10, 3, 3, std::acosh(x))
CHECK_BOTH(Atanh, -1, 1, 3, 3, std::atanh(x))
CHECK_BOTH(Erf, -4, 4, 4.5, 3, std::erf(x))
CHECK_BOTH(Erfc, -4, 9, 3, 3, std::erfc(x))  // where there is no vector code: the bound of libm
CHECK_BOTH(Sigmoid, -104, 20, 3, 4, 1 / (1 + std::exp(-x)))
CHECK_BOTH(Softplus, -104, 20, 4, 5, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))
CHECK_BOTH(Elu, -20, 20, 2, 3, x < 0 ? std::expm1(x) : x)
CHECK_BOTH(Sqrt, 0, 10, 0.5, 0.5, std::sqrt(x))
CHECK_BOTH(Rsqrt, 0, 10, 1.5, 1.5, 1 / std::sqrt(x))
CHECK_BOTH(Floor, -10, 10, 0, 0, std::floor(x))
CHECK_BOTH(Ceil, -10, 10, 0, 0, std::ceil(x))
CHECK_BOTH(Rint, -10, 10, 0, 0, std::nearbyint(x))

template <class F, class T, class Reference>
void check_binary(const char* name, T low, T high, double bound, Reference reference) {
  std::vector<T> a = arguments<T>(low, high, 1), b = arguments<T>(low, high, 2);
  for (int i = 0; i < 27; ++i) {  // special values against special values
    for (int j = 0; j < 27; ++j) {
      a.push_back(T(a[i]));
      b.push_back(T(b[j]));
    }
  }
  std::vector<T> y(a.size());
  double worst = 0;
  for (const Isa set : sets()) {
    cpu::detail::binary<cpu::detail::Sides::both>(set, a.data(), b.data(), y.data(),
                                                  static_cast<std::int64_t>(a.size()), F{});
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double error = ulps(y[i], reference(a[i], b[i]));
      worst = std::max(worst, error);
      ASSERT_LE(error, bound) << name << "(" << a[i] << ", " << b[i] << ") = " << y[i] << ", ISA "
                              << static_cast<int>(set);
    }
  }
  std::printf("%-10s %-6s %.2f ulp\n", name, sizeof(T) == 4 ? "float" : "double", worst);
}

TEST(Ulp, Pow) {
  const auto reference = [](long double a, long double b) { return std::pow(a, b); };
  check_binary<fn::Pow, float>("Pow", 0, 20, 2, reference);
  check_binary<fn::Pow, double>("Pow", 0, 20, 2, reference);
}

TEST(Ulp, Atan2) {
  const auto reference = [](long double a, long double b) { return std::atan2(a, b); };
  check_binary<fn::Atan2, float>("Atan2", -5, 5, 4, reference);
  check_binary<fn::Atan2, double>("Atan2", -5, 5, 4, reference);
}

TEST(Ulp, Xlogy) {
  const auto reference = [](long double a, long double b) { return a == 0 ? 0 : a * std::log(b); };
  check_binary<fn::Xlogy, float>("Xlogy", 0, 5, 3, reference);
  check_binary<fn::Xlogy, double>("Xlogy", 0, 5, 3, reference);
}

TEST(Special, Lgamma) {
  EXPECT_EQ(fn::Lgamma::apply(1.0), 0.0);
  EXPECT_DOUBLE_EQ(fn::Lgamma::apply(0.5), 0.57236494292470008707);
  EXPECT_FLOAT_EQ(fn::Lgamma::apply(10.0f), 12.8018274801f);
  EXPECT_EQ(fn::Lgamma::apply(-1.0), std::numeric_limits<double>::infinity());
}

TEST(Special, Digamma) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(fn::Digamma::apply(1.0), -0.57721566490153286061, 1e-15);
  EXPECT_NEAR(fn::Digamma::apply(0.5), -1.96351002602142347944, 1e-15);
  EXPECT_NEAR(fn::Digamma::apply(1.4616321449683623413), 0.0, 1e-15);
  EXPECT_NEAR(fn::Digamma::apply(-0.5), 0.03648997397857652056, 1e-15);
  EXPECT_NEAR(fn::Digamma::apply(-2.5), 1.10315664064524318723, 2e-15);
  EXPECT_NEAR(fn::Digamma::apply(10.0), 2.25175258906672110765, 1e-15);
  EXPECT_NEAR(fn::Digamma::apply(1e10), 23.02585092989045684, 1e-14);
  EXPECT_NEAR(fn::Digamma::apply(1e-10), -10000000000.5772156649, 1e-5);
  EXPECT_TRUE(std::isnan(fn::Digamma::apply(0.0)) && std::isnan(fn::Digamma::apply(-0.0)));
  EXPECT_EQ(fn::Digamma::apply(inf), inf);
  EXPECT_TRUE(std::isnan(fn::Digamma::apply(-3.0)));
  EXPECT_TRUE(std::isnan(fn::Digamma::apply(-inf)));
  EXPECT_TRUE(std::isnan(fn::Digamma::apply(std::nan(""))));
  EXPECT_FLOAT_EQ(fn::Digamma::apply(1.0f), -0.57721566f);
  // psi(x + 1) = psi(x) + 1 / x
  for (double x = -6.7; x < 30; x += 0.37) {
    const double sum = fn::Digamma::apply(x) + 1 / x;
    EXPECT_NEAR(fn::Digamma::apply(x + 1), sum, 1e-14 * std::max(1.0, std::fabs(1 / x))) << x;
  }
}

TEST(Special, Classification) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(fn::IsNan::apply(std::nan("")));
  EXPECT_FALSE(fn::IsNan::apply(inf));
  EXPECT_TRUE(fn::IsInf::apply(-inf));
  EXPECT_FALSE(fn::IsInf::apply(std::nan("")));
  EXPECT_TRUE(fn::IsFinite::apply(1e308));
  EXPECT_FALSE(fn::IsFinite::apply(std::nan("")));
  EXPECT_FALSE(fn::IsFinite::apply(inf));
  EXPECT_EQ(fn::Round::apply(2.5), 2.0);
  EXPECT_EQ(fn::Round::apply(3.5f), 4.0f);
  EXPECT_EQ(fn::Round::apply(-7), -7);
}

}  // namespace
}  // namespace rill
