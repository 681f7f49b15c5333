#pragma once
#include <complex>
#include <type_traits>

#include "rill/kernels/functors/integer.h"
#include "rill/kernels/functors/vector_math.h"

// Arithmetic, one struct an op, for float, double, the integers and, where it
// makes sense, std::complex. Half types go through float (simd_loop.h).
//
// Integers wrap on overflow. The integer division family and Pow have
// `bad(a, b)`: the op has no result for these operands (division by zero, a
// negative exponent); `apply` then returns 0 and never traps.
namespace rill::functors {

#define RILL_T       \
  template <class T> \
  RILL_FORCE_INLINE static
#define RILL_BAD_ZERO_DIVISOR                                   \
  RILL_T bool bad([[maybe_unused]] T a, [[maybe_unused]] T b) { \
    if constexpr (std::is_integral_v<T>) return b == 0;         \
    return false;                                               \
  }

struct Add : Exact {
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(ints::wide(a) + ints::wide(b));
    else
      return a + b;
  }
};

struct Sub : Exact {
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(ints::wide(a) - ints::wide(b));
    else
      return a - b;
  }
};

struct Mul : Exact {
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(ints::wide(a) * ints::wide(b));
    } else if constexpr (is_complex_v<T>) {
      // The schoolbook product: no search for infinities behind a NaN.
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    } else {
      return a * b;
    }
  }
};

// Floats: a / b. Integers: rounds toward zero.
struct Div : Exact {
  template <class T>
  static constexpr bool scalar = !ints::vector_division<T>;
  RILL_BAD_ZERO_DIVISOR
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return ints::trunc_div(a, b);
    else
      return a / b;
  }
};
using RealDiv = Div;

// Rounds toward zero.
struct TruncateDiv : Exact {
  template <class T>
  static constexpr bool scalar = !ints::vector_division<T>;
  RILL_BAD_ZERO_DIVISOR
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return ints::trunc_div(a, b);
    else
      return a / b < 0 ? math::ceil(a / b) : math::floor(a / b);
  }
};

// Rounds toward minus infinity.
struct FloorDiv : Exact {
  template <class T>
  static constexpr bool scalar = !ints::vector_division<T>;
  RILL_BAD_ZERO_DIVISOR
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return ints::floor_div(a, b);
    else
      return math::floor(a / b);
  }
};

// Remainder with the sign of a (C's fmod and %).
struct TruncateMod : Exact {
  template <class T>  // fmod has no vector code
  static constexpr bool scalar = std::is_floating_point_v<T> || !ints::vector_division<T>;
  RILL_BAD_ZERO_DIVISOR
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return ints::trunc_mod(a, b);
    else
      return std::fmod(a, b);
  }
};
using Mod = TruncateMod;

// Remainder with the sign of b (Python's %).
struct FloorMod : Exact {
  template <class T>  // fmod has no vector code
  static constexpr bool scalar = std::is_floating_point_v<T> || !ints::vector_division<T>;
  RILL_BAD_ZERO_DIVISOR
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return ints::floor_mod(a, b);
    } else {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
};

// A NaN on either side gives NaN.
struct Maximum : Exact {
  RILL_T T apply(T a, T b) { return (a > b) | (a != a) ? a : b; }
};

struct Minimum : Exact {
  RILL_T T apply(T a, T b) { return (a < b) | (a != a) ? a : b; }
};

// (a - b)^2; complex: conj(a - b) * (a - b).
struct SquaredDifference : Exact {
  RILL_T T apply(T a, T b) {
    const T d = Sub::apply(a, b);
    if constexpr (is_complex_v<T>)
      return T(d.real() * d.real() + d.imag() * d.imag());
    else
      return Mul::apply(d, d);
  }
};

struct Pow : ExactButFloats {
  template <class T>
  static constexpr bool scalar = std::is_integral_v<T>;
  RILL_T bool bad([[maybe_unused]] T a, [[maybe_unused]] T b) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) return b < 0;
    return false;
  }
  RILL_T T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return ints::pow(a, b);
    else if constexpr (is_complex_v<T>)
      return std::pow(a, b);
    else
      return libm::pow(a, b);
  }
};

struct Atan2 : ExactButFloats {
  RILL_T T apply(T y, T x) { return libm::atan2(y, x); }
};

// a / b; 0 where b is 0, even for a NaN a.
struct DivNoNan : Exact {
  RILL_T T apply(T a, T b) { return b == T(0) ? T(0) : a / b; }
};

// a * b; 0 where b is 0, even for an infinite or NaN a.
struct MulNoNan : Exact {
  RILL_T T apply(T a, T b) { return b == T(0) ? T(0) : Mul::apply(a, b); }
};

// x / y; 0 where x is 0, even for y 0 or NaN.
struct Xdivy : Exact {
  RILL_T T apply(T x, T y) { return x == T(0) ? T(0) : x / y; }
};

// x log y; 0 where x is 0, even for y 0 or NaN.
struct Xlogy : ExactButDouble {
  template <class T, class A = math::Unfused>
  RILL_FORCE_INLINE static T apply(T x, T y) {
    if constexpr (is_complex_v<T>)
      return x == T(0) ? T(0) : Mul::apply(x, std::log(y));
    else
      return x * math::log<A>(x == T(0) ? T(1) : y);
  }
};

// x log(1 + y); 0 where x is 0.
struct Xlog1py : ExactButFloats {
  RILL_T T apply(T x, T y) {
    if constexpr (is_complex_v<T>)
      return x == T(0) ? T(0) : Mul::apply(x, std::log(T(1) + y));
    else
      return x * libm::log1p(x == T(0) ? T(0) : y);
  }
};

struct Neg : Exact {
  RILL_T T apply(T x) {
    if constexpr (std::is_integral_v<T>)
      return ints::neg(x);
    else
      return -x;
  }
};

// The most negative integer stays itself. Complex: the modulus, a real.
struct Abs : Exact {
  RILL_T auto apply(T x) {
    if constexpr (is_complex_v<T>)
      return std::abs(x);
    else if constexpr (std::is_floating_point_v<T>)
      return math::abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? ints::neg(x) : x;
    else
      return x;
  }
};

// -1, 0 or 1; NaN for NaN; complex: x / |x|, 0 for 0.
struct Sign : Exact {
  RILL_T T apply(T x) {
    if constexpr (is_complex_v<T>) {
      return x == T(0) ? T(0) : x / std::abs(x);
    } else if constexpr (std::is_floating_point_v<T>) {
      const T s = T(x > 0) - T(x < 0);
      return x != x ? x : s;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((x > 0) - (x < 0));
    } else {
      return static_cast<T>(x != 0);
    }
  }
};

struct Square : Exact {
  RILL_T T apply(T x) { return Mul::apply(x, x); }
};

// 1 / x; integers: toward zero, and 0 for 0.
struct Reciprocal : Exact {
  RILL_T bool bad([[maybe_unused]] T x) {
    if constexpr (std::is_integral_v<T>) return x == 0;
    return false;
  }
  RILL_T T apply(T x) { return Div::apply(T(1), x); }
};
using Inv = Reciprocal;

struct Sqrt : Exact {
  RILL_T T apply(T x) {
    if constexpr (is_complex_v<T>)
      return std::sqrt(x);
    else
      return math::sqrt(x);
  }
};

struct Rsqrt : Exact {
  RILL_T T apply(T x) {
    if constexpr (is_complex_v<T>)
      return T(1) / std::sqrt(x);
    else
      return T(1) / math::sqrt(x);
  }
};

#undef RILL_BAD_ZERO_DIVISOR
#undef RILL_T

}  // namespace rill::functors
