// Places in sorted rows.
#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

template <bool kUpper, class T, class I>
struct BoundBody {
  const T *sorted, *values;
  I* out;
  std::int64_t n, m;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const T* row = sorted + i / m * n;
    const auto v = static_cast<Computed<T>>(values[i]);
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const auto x = static_cast<Computed<T>>(row[middle]);
      if (kUpper ? !(v < x) : x < v)
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = static_cast<I>(low);
  }
};
template <bool kUpper>
void bound_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in_shape(0).dim(1), m = c.in_shape(1).dim(1);
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
      launch_loops(c, c.out().size,
                   BoundBody<kUpper, T, I>{c.in<T>(0), c.in<T>(1), c.out<I>(), n, m});
    });
  });
}
RILL_KERNEL("LowerBound", gpu, kRealTypes, bound_cuda<false>);
RILL_KERNEL("UpperBound", gpu, kRealTypes, bound_cuda<true>);

}  // namespace
}  // namespace rill::cuda
