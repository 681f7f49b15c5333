#include "rill/kernels/cpu/simd_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/compare.h"
#include "rill/kernels/functors/elementary.h"

namespace rill {
namespace {

using cpu::Isa;
using cpu::detail::Sides;
namespace fn = functors;

std::vector<Isa> sets() {
  std::vector<Isa> all{Isa::plain};
  if (cpu::isa() != Isa::plain) all.push_back(Isa::avx2);
  if (cpu::isa() == Isa::avx512) all.push_back(Isa::avx512);
  return all;
}

// Values of all sizes and a few special ones, but one NaN pattern only.
template <class T>
std::vector<T> values(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) {
    if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(random() >> (random() % 64));
    } else {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      const int kind = static_cast<int>(random() % 16);
      v = static_cast<T>(static_cast<float>(kind == 0   ? 0.0
                                            : kind == 1 ? -1e30
                                            : kind == 2 ? 200 * unit - 150
                                                        : 8 * unit - 3));
      if (kind == 3) v = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    }
  }
  return x;
}

constexpr std::int64_t kSize = 150;

template <class R>
using Result = std::array<R, kSize>;  // std::vector<bool> is not an array

template <class R>
void expect_same(const Result<R>& a, const Result<R>& b, const char* what, int at) {
  ASSERT_EQ(std::memcmp(a.data(), b.data(), sizeof a), 0) << what << " " << at;
}

// Any split of the range gives the bits of the whole, at any alignment.
template <class F, class T, class R = T>
void splits_unary(const char* name, const F& f = {}) {
  const std::vector<T> x = values<T>(kSize, 7);
  for (const Isa set : sets()) {
    Result<R> whole, parts;
    cpu::detail::unary(set, x.data(), whole.data(), kSize, f);
    for (int cut = 0; cut <= kSize; ++cut) {
      cpu::detail::unary(set, x.data(), parts.data(), cut, f);
      cpu::detail::unary(set, x.data() + cut, parts.data() + cut, kSize - cut, f);
      expect_same(whole, parts, name, cut);
    }
    for (int i = 0; i < kSize; ++i) cpu::detail::unary(set, &x[i], &parts[i], 1, f);
    expect_same(whole, parts, name, -1);
    if constexpr (std::is_same_v<T, R>) {
      Result<T> in_place;
      std::copy(x.begin(), x.end(), in_place.begin());
      cpu::detail::unary(set, in_place.data(), in_place.data(), kSize, f);
      expect_same(whole, in_place, name, -2);
    }
  }
  Result<R> best, single;
  cpu::unary_loop(x.data(), best.data(), kSize, f);
  for (int i = 0; i < kSize; ++i) cpu::unary_loop(&x[i], &single[i], 1, f);
  expect_same(best, single, name, -3);
}

template <class F, class T, class R = T>
void splits_binary(const char* name, const F& f = {}) {
  const std::vector<T> a = values<T>(kSize, 7), b = values<T>(kSize, 8);
  for (const Isa set : sets()) {
    Result<R> whole, parts;
    const auto same = [&](int at) { expect_same(whole, parts, name, at); };
    cpu::detail::binary<Sides::both>(set, a.data(), b.data(), whole.data(), kSize, f);
    for (int cut = 0; cut <= kSize; ++cut) {
      R* y = parts.data();
      cpu::detail::binary<Sides::both>(set, a.data(), b.data(), y, cut, f);
      cpu::detail::binary<Sides::both>(set, &a[0] + cut, &b[0] + cut, y + cut, kSize - cut, f);
      same(cut);
    }
    // A scalar side gives the bits of an array that repeats the scalar.
    for (const int at : {0, 5, 11}) {
      const std::vector<T> repeated(kSize, a[at]);
      const T* r = repeated.data();
      cpu::detail::binary<Sides::both>(set, r, b.data(), whole.data(), kSize, f);
      cpu::detail::binary<Sides::left_scalar>(set, &a[at], b.data(), parts.data(), kSize, f);
      same(-1);
      cpu::detail::binary<Sides::both>(set, b.data(), r, whole.data(), kSize, f);
      cpu::detail::binary<Sides::right_scalar>(set, b.data(), &a[at], parts.data(), kSize, f);
      same(-2);
    }
  }
  Result<R> best, single;
  cpu::binary_loop(a.data(), b.data(), best.data(), kSize, f);
  for (int i = 0; i < kSize; ++i) cpu::binary_loop(&a[i], &b[i], &single[i], 1, f);
  expect_same(best, single, name, -3);
}

#define UNARY(T, Name) splits_unary<fn::Name, T>(#Name)
#define BINARY(T, Name) splits_binary<fn::Name, T>(#Name)

template <class T>
void splits_of_floats() {
  UNARY(T, Exp), UNARY(T, Expm1), UNARY(T, Log), UNARY(T, Log1p), UNARY(T, Sin), UNARY(T, Cos);
  UNARY(T, Tan), UNARY(T, Asin), UNARY(T, Acos), UNARY(T, Atan), UNARY(T, Sinh), UNARY(T, Cosh);
  UNARY(T, Tanh), UNARY(T, Asinh), UNARY(T, Acosh), UNARY(T, Atanh), UNARY(T, Erf);
  UNARY(T, Erfc), UNARY(T, Lgamma), UNARY(T, Digamma), UNARY(T, Floor), UNARY(T, Rint);
  UNARY(T, Neg), UNARY(T, Abs), UNARY(T, Sign), UNARY(T, Square), UNARY(T, Inv), UNARY(T, Sqrt);
  UNARY(T, Rsqrt), UNARY(T, Sigmoid), UNARY(T, Softplus), UNARY(T, Softsign), UNARY(T, Relu);
  UNARY(T, Relu6), UNARY(T, Elu), UNARY(T, Selu);
  splits_unary<fn::LeakyRelu, T>("LeakyRelu", fn::LeakyRelu(0.3));
  splits_unary<fn::IsNan, T, bool>("IsNan");
  splits_unary<fn::IsFinite, T, bool>("IsFinite");
}

