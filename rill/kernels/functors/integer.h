#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rill/kernels/functors/vector_math.h"

// Integer arithmetic with a defined result for every input: overflow wraps
// around, division by zero gives 0 (and never traps; callers that must report
// it ask the functor's `bad`).
namespace rill::functors::ints {

// The unsigned type to compute in: no integer promotion makes it signed.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
RILL_FORCE_INLINE Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}

template <class T>
RILL_FORCE_INLINE T neg(T x) {
  return static_cast<T>(Wide<T>{0} - wide(x));
}

// Whether a loop over a division of T vectorises.
template <class T>
inline constexpr bool vector_division = std::is_floating_point_v<T> ||
                                        sizeof(T) <= 2 || std::is_same_v<T, std::int32_t>;

// a / b for b != 0 and a representable quotient. Up to 32 bits the division is
// one of floats, which vectorises: the quotient's distance to the nearest
// integer is at least 1/|b|, far above the rounding error.
template <class T>
RILL_FORCE_INLINE T quotient(T a, T b) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(static_cast<std::int32_t>(static_cast<float>(a) / static_cast<float>(b)));
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
  } else {
    return a / b;
  }
}

template <class T>
RILL_FORCE_INLINE T trunc_div(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const bool minus_one = b == T{-1};
    const T q = quotient<T>(a, (b == 0) | minus_one ? T{1} : b);
    const T r = minus_one ? neg(a) : q;  // the most negative value / -1 wraps
    return b == 0 ? T{0} : r;
  } else {
    const T q = quotient<T>(a, b == 0 ? T{1} : b);
    return b == 0 ? T{0} : q;
  }
}

template <class T>
RILL_FORCE_INLINE T trunc_mod(T a, T b) {
  const T r = static_cast<T>(wide(a) - wide(trunc_div(a, b)) * wide(b));
  return b == 0 ? T{0} : r;
}

template <class T>
RILL_FORCE_INLINE T floor_div(T a, T b) {
  const T q = trunc_div(a, b);
  if constexpr (std::is_signed_v<T>) {
    const T r = static_cast<T>(wide(a) - wide(q) * wide(b));
    const bool below = (r != 0) & ((r < 0) != (b < 0)) & (b != 0);
    return static_cast<T>(wide(q) - Wide<T>{below});
  } else {
    return q;
  }
}

template <class T>
RILL_FORCE_INLINE T floor_mod(T a, T b) {
  const T r = trunc_mod(a, b);
  if constexpr (std::is_signed_v<T>) {
    const bool below = (r != 0) & ((r < 0) != (b < 0));
    return static_cast<T>(wide(r) + (below ? wide(b) : Wide<T>{0}));
  } else {
    return r;
  }
}

// base^exponent, wrapping; 0 for a negative exponent.
template <class T>
RILL_FORCE_INLINE T pow(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < T{0}) return T{0};
  Wide<T> result{1}, factor = wide(base);
  for (Wide<T> e = wide(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

}  // namespace rill::functors::ints
