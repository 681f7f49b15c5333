// Complex numbers: their parts, and arithmetic.
#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

// As std::complex lies in memory, whose operators CUDA does not compile.
template <class R>
struct Number {
  R re, im;
  RILL_FORCE_INLINE friend bool operator==(Number a, Number b) {
    return a.re == b.re && a.im == b.im;
  }
  RILL_FORCE_INLINE friend bool operator!=(Number a, Number b) { return !(a == b); }
};

#define RILL_COMPLEX_BINARY(Name, ...)                                   \
  struct Name {                                                          \
    template <class R>                                                   \
    RILL_FORCE_INLINE static Number<R> apply(Number<R> a, Number<R> b) { \
      return __VA_ARGS__;                                                \
    }                                                                    \
  }
RILL_COMPLEX_BINARY(Add, {a.re + b.re, a.im + b.im});
RILL_COMPLEX_BINARY(Sub, {a.re - b.re, a.im - b.im});
// The schoolbook product: no search for infinities behind a NaN.
RILL_COMPLEX_BINARY(Mul, {a.re * b.re - a.im * b.im, a.re* b.im + a.im* b.re});
#undef RILL_COMPLEX_BINARY
// By the larger part of the divisor (Smith), so that squares do not overflow.
struct Div {
  template <class R>
  RILL_FORCE_INLINE static Number<R> apply(Number<R> a, Number<R> b) {
    const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    const R large = wide ? b.re : b.im, small = wide ? b.im : b.re;
    const R ratio = small / large, scale = R(1) / (large + small * ratio);
    if (wide) return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
};

#define RILL_COMPLEX_UNARY(Name, Result, ...)            \
  struct Name {                                          \
    template <class R>                                   \
    RILL_FORCE_INLINE static Result apply(Number<R> x) { \
      return __VA_ARGS__;                                \
    }                                                    \
  }
RILL_COMPLEX_UNARY(Neg, Number<R>, {-x.re, -x.im});
RILL_COMPLEX_UNARY(Conj, Number<R>, {x.re, -x.im});
RILL_COMPLEX_UNARY(Square, Number<R>, Mul::apply(x, x));
RILL_COMPLEX_UNARY(Real, R, x.re);
RILL_COMPLEX_UNARY(Imag, R, x.im);
RILL_COMPLEX_UNARY(Angle, R, std::atan2(x.im, x.re));
RILL_COMPLEX_UNARY(Magnitude, R, std::hypot(x.re, x.im));
#undef RILL_COMPLEX_UNARY

// Shapes that do not broadcast leave one element to answer, which compare.cu does for others.
struct Same {
  template <class T>
  RILL_FORCE_INLINE static bool apply(T a, T b) {
    return a == b;
  }
};
struct Unlike {
  template <class T>
  RILL_FORCE_INLINE static bool apply(T a, T b) {
    return a != b;
  }
};
template <class F, class T>
void equality_cuda(KernelContext& c) noexcept {
  const TensorShape &a = c.in_shape(0), &b = c.in_shape(1);
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    if (a.dim(-i) == b.dim(-i) || a.dim(-i) == 1 || b.dim(-i) == 1) continue;
    cudaMemsetAsync(c.out().data, std::is_same_v<F, Unlike>, 1, gpu_of(c).stream());
    return check_launch(c);
  }
  binary<F, T, bool>(c, F{});
}

#define RILL_BOTH(op, name, ...)                                                \
  RILL_KERNEL(op, gpu, TypeSet{complex64}, (name<__VA_ARGS__, Number<float>>)); \
  RILL_KERNEL(op, gpu, TypeSet{complex128}, (name<__VA_ARGS__, Number<double>>))
RILL_BOTH("AddV2", binary_cuda, Add);
RILL_BOTH("Add", binary_cuda, Add);
RILL_BOTH("Sub", binary_cuda, Sub);
RILL_BOTH("Mul", binary_cuda, Mul);
RILL_BOTH("RealDiv", binary_cuda, Div);
RILL_BOTH("Div", binary_cuda, Div);
RILL_BOTH("Neg", unary_cuda, Neg);
RILL_BOTH("Conj", unary_cuda, Conj);
RILL_BOTH("Square", unary_cuda, Square);
RILL_BOTH("Equal", equality_cuda, Same);
RILL_BOTH("NotEqual", equality_cuda, Unlike);
#undef RILL_BOTH

#define RILL_PART(op, F)                                                           \
  RILL_KERNEL(op, gpu, TypeSet{complex64}, (unary_cuda<F, Number<float>, float>)); \
  RILL_KERNEL(op, gpu, TypeSet{complex128}, (unary_cuda<F, Number<double>, double>))
RILL_PART("Real", Real);
RILL_PART("Imag", Imag);
RILL_PART("Angle", Angle);
RILL_PART("ComplexAbs", Magnitude);
#undef RILL_PART

struct Join {
  template <class R>
  RILL_FORCE_INLINE static Number<R> apply(R re, R im) {
    return {re, im};
  }
};
RILL_KERNEL("Complex", gpu, TypeSet{float32}, (binary_cuda<Join, float, Number<float>>));
RILL_KERNEL("Complex", gpu, TypeSet{float64}, (binary_cuda<Join, double, Number<double>>));

struct SumOfNumbers : PlainLoad {
  template <class A>
  static __device__ __forceinline__ A start() {
    return {0, 0};
  }
  template <class A>
  static __device__ __forceinline__ A join(A a, A b) {
    return {a.re + b.re, a.im + b.im};
  }
};
// Of no elements the mean is NaN.
template <class A>
struct OverCount {
  decltype(A::re) n;
  __device__ __forceinline__ A operator()(A a) const { return {a.re / n, a.im / n}; }
};
template <class A, bool kMean>
void sum_cuda(KernelContext& c) noexcept {
  using R = decltype(A::re);
  const std::int64_t n = c.out().size ? c.in(0).size / c.out().size : 0;
  reduce_axes<SumOfNumbers, A, A, A>(c, OverCount<A>{kMean ? static_cast<R>(n) : R(1)});
}
RILL_KERNEL("Sum", gpu, TypeSet{complex64}, (sum_cuda<Number<float>, false>));
RILL_KERNEL("Sum", gpu, TypeSet{complex128}, (sum_cuda<Number<double>, false>));
RILL_KERNEL("Mean", gpu, TypeSet{complex64}, (sum_cuda<Number<float>, true>));
RILL_KERNEL("Mean", gpu, TypeSet{complex128}, (sum_cuda<Number<double>, true>));

}  // namespace
}  // namespace rill::cuda
