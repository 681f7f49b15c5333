#pragma once
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "rill/kernels/functors/vector_math.h"

// Elementary functions of float, double and, where std has them, std::complex;
// rounding and classification also of integers. IEEE special values as in C's
// <math.h>; errors in ulp are stated and checked in the test.
namespace rill::functors {

#define RILL_T       \
  template <class T> \
  RILL_FORCE_INLINE static
#define RILL_TA                               \
  template <class T, class A = math::Unfused> \
  RILL_FORCE_INLINE static
#define RILL_ELEMENTARY(Name, name)  \
  struct Name : ExactButFloats {     \
    RILL_T T apply(T x) {            \
      if constexpr (is_complex_v<T>) \
        return std::name(x);         \
      else                           \
        return libm::name(x);        \
    }                                \
  };

#define RILL_OWN(Name, name)         \
  struct Name : ExactButDouble {     \
    RILL_TA T apply(T x) {           \
      if constexpr (is_complex_v<T>) \
        return std::name(x);         \
      else                           \
        return math::name<A>(x);     \
    }                                \
  };

RILL_OWN(Exp, exp)
RILL_OWN(Log, log)
RILL_OWN(Tanh, tanh)
RILL_ELEMENTARY(Sin, sin)
RILL_ELEMENTARY(Cos, cos)
RILL_ELEMENTARY(Tan, tan)
RILL_ELEMENTARY(Asin, asin)
RILL_ELEMENTARY(Acos, acos)
RILL_ELEMENTARY(Atan, atan)
RILL_ELEMENTARY(Sinh, sinh)
RILL_ELEMENTARY(Cosh, cosh)
RILL_ELEMENTARY(Asinh, asinh)
RILL_ELEMENTARY(Acosh, acosh)
RILL_ELEMENTARY(Atanh, atanh)

#undef RILL_OWN
#undef RILL_ELEMENTARY

struct Expm1 : ExactButDouble {
  RILL_TA T apply(T x) {
    if constexpr (is_complex_v<T>)
      return std::exp(x) - T(1);
    else
      return math::expm1<A>(x);
  }
};

struct Log1p : ExactButFloats {
  RILL_T T apply(T x) {
    if constexpr (is_complex_v<T>)
      return std::log(T(1) + x);
    else
      return libm::log1p(x);
  }
};

struct Erf : ExactButFloats {
  RILL_T T apply(T x) { return libm::erf(x); }
};

struct Erfc : ExactButFloats {
  RILL_T T apply(T x) { return libm::erfc(x); }
};

// The y >= 0 with erf(y) = x and erfc(y) = rest = 1 - x, both in [0, 1]:
// Winitzki's closed form, then Halley's steps, each of which triples the
// digits. A small rest is what counts, so erfc is solved there.
[[gnu::noinline]] inline RILL_HOST_DEVICE double inverse_erf(double x, double rest) {
  if (rest == 0) return std::numeric_limits<double>::infinity();
  constexpr double kRootPi = 1.7724538509055160273, kA = 0.147;
  const double l = std::log(rest * (1 + x)), h = 2 / (3.14159265358979323846 * kA) + l / 2;
  double y = std::sqrt(std::sqrt(h * h - l / kA) - h);
  // The steps end: among subnormal numbers the last ones are noise.
  double newton = y;
  for (int i = 0; i < 6 && std::fabs(newton) > 1e-6 * y; ++i) {
    const double off = rest < 0.5 ? rest - std::erfc(y) : std::erf(y) - x;
    newton = off * (kRootPi / 2) / std::exp(-y * y);
    y -= newton / (1 + y * newton);
  }
  return y;
}

// The y with erf(y) = x, computed in double.
struct Erfinv : ExactScalar {
  RILL_T T apply(T x) {
    const double v = static_cast<double>(x), size = std::fabs(v);
    if (!(size <= 1)) return std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(std::copysign(inverse_erf(size, 1 - size), v));
  }
};

// The y that a standard normal number is below with probability p, computed in
// double. 2 p and 2 - 2 p, one of which is the rest, are exact.
struct Ndtri : ExactScalar {
  RILL_T T apply(T p) {
    const double v = static_cast<double>(p);
    if (!(v >= 0 && v <= 1)) return std::numeric_limits<T>::quiet_NaN();
    constexpr double kRoot2 = 1.4142135623730950488;
    const double rest = v < 0.5 ? 2 * v : 2 - 2 * v;
    return static_cast<T>(std::copysign(kRoot2 * inverse_erf(1 - rest, rest), v - 0.5));
  }
};

// log|gamma(x)|; one scalar call an element.
struct Lgamma : ExactScalar {
  RILL_T T apply(T x) {
#ifdef __CUDA_ARCH__
    return ::lgamma(x);
#else
    int sign;  // std::lgamma would write the global signgam: a data race
    if constexpr (sizeof(T) == 4)
      return ::lgammaf_r(x, &sign);
    else
      return ::lgamma_r(x, &sign);
#endif
  }
};

// d/dx log gamma(x), computed in double; NaN at 0 and the negative integers, as in TensorFlow.
// The absolute error is near 1e-15 times max(1, |result|).
struct Digamma : ExactScalar {
  RILL_T T apply(T x) { return static_cast<T>(digamma(static_cast<double>(x))); }

 private:
  [[gnu::noinline]] static RILL_HOST_DEVICE double digamma(double x) {
    if (x <= 0) {
      // Reflection, on the fraction only: pi x itself would lose it.
      const double fraction = x - std::floor(x);
      if (!(fraction > 0)) return std::numeric_limits<double>::quiet_NaN();
      constexpr double kPi = 3.14159265358979323846;
      const double cot = fraction == 0.5 ? 0.0 : 1.0 / std::tan(kPi * fraction);
      return digamma(1 - x) - kPi * cot;
    }
    double shift = 0;
    for (; x < 10; x += 1) shift += 1 / x;
    const double z = 1 / (x * x);
    double s = 8.33333333333333333333e-2;
    s = s * z - 2.10927960927960927961e-2;
    s = s * z + 7.57575757575757575758e-3;
    s = s * z - 4.16666666666666666667e-3;
    s = s * z + 3.96825396825396825397e-3;
    s = s * z - 8.33333333333333333333e-3;
    s = s * z + 8.33333333333333333333e-2;
    return std::log(x) - 0.5 / x - z * s - shift;
  }
};

#define RILL_ROUNDING(Name, name)          \
  struct Name : Exact {                    \
    RILL_T T apply(T x) {                  \
      if constexpr (std::is_integral_v<T>) \
        return x;                          \
      else                                 \
        return math::name(x);              \
    }                                      \
  };

RILL_ROUNDING(Floor, floor)
RILL_ROUNDING(Ceil, ceil)
RILL_ROUNDING(Rint, rint)  // half to even
using Round = Rint;        // TensorFlow's Round: half to even too

#undef RILL_ROUNDING

struct IsNan : Exact {
  RILL_T bool apply(T x) { return x != x; }
};
struct IsInf : Exact {
  RILL_T bool apply(T x) { return math::abs(x) == std::numeric_limits<T>::infinity(); }
};
struct IsFinite : Exact {
  RILL_T bool apply(T x) { return math::abs(x) < std::numeric_limits<T>::infinity(); }
};

struct NextAfter : ExactScalar {
  RILL_T T apply(T a, T b) { return std::nextafter(a, b); }
};

#undef RILL_TA
#undef RILL_T

}  // namespace rill::functors
