#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "rill/base/host_device.h"

// Scalar pieces of the element functors, written so that GCC can vectorise a
// loop over them.
//
// - `libm` names glibc's functions under private names that carry vector
//   variants (libmvec). The private name matters: a loop elsewhere over
//   std::exp must not silently become half vector, half scalar. Use
//   their result on every path: GCC sinks a call that only one branch needs
//   into that branch, and the vector variants have no mask.
//   Vector and scalar results differ by a few ulp, so a functor that uses them
//   is not `exact` (see below).
// - `math` is what the functors call: own float code where that is both faster
//   and more accurate than libmvec, else `libm`.

#define RILL_VECTOR_VARIANTS
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)  // the first libmvec with all of the functions below
#undef RILL_VECTOR_VARIANTS
#define RILL_VECTOR_VARIANTS _Pragma("omp declare simd notinbranch")
#endif
#endif

#ifdef __CUDACC__  // CUDA has these functions under their own names
#define RILL_LIBM_UNARY(name)                                    \
  namespace libm {                                               \
  RILL_FORCE_INLINE float name(float x) { return ::name##f(x); } \
  RILL_FORCE_INLINE double name(double x) { return ::name(x); }  \
  }
#define RILL_LIBM_BINARY(name)                                               \
  namespace libm {                                                           \
  RILL_FORCE_INLINE float name(float a, float b) { return ::name##f(a, b); } \
  RILL_FORCE_INLINE double name(double a, double b) { return ::name(a, b); } \
  }
#else
#define RILL_LIBM_UNARY(name)                                                                    \
  extern "C" {                                                                                   \
  RILL_VECTOR_VARIANTS [[gnu::const]] float rill_v_##name##f(float) noexcept __asm__(#name "f"); \
  RILL_VECTOR_VARIANTS [[gnu::const]] double rill_v_##name(double) noexcept __asm__(#name);      \
  }                                                                                              \
  namespace libm {                                                                               \
  RILL_FORCE_INLINE float name(float x) { return rill_v_##name##f(x); }                          \
  RILL_FORCE_INLINE double name(double x) { return rill_v_##name(x); }                           \
  }

#define RILL_LIBM_BINARY(name)                                                      \
  extern "C" {                                                                      \
  RILL_VECTOR_VARIANTS [[gnu::const]] float rill_v_##name##f(float, float) noexcept \
      __asm__(#name "f");                                                           \
  RILL_VECTOR_VARIANTS [[gnu::const]] double rill_v_##name(double, double) noexcept \
      __asm__(#name);                                                               \
  }                                                                                 \
  namespace libm {                                                                  \
  RILL_FORCE_INLINE float name(float a, float b) { return rill_v_##name##f(a, b); } \
  RILL_FORCE_INLINE double name(double a, double b) { return rill_v_##name(a, b); } \
  }

#endif

namespace rill::functors {

RILL_LIBM_UNARY(exp)
RILL_LIBM_UNARY(expm1)
RILL_LIBM_UNARY(log)
RILL_LIBM_UNARY(log1p)
RILL_LIBM_UNARY(sin)
RILL_LIBM_UNARY(cos)
RILL_LIBM_UNARY(tan)
RILL_LIBM_UNARY(asin)
RILL_LIBM_UNARY(acos)
RILL_LIBM_UNARY(atan)
RILL_LIBM_UNARY(sinh)
RILL_LIBM_UNARY(cosh)
RILL_LIBM_UNARY(tanh)
RILL_LIBM_UNARY(asinh)
RILL_LIBM_UNARY(acosh)
RILL_LIBM_UNARY(atanh)
RILL_LIBM_UNARY(erf)
RILL_LIBM_UNARY(erfc)
RILL_LIBM_BINARY(pow)
RILL_LIBM_BINARY(atan2)

#undef RILL_LIBM_UNARY
#undef RILL_LIBM_BINARY

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

// Base of a functor whose scalar and vector code give the same bits for every
// type (only correctly rounded operations, or no vector code at all): the
// loops then need no padded tail. A functor without such a base counts as not
// exact, which is always safe.
struct Exact {
  template <class T>
  static constexpr bool exact = true;
};

// An exact functor that has no vector code; for some types only, others say so
// by a `scalar` of their own. The loops then make one variant.
struct ExactScalar : Exact {
  template <class T>
  static constexpr bool scalar = true;
};

// The same as Exact for all types but double, where libmvec is called. Its
// `apply` takes a second template parameter, math::Unfused or math::Fused; the
// loops pass the one that suits the machine.
struct ExactButDouble {
  static constexpr bool fusable = true;
  template <class T>
  static constexpr bool exact = !std::is_same_v<T, double>;
};

// The same as Exact for integers only: both float types call libmvec.
struct ExactButFloats {
  template <class T>
  static constexpr bool exact = !std::is_floating_point_v<T>;
};

namespace math {

#ifdef __CUDACC__  // a device knows no __builtin_sqrtf
#define RILL_BUILTIN(name) ::name
#else
#define RILL_BUILTIN(name) __builtin_##name
#endif
RILL_FORCE_INLINE float sqrt(float x) { return RILL_BUILTIN(sqrtf)(x); }
RILL_FORCE_INLINE double sqrt(double x) { return RILL_BUILTIN(sqrt)(x); }
RILL_FORCE_INLINE float abs(float x) { return RILL_BUILTIN(fabsf)(x); }
RILL_FORCE_INLINE double abs(double x) { return RILL_BUILTIN(fabs)(x); }
RILL_FORCE_INLINE float floor(float x) { return RILL_BUILTIN(floorf)(x); }
RILL_FORCE_INLINE double floor(double x) { return RILL_BUILTIN(floor)(x); }
RILL_FORCE_INLINE float ceil(float x) { return RILL_BUILTIN(ceilf)(x); }
RILL_FORCE_INLINE double ceil(double x) { return RILL_BUILTIN(ceil)(x); }
RILL_FORCE_INLINE float rint(float x) { return RILL_BUILTIN(rintf)(x); }
RILL_FORCE_INLINE double rint(double x) { return RILL_BUILTIN(rint)(x); }
RILL_FORCE_INLINE float copysign(float x, float s) { return RILL_BUILTIN(copysignf)(x, s); }
RILL_FORCE_INLINE double copysign(double x, double s) { return RILL_BUILTIN(copysign)(x, s); }

// The float functions below are templates over how to compute a * b + c. The
// loops choose Fused where the machine has the instruction: faster, and more
// accurate. Either way scalar and vector code agree, but the two differ.
struct Unfused {
  template <class T>
  RILL_FORCE_INLINE static T fma(T a, T b, T c) {
    return a * b + c;
  }
};
struct Fused {
  RILL_FORCE_INLINE static float fma(float a, float b, float c) {
    return RILL_BUILTIN(fmaf)(a, b, c);
  }
  RILL_FORCE_INLINE static double fma(double a, double b, double c) {
    return RILL_BUILTIN(fma)(a, b, c);
  }
};
#undef RILL_BUILTIN

inline constexpr float kLn2High = 0.693115234375f;  // 12 bits: times |n| < 2^12 it is exact
inline constexpr float kLn2Low = 3.19461849453e-05f;

// x = n ln2 + r, |r| <= ln2 / 2, for |x| < 2^15; r keeps the sign of a zero x.
struct Reduced {
  float r;
  std::uint32_t exponent;  // (n + bias) << 23
};
template <class A, int bias = 0>
RILL_FORCE_INLINE Reduced reduce_ln2(float x) {
  // 1.5 * 2^23: the last bit of the sum is a unit, and shifts out of the bits.
  constexpr float kShift = 12582912.0f + bias;
  const float t = A::fma(x, 1.44269504088896341f, kShift);
  const float n = t - kShift;
  const float r = A::fma(-n, kLn2Low, A::fma(-n, kLn2High, x));
  return {r, __builtin_bit_cast(std::uint32_t, t) << 23};
}

// (exp(r) - 1 - r) / r for |r| <= ln2 / 2: 1 + r + r exp_tail(r) is within 3.7e-9 of
// exp(r), a sixteenth of half a unit in the last place.
template <class A>
RILL_FORCE_INLINE float exp_tail(float r) {
  float p = 0x1.6a23dp-10f;
  p = A::fma(p, r, 0x1.123a2p-7f);
  p = A::fma(p, r, 0x1.5558f2p-5f);
  p = A::fma(p, r, 0x1.555492p-3f);
  p = A::fma(p, r, 0x1.fffffcp-2f);
  return p * r;
}

// x 2^n from n << 23; the result must be a normal number, as x is.
RILL_FORCE_INLINE float scale(float x, std::uint32_t exponent) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) + exponent);
}

// exp for x <= 88, or NaN.
template <class A>
RILL_FORCE_INLINE float exp_no_overflow(float x) {
  const Reduced a = reduce_ln2<A>(x);
  const float y = 1.0f + A::fma(exp_tail<A>(a.r), a.r, a.r);
  // A subnormal result is reached by a product, which rounds it.
  const bool low = x < -87.0f;
  float z = scale(y, a.exponent + (low ? 64u << 23 : 0u)) * (low ? 0x1p-64f : 1.0f);
  z = x < -104.0f ? 0.0f : z;
  return x != x ? x : z;
}

// kExpLift<T> exp(x) for x <= 0, or NaN, for sums of such: lifted off the subnormal
// numbers, a float needs none of the care above.
template <class T>
inline constexpr T kExpLift = 1;
template <>
inline constexpr float kExpLift<float> = 0x1p64f;
template <class A>
RILL_FORCE_INLINE float lifted_exp(float x) {
  const Reduced a = reduce_ln2<A, 64 + 127>(x);
  const float s = __builtin_bit_cast(float, a.exponent);  // 2^(n + 64)
  const float y = A::fma(A::fma(exp_tail<A>(a.r), a.r, a.r), s, s);
  return x < -104.0f ? 0.0f : y;
}

template <class A>
RILL_FORCE_INLINE float exp(float x) {
  const float z = exp_no_overflow<A>(x);
  return x > 88.7228317f ? __builtin_inff() : z;
}

template <class A>
RILL_FORCE_INLINE float expm1(float x) {
  const Reduced a = reduce_ln2<A>(x);
  const float p = A::fma(exp_tail<A>(a.r), a.r, a.r);
  const float s = scale(0.5f, a.exponent);  // half the scale: 2^128 is not a float
  float y = 2.0f * A::fma(p, s, s - 0.5f);
  y = a.exponent == 0 ? p : y;
  y = x < -18.0f ? -1.0f : y;
  y = x > 88.7228317f ? __builtin_inff() : y;
  return x != x ? x : copysign(y, x);
}

template <class A>
RILL_FORCE_INLINE float tanh(float x) {
  const float b = abs(x);
  const Reduced a = reduce_ln2<A>(b + b);
  const float p = A::fma(exp_tail<A>(a.r), a.r, a.r);
  const float s = scale(1.0f, a.exponent);
  const float e = A::fma(p, s, s - 1.0f);  // exp(2 |x|) - 1
  float y = e / (e + 2.0f);
  y = b > 10.0f ? 1.0f : y;
  return x != x ? x : copysign(y, x);
}

template <class A>
RILL_FORCE_INLINE float log(float x) {
  constexpr std::uint32_t kSqrtHalf = 0x3f3504f3;
  const bool subnormal = x < 1.17549435e-38f;
  const float scaled = subnormal ? x * 8388608.0f : x;
  const std::uint32_t i = __builtin_bit_cast(std::uint32_t, scaled) - kSqrtHalf;
  // x = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2).
  const float e = static_cast<float>((static_cast<std::int32_t>(i) >> 23) - (subnormal ? 23 : 0));
  const float m = __builtin_bit_cast(float, (i & 0x7fffffu) + kSqrtHalf) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = A::fma(p, m, -1.1514610310e-1f);
  p = A::fma(p, m, 1.1676998740e-1f);
  p = A::fma(p, m, -1.2420140846e-1f);
  p = A::fma(p, m, 1.4249322787e-1f);
  p = A::fma(p, m, -1.6668057665e-1f);
  p = A::fma(p, m, 2.0000714765e-1f);
  p = A::fma(p, m, -2.4999993993e-1f);
  p = A::fma(p, m, 3.3333331174e-1f);
  float y = A::fma(p, m * z, e * kLn2Low);
  y = A::fma(e, kLn2High, m + A::fma(-0.5f, z, y));
  constexpr float kInf = __builtin_inff();
  y = x == 0.0f ? -kInf : y;
  y = x < 0.0f ? __builtin_nanf("") : y;
  return x < kInf ? y : x;
}

// log(1 + e) for 0 <= e <= 1, as 2 atanh(e / (2 + e)).
template <class A>
RILL_FORCE_INLINE float log1p_unit(float e) {
  const float s = e / (e + 2.0f);
  const float z = s * s;
  float p = 2.3224329224e-1f;
  p = A::fma(p, z, 2.1706575801e-1f);
  p = A::fma(p, z, 2.8592357994e-1f);
  p = A::fma(p, z, 3.9999706332e-1f);
  p = A::fma(p, z, 6.6666667321e-1f);
  return A::fma(p, s * z, s + s);
}

template <class A>
RILL_FORCE_INLINE double exp_no_overflow(double x) {
  return libm::exp(x);
}
template <class A>
RILL_FORCE_INLINE double lifted_exp(double x) {
  return libm::exp(x);
}
template <class A>
RILL_FORCE_INLINE double exp(double x) {
  return libm::exp(x);
}
template <class A>
RILL_FORCE_INLINE double expm1(double x) {
  return libm::expm1(x);
}
template <class A>
RILL_FORCE_INLINE double tanh(double x) {
  return libm::tanh(x);
}
template <class A>
RILL_FORCE_INLINE double log(double x) {
  return libm::log(x);
}
template <class A>
RILL_FORCE_INLINE double log1p_unit(double e) {
  return libm::log1p(e);
}

}  // namespace math
}  // namespace rill::functors
