#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

template <class T>
struct CrossBody {
  const T *a, *b;
  T* out;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    // Unsigned in between, where integers may wrap.
    using A = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Computed<T>>;
    const std::int64_t k = i % 3, next = i - k + (k + 1) % 3, last = i - k + (k + 2) % 3;
    out[i] = static_cast<T>(static_cast<A>(a[next]) * static_cast<A>(b[last]) -
                            static_cast<A>(a[last]) * static_cast<A>(b[next]));
  }
};
void cross_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, CrossBody<T>{c.in<T>(0), c.in<T>(1), c.out<T>()});
  });
}
RILL_KERNEL("Cross", gpu, kRealTypes, cross_cuda);

}  // namespace
}  // namespace rill::cuda
