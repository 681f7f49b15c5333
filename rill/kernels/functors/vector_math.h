#pragma once
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

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

#define RILL_FORCE_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define RILL_VECTOR_VARIANTS _Pragma("omp declare simd notinbranch")
#else
#define RILL_VECTOR_VARIANTS
#endif

#define RILL_LIBM_UNARY(name)                                                          \
  extern "C" {                                                                         \
  RILL_VECTOR_VARIANTS [[gnu::const]] float rill_v_##name##f(float) noexcept           \
      __asm__(#name "f");                                                              \
  RILL_VECTOR_VARIANTS [[gnu::const]] double rill_v_##name(double) noexcept            \
      __asm__(#name);                                                                  \
  }                                                                                    \
  namespace libm {                                                                     \
  RILL_FORCE_INLINE float name(float x) { return rill_v_##name##f(x); }                \
  RILL_FORCE_INLINE double name(double x) { return rill_v_##name(x); }                 \
  }

#define RILL_LIBM_BINARY(name)                                                         \
  extern "C" {                                                                         \
  RILL_VECTOR_VARIANTS [[gnu::const]] float rill_v_##name##f(float, float) noexcept    \
      __asm__(#name "f");                                                              \
  RILL_VECTOR_VARIANTS [[gnu::const]] double rill_v_##name(double, double) noexcept    \
      __asm__(#name);                                                                  \
  }                                                                                    \
  namespace libm {                                                                     \
  RILL_FORCE_INLINE float name(float a, float b) { return rill_v_##name##f(a, b); }    \
  RILL_FORCE_INLINE double name(double a, double b) { return rill_v_##name(a, b); }    \
  }

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

// An exact functor that has no vector code: the loops make one variant only.
struct ExactScalar : Exact {
  static constexpr bool scalar = true;
};

// The same as Exact for all types but double, where libmvec is called.
struct ExactButDouble {
  template <class T>
  static constexpr bool exact = !std::is_same_v<T, double>;
};

// The same as Exact for integers only: both float types call libmvec.
struct ExactButFloats {
  template <class T>
  static constexpr bool exact = !std::is_floating_point_v<T>;
};

namespace math {

RILL_FORCE_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
RILL_FORCE_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
RILL_FORCE_INLINE float abs(float x) { return __builtin_fabsf(x); }
RILL_FORCE_INLINE double abs(double x) { return __builtin_fabs(x); }
RILL_FORCE_INLINE float floor(float x) { return __builtin_floorf(x); }
RILL_FORCE_INLINE double floor(double x) { return __builtin_floor(x); }
RILL_FORCE_INLINE float ceil(float x) { return __builtin_ceilf(x); }
RILL_FORCE_INLINE double ceil(double x) { return __builtin_ceil(x); }
RILL_FORCE_INLINE float rint(float x) { return __builtin_rintf(x); }
RILL_FORCE_INLINE double rint(double x) { return __builtin_rint(x); }
RILL_FORCE_INLINE float copysign(float x, float s) { return __builtin_copysignf(x, s); }
RILL_FORCE_INLINE double copysign(double x, double s) { return __builtin_copysign(x, s); }

// x = n ln2 + r, |r| <= ln2 / 2, for |x| < 2^15; r keeps the sign of a zero x.
struct Reduced {
  float r;
  std::int32_t n;
};
RILL_FORCE_INLINE Reduced reduce_ln2(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: the sum's last bit is a unit
  const float t = x * 1.44269504088896341f + kShift;
  const float n = t - kShift;
  // 12 leading bits of ln2: n * high is exact.
  const float r = (x - n * 0.693115234375f) - n * 3.19461849453e-05f;
  return {r, std::bit_cast<std::int32_t>(t) - std::bit_cast<std::int32_t>(kShift)};
}

// exp(r) - 1 for |r| <= ln2 / 2.
RILL_FORCE_INLINE float expm1_reduced(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}

// 2^n for -126 <= n <= 127.
RILL_FORCE_INLINE float exp2_int(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

RILL_FORCE_INLINE float exp(float x) {
  // Past these bounds the result is inf or 0 anyhow; a NaN passes both tests.
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const Reduced a = reduce_ln2(x);
  const float y = 1.0f + expm1_reduced(a.r);
  // Two factors, so that the result rounds once when it is subnormal.
  const std::int32_t half = a.n >> 1;
  return y * exp2_int(half) * exp2_int(a.n - half);
}

RILL_FORCE_INLINE float expm1(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -18.0f ? -18.0f : x;
  const Reduced a = reduce_ln2(x);
  const float p = expm1_reduced(a.r);
  const float s = exp2_int(a.n - 1);  // half the scale: 2^128 is no float
  const float y = 2.0f * (p * s + (s - 0.5f));
  return a.n == 0 ? p : y;
}

RILL_FORCE_INLINE float tanh(float x) {
  float a = 2.0f * abs(x);
  a = a > 20.0f ? 20.0f : a;
  const float e = expm1(a);
  return copysign(e / (e + 2.0f), x);
}

RILL_FORCE_INLINE float log(float x) {
  constexpr std::int32_t kSqrtHalf = 0x3f3504f3;
  const bool subnormal = x < 1.17549435e-38f;
  const float scaled = subnormal ? x * 8388608.0f : x;
  const std::int32_t i = std::bit_cast<std::int32_t>(scaled) - kSqrtHalf;
  // x = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2).
  const float e = static_cast<float>((i >> 23) - (subnormal ? 23 : 0));
  const float m = std::bit_cast<float>((i & 0x7fffff) + kSqrtHalf) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * (m * z) + e * 3.19461849453e-05f;
  y = (m + (y - 0.5f * z)) + e * 0.693115234375f;
  constexpr float kInf = __builtin_inff();
  y = x == kInf ? x : y;
  y = x == 0.0f ? -kInf : y;
  return x >= 0.0f ? y : x < 0.0f ? __builtin_nanf("") : x;
}

// log(1 + e) for 0 <= e <= 1, as 2 atanh(e / (2 + e)).
RILL_FORCE_INLINE float log1p_unit(float e) {
  const float s = e / (e + 2.0f);
  const float z = s * s;
  float p = 2.3224329224e-1f;
  p = p * z + 2.1706575801e-1f;
  p = p * z + 2.8592357994e-1f;
  p = p * z + 3.9999706332e-1f;
  p = p * z + 6.6666667321e-1f;
  return p * (s * z) + (s + s);
}

RILL_FORCE_INLINE double log1p_unit(double e) { return libm::log1p(e); }
RILL_FORCE_INLINE double exp(double x) { return libm::exp(x); }
RILL_FORCE_INLINE double log(double x) { return libm::log(x); }
RILL_FORCE_INLINE double expm1(double x) { return libm::expm1(x); }
RILL_FORCE_INLINE double tanh(double x) { return libm::tanh(x); }

}  // namespace math
}  // namespace rill::functors
