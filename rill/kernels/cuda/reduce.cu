#include "rill/kernels/cuda/reduce.h"

#include <limits>

namespace rill::cuda {
namespace {

#define RILL_REDUCED                                                                      \
  float, double, half, bfloat16_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, \
      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t
constexpr TypeSet kReducedTypes = kRealTypes;

void sum_cuda(KernelContext& c) noexcept {
  dispatch_types<RILL_REDUCED>(
      c.in(0).dtype, [&]<class T>() { reduce_axes<SumOf, Computed<T>, T, T>(c, CastTo<T>{}); });
}
RILL_KERNEL("Sum", gpu, kReducedTypes, sum_cuda);

// Of integers as TensorFlow: the sum in the element's own type, then integer division.
template <class T>
struct Over {
  std::int64_t n;
  template <class A>
  __device__ __forceinline__ T operator()(A a) const {
    if constexpr (std::is_integral_v<T>)
      return n ? static_cast<T>(a / static_cast<A>(n)) : T(0);
    else
      return static_cast<T>(a / static_cast<A>(n));
  }
};
void mean_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.out().size ? c.in(0).size / c.out().size : 0;
  dispatch_types<RILL_REDUCED>(
      c.in(0).dtype, [&]<class T>() { reduce_axes<SumOf, Computed<T>, T, T>(c, Over<T>{n}); });
}
RILL_KERNEL("Mean", gpu, kReducedTypes, mean_cuda);

struct ProdOf : PlainLoad {
  template <class A>
  static __device__ __forceinline__ A start() {
    return A(1);
  }
  template <class A>
  static __device__ __forceinline__ A join(A a, A b) {
    return static_cast<A>(a * b);
  }
};
void prod_cuda(KernelContext& c) noexcept {
  dispatch_types<RILL_REDUCED>(
      c.in(0).dtype, [&]<class T>() { reduce_axes<ProdOf, Computed<T>, T, T>(c, CastTo<T>{}); });
}
RILL_KERNEL("Prod", gpu, kReducedTypes, prod_cuda);

// A NaN anywhere makes the result NaN.
template <bool kMax>
struct Extreme : PlainLoad {
  template <class A>
  static __device__ __forceinline__ A start() {
    using L = std::numeric_limits<A>;
    if constexpr (L::has_infinity)
      return kMax ? -L::infinity() : L::infinity();
    else
      return kMax ? L::lowest() : L::max();
  }
  template <class A>
  static __device__ __forceinline__ A join(A a, A b) {
    return (kMax ? a > b : a < b) || a != a ? a : b;
  }
};
template <bool kMax>
void extreme_cuda(KernelContext& c) noexcept {
  dispatch_types<RILL_REDUCED>(c.in(0).dtype, [&]<class T>() {
    reduce_axes<Extreme<kMax>, Computed<T>, T, T>(c, CastTo<T>{});
  });
}
RILL_KERNEL("Max", gpu, kReducedTypes, extreme_cuda<true>);
RILL_KERNEL("Min", gpu, kReducedTypes, extreme_cuda<false>);

// The square root of the sum of squares; of integers in double.
struct SquaresOf : SumOf {
  template <class A, class T>
  static __device__ __forceinline__ A load(T x) {
    return static_cast<A>(x) * static_cast<A>(x);
  }
};
template <class T>
using NormType = std::conditional_t<std::is_integral_v<T>, double, Computed<T>>;
template <class T>
struct Root {
  template <class A>
  __device__ __forceinline__ T operator()(A a) const {
    return static_cast<T>(std::sqrt(a));
  }
};
void euclidean_norm_cuda(KernelContext& c) noexcept {
  dispatch_types<RILL_REDUCED>(
      c.in(0).dtype, [&]<class T>() { reduce_axes<SquaresOf, NormType<T>, T, T>(c, Root<T>{}); });
}
RILL_KERNEL("EuclideanNorm", gpu, kReducedTypes, euclidean_norm_cuda);

template <class T>
struct Halved {
  template <class A>
  __device__ __forceinline__ T operator()(A a) const {
    return static_cast<T>(a / 2);
  }
};
void l2_loss_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    reduce<SquaresOf, Computed<T>>(c, c.in<T>(0), c.out<T>(), Dims{c.in(0).size}, {1}, Halved<T>{});
  });
}
RILL_KERNEL("L2Loss", gpu, kFloatTypes, l2_loss_cuda);

template <bool kAll>
struct Logic : PlainLoad {
  template <class A>
  static __device__ __forceinline__ A start() {
    return kAll;
  }
  template <class A>
  static __device__ __forceinline__ A join(A a, A b) {
    return kAll ? a && b : a || b;
  }
};
template <bool kAll>
void logic_cuda(KernelContext& c) noexcept {
  reduce_axes<Logic<kAll>, bool, bool, bool>(c, CastTo<bool>{});
}
RILL_KERNEL("All", gpu, kIndexTypes, logic_cuda<true>);
RILL_KERNEL("Any", gpu, kIndexTypes, logic_cuda<false>);

}  // namespace
}  // namespace rill::cuda
