#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

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
RILL_KERNEL("Mean", gpu, kRealTypes, mean_cuda);

}  // namespace
}  // namespace rill::cuda
