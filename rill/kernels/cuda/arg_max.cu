#include <limits>

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// [outer, n, inner]: 32 threads an answer, the first of equals. NaN is never chosen.
template <bool kMax, class T, class I>
__global__ void __launch_bounds__(kThreads)
    arg_kernel(const T* x, I* y, std::int64_t n, std::int64_t inner, std::int64_t answers) {
  using A = Computed<T>;
  constexpr int kLanes = 32;
  __shared__ A best[kThreads];
  __shared__ std::int64_t place[kThreads];
  const int t = threadIdx.x, lane = t % kLanes;
  const std::int64_t o = std::int64_t{blockIdx.x} * (kThreads / kLanes) + t / kLanes;
  best[t] = kMax ? std::numeric_limits<A>::lowest() : std::numeric_limits<A>::max();
  place[t] = n;  // nothing yet
  if (o < answers) {
    const T* from = x + o / inner * n * inner + o % inner;
    for (std::int64_t k = lane; k < n; k += kLanes)
      if (const A v = static_cast<A>(from[k * inner]); kMax ? v > best[t] : v < best[t])
        best[t] = v, place[t] = k;
  }
  __syncwarp();
  for (int step = kLanes / 2; step > 0; step /= 2) {
    if (lane < step) {
      const A v = best[t + step];
      const bool better = kMax ? v > best[t] : v < best[t];
      if (better || (v == best[t] && place[t + step] < place[t]))
        best[t] = v, place[t] = place[t + step];
    }
    __syncwarp();
  }
  if (lane == 0 && o < answers) y[o] = static_cast<I>(place[t] == n ? 0 : place[t]);
}

template <bool kMax>
void arg_cuda(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  std::int64_t axis = c.in(1).dtype == int64 ? *c.in<std::int64_t>(1) : *c.in<std::int32_t>(1);
  if (axis < 0) axis += shape.rank();
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  if (outer * inner == 0) return;
  GpuDevice& gpu = gpu_of(c);
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
      arg_kernel<kMax><<<blocks_of(outer * inner, kThreads / 32), kThreads, 0, gpu.stream()>>>(
          c.in<T>(0), c.out<I>(), shape.dim(static_cast<int>(axis)), inner, outer * inner);
    });
  });
  check_launch(c);
}
constexpr TypeSet kTypes = kRealTypes;
RILL_KERNEL("ArgMax", gpu, kTypes, arg_cuda<true>);
RILL_KERNEL("ArgMin", gpu, kTypes, arg_cuda<false>);

}  // namespace
}  // namespace rill::cuda
