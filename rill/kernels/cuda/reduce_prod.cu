#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

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
RILL_KERNEL("Prod", gpu, kRealTypes, prod_cuda);

}  // namespace
}  // namespace rill::cuda
