#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

void sum_cuda(KernelContext& c) noexcept {
  dispatch_types<RILL_REDUCED>(
      c.in(0).dtype, [&]<class T>() { reduce_axes<SumOf, Computed<T>, T, T>(c, CastTo<T>{}); });
}
RILL_KERNEL("Sum", gpu, kRealTypes, sum_cuda);

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
