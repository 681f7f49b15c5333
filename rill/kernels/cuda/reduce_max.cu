#include "rill/kernels/cuda/reduce.h"

#include <limits>

namespace rill::cuda {
namespace {

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
RILL_KERNEL("Max", gpu, kRealTypes, extreme_cuda<true>);
RILL_KERNEL("Min", gpu, kRealTypes, extreme_cuda<false>);

}  // namespace
}  // namespace rill::cuda
