#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

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
RILL_KERNEL("EuclideanNorm", gpu, kRealTypes, euclidean_norm_cuda);

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

}  // namespace
}  // namespace rill::cuda