template <class T>
void binary_splits_of_floats() {
  BINARY(T, Add), BINARY(T, Mul), BINARY(T, Div), BINARY(T, FloorDiv), BINARY(T, FloorMod);
  BINARY(T, TruncateMod), BINARY(T, Maximum), BINARY(T, Minimum), BINARY(T, SquaredDifference);
  BINARY(T, Pow), BINARY(T, Atan2), BINARY(T, DivNoNan), BINARY(T, MulNoNan), BINARY(T, Xdivy);
  BINARY(T, Xlogy), BINARY(T, Xlog1py), BINARY(T, TanhGrad), BINARY(T, SigmoidGrad);
  BINARY(T, ReluGrad), BINARY(T, Relu6Grad), BINARY(T, EluGrad), BINARY(T, SeluGrad);
  BINARY(T, SoftplusGrad), BINARY(T, SoftsignGrad), BINARY(T, InvGrad), BINARY(T, SqrtGrad);
  BINARY(T, RsqrtGrad);
  splits_binary<fn::Less, T, bool>("Less");
}

TEST(SplitIndependence, Float) { splits_of_floats<float>(); }
TEST(SplitIndependence, Double) { splits_of_floats<double>(); }
TEST(SplitIndependence, FloatBinary) { binary_splits_of_floats<float>(); }
TEST(SplitIndependence, DoubleBinary) { binary_splits_of_floats<double>(); }

TEST(SplitIndependence, Halves) {
  UNARY(half, Exp), UNARY(half, Sin), UNARY(bfloat16_t, Tanh), BINARY(half, Add);
  BINARY(bfloat16_t, Pow);
  splits_binary<fn::Less, half, bool>("Less");
  splits_unary<fn::IsNan, bfloat16_t, bool>("IsNan");
}

TEST(SplitIndependence, Integers) {
  BINARY(std::int32_t, Add), BINARY(std::int8_t, Mul), BINARY(std::int64_t, FloorDiv);
  BINARY(std::int16_t, FloorMod), BINARY(std::uint8_t, Div), BINARY(std::int32_t, LeftShift);
  UNARY(std::int64_t, Abs), UNARY(std::uint16_t, Square);
  splits_binary<fn::Equal, std::int64_t, bool>("Equal");
}

TEST(Loops, HalfIsFloatRoundedOnce) {
  const auto x = values<half>(1000, 3);
  std::vector<half> y(1000);
  cpu::unary_loop<fn::Sigmoid>(x.data(), y.data(), 1000);
  for (int i = 0; i < 1000; ++i) {
    float in = x[i], out;
    cpu::unary_loop<fn::Sigmoid>(&in, &out, 1);
    ASSERT_EQ(y[i].bits, half(out).bits) << i;
  }
}

TEST(Loops, Bool) {
  const bool a[] = {false, false, true, true}, b[] = {false, true, false, true};
  bool y[4];
  const auto is = [&y](bool p, bool q, bool r, bool s) {
    return y[0] == p && y[1] == q && y[2] == r && y[3] == s;
  };
  cpu::binary_loop<fn::LogicalAnd>(a, b, y, 4);
  EXPECT_TRUE(is(false, false, false, true));
  cpu::binary_loop<fn::LogicalOr>(a, b, y, 4);
  EXPECT_TRUE(is(false, true, true, true));
  cpu::binary_loop<fn::LogicalXor>(a, b, y, 4);
  EXPECT_TRUE(is(false, true, true, false));
  cpu::binary_loop<fn::Equal>(a, b, y, 4);
  EXPECT_TRUE(is(true, false, false, true));
  cpu::unary_loop<fn::LogicalNot>(a, y, 4);
  EXPECT_TRUE(is(true, true, false, false));
}

TEST(Loops, Complex) {
  using C = std::complex<double>;
  const C a[] = {{1, 2}, {-3, 0.5}, {0, 0}}, b[] = {{2, -1}, {0.25, 4}, {1, 1}};
  C y[3];
  double r[3];
  cpu::binary_loop<fn::Mul>(a, b, y, 3);
  EXPECT_EQ(y[0], C(4, 3));
  cpu::binary_loop<fn::Div>(a, b, y, 3);
  EXPECT_EQ(y[0], C(0, 1));
  cpu::unary_loop<fn::Exp>(a, y, 3);
  EXPECT_EQ(y[1], std::exp(a[1]));
  cpu::unary_loop<fn::Abs>(a, r, 3);
  EXPECT_EQ(r[1], std::abs(a[1]));
  cpu::binary_loop_scalar_right<fn::SquaredDifference>(a, C(1, 1), y, 3);
  EXPECT_EQ(y[0], C(1, 0));
}

TEST(Loops, EmptyRange) {
  cpu::unary_loop<fn::Sin>(static_cast<float*>(nullptr), static_cast<float*>(nullptr), 0);
  cpu::binary_loop<fn::Add>(static_cast<int*>(nullptr), static_cast<int*>(nullptr),
                            static_cast<int*>(nullptr), 0);
}

}  // namespace
}  // namespace rill
