#pragma once
#include <complex>
#include <type_traits>

#include "rill/kernels/functors/vector_math.h"

// Activations and their gradients, and the gradients of the unary ops that are
// cheapest from their result. Argument order as in TensorFlow's raw ops: where
// the gradient uses the result y, (y, dy) for Tanh, Sigmoid, Inv, Sqrt and
// Rsqrt, (dy, y) for Elu and Selu; else (dy, x). A NaN input gives NaN.
namespace rill::functors {

#define RILL_T       \
  template <class T> \
  RILL_FORCE_INLINE static
#define RILL_TA                               \
  template <class T, class A = math::Unfused> \
  RILL_FORCE_INLINE static

namespace detail {
RILL_T T conj_of(T x) {
  if constexpr (is_complex_v<T>)
    return std::conj(x);
  else
    return x;
}
// y, or x where that is NaN: else the sum of two NaNs of opposite signs could
// get its sign from either, scalar and vector code not agreeing. Double is all
// vector code, and there a select would cost the vector call (vector_math.h).
RILL_T T keep_nan(T x, T y) {
  if constexpr (std::is_same_v<T, float>)
    return x != x ? x : y;
  else
    return y;
}
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;
}  // namespace detail

// 1 / (1 + exp(-x)), with full relative accuracy down to the subnormals.
struct Sigmoid : ExactButDouble {
  RILL_TA T apply(T x) {
    if constexpr (is_complex_v<T>) {
      return T(1) / (T(1) + std::exp(-x));
    } else {
      const T e = math::exp_no_overflow<A>(-math::abs(x));
      return (x < 0 ? e : T(1)) / (T(1) + e);
    }
  }
};

// log(1 + exp(x)) without overflow.
struct Softplus : ExactButDouble {
  RILL_TA T apply(T x) {
    const T tail = math::log1p_unit<A>(math::exp_no_overflow<A>(-math::abs(x)));
    return detail::keep_nan(x, (x < 0 ? T(0) : x) + tail);
  }
};

struct Softsign : Exact {
  RILL_T T apply(T x) { return x / (T(1) + math::abs(x)); }
};

struct Relu : Exact {
  RILL_T T apply(T x) { return x <= T(0) ? T(0) : x; }
};

struct Relu6 : Exact {
  RILL_T T apply(T x) { return x <= T(0) ? T(0) : x > T(6) ? T(6) : x; }
};

struct LeakyRelu : Exact {
  RILL_HOST_DEVICE explicit LeakyRelu(double slope = 0.2) : alpha(slope) {}
  template <class T>
  RILL_FORCE_INLINE T apply(T x) const {
    const T scaled = static_cast<T>(alpha) * x;
    return x > T(0) ? x : scaled;
  }
  double alpha;
};

// Here and in Selu, 0 * e changes no value: it keeps the call in both branches
// (see vector_math.h).
struct Elu : ExactButDouble {
  RILL_TA T apply(T x) {
    const T e = math::expm1<A>(-math::abs(x));
    return detail::keep_nan(x, x < T(0) ? e : x + T(0) * e);
  }
};

struct Selu : ExactButDouble {
  RILL_TA T apply(T x) {
    const T e = math::expm1<A>(-math::abs(x));
    const T negative = T(detail::kSeluScaleAlpha) * e;
    return detail::keep_nan(x, x < T(0) ? negative : T(detail::kSeluScale) * x + T(0) * e);
  }
};

// Of complex numbers, Tanh's and Sigmoid's take the conjugate of y, the others y.
struct TanhGrad : Exact {
  RILL_T T apply(T y, T dy) { return dy * (T(1) - y * y); }
};

struct SigmoidGrad : Exact {
  RILL_T T apply(T y, T dy) { return dy * (y * (T(1) - y)); }
};

// Where dy is 0, so are those of 1 / x and of roots, as in TensorFlow: at a pole y may be anything.
struct InvGrad : Exact {
  RILL_T T apply(T y, T dy) { return dy == T(0) ? T(0) : -dy * detail::conj_of(y * y); }
};
using ReciprocalGrad = InvGrad;

struct SqrtGrad : Exact {
  RILL_T T apply(T y, T dy) { return dy == T(0) ? T(0) : dy * T(0.5) / detail::conj_of(y); }
};

struct RsqrtGrad : Exact {
  RILL_T T apply(T y, T dy) {
    return dy == T(0) ? T(0) : T(-0.5) * dy * detail::conj_of(y * y * y);
  }
};

struct ReluGrad : Exact {
  RILL_T T apply(T dy, T x) { return x > T(0) ? dy : T(0); }
};

struct Relu6Grad : Exact {
  RILL_T T apply(T dy, T x) { return (x > T(0)) & (x < T(6)) ? dy : T(0); }
};

struct LeakyReluGrad : Exact {
  RILL_HOST_DEVICE explicit LeakyReluGrad(double slope = 0.2) : alpha(slope) {}
  template <class T>
  RILL_FORCE_INLINE T apply(T dy, T x) const {
    const T scaled = static_cast<T>(alpha) * dy;
    return x > T(0) ? dy : scaled;
  }
  double alpha;
};

struct EluGrad : Exact {
  RILL_T T apply(T dy, T y) {
    const T negative = dy * (y + T(1));
    return y < T(0) ? negative : dy;
  }
};

struct SeluGrad : Exact {
  RILL_T T apply(T dy, T y) {
    const T negative = dy * (y + T(detail::kSeluScaleAlpha));
    const T positive = dy * T(detail::kSeluScale);
    return y < T(0) ? negative : positive;
  }
};

struct SoftplusGrad : ExactButDouble {
  RILL_TA T apply(T dy, T x) { return dy * Sigmoid::apply<T, A>(x); }
};

struct SoftsignGrad : Exact {
  RILL_T T apply(T dy, T x) {
    const T d = T(1) + math::abs(x);
    return dy / (d * d);
  }
};

#undef RILL_TA
#undef RILL_T

}  // namespace rill::functors
