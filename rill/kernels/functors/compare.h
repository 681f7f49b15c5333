#pragma once
#include <type_traits>

#include "rill/kernels/functors/integer.h"
#include "rill/kernels/functors/vector_math.h"

// Comparisons (to bool, IEEE rules: a NaN is unequal to everything), logic on
// bool and bit operations on integers.
namespace rill::functors {

#define RILL_T       \
  template <class T> \
  RILL_FORCE_INLINE static
#define RILL_COMPARE(Name, op)                     \
  struct Name : Exact {                            \
    RILL_T bool apply(T a, T b) { return a op b; } \
  };

RILL_COMPARE(Equal, ==)
RILL_COMPARE(NotEqual, !=)
RILL_COMPARE(Less, <)
RILL_COMPARE(LessEqual, <=)
RILL_COMPARE(Greater, >)
RILL_COMPARE(GreaterEqual, >=)

#undef RILL_COMPARE

struct LogicalAnd : Exact {
  RILL_T bool apply(T a, T b) { return a & b; }
};
struct LogicalOr : Exact {
  RILL_T bool apply(T a, T b) { return a | b; }
};
struct LogicalXor : Exact {
  RILL_T bool apply(T a, T b) { return a != b; }
};
struct LogicalNot : Exact {
  RILL_T bool apply(T x) { return x == T(0); }
};

struct BitwiseAnd : Exact {
  RILL_T T apply(T a, T b) { return static_cast<T>(a & b); }
};
struct BitwiseOr : Exact {
  RILL_T T apply(T a, T b) { return static_cast<T>(a | b); }
};
struct BitwiseXor : Exact {
  RILL_T T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
struct Invert : Exact {
  RILL_T T apply(T x) { return static_cast<T>(~x); }
};

// Shift counts are clamped to [0, bits - 1]; a right shift of a signed value
// copies the sign.
struct LeftShift : Exact {
  RILL_T T apply(T a, T b) {
    constexpr T kTop = static_cast<T>(sizeof(T) * 8 - 1);
    const T count = b > kTop ? kTop : b < T(0) ? T(0) : b;
    return static_cast<T>(ints::wide(a) << ints::wide(count));
  }
};
struct RightShift : Exact {
  RILL_T T apply(T a, T b) {
    constexpr T kTop = static_cast<T>(sizeof(T) * 8 - 1);
    const T count = b > kTop ? kTop : b < T(0) ? T(0) : b;
    return static_cast<T>(a >> count);
  }
};

#undef RILL_T

}  // namespace rill::functors
