#include "rill/kernels/cuda/rows.h"

namespace rill::cuda {
namespace {

template <bool kLogarithm, int kLanes, class T>
__global__ void __launch_bounds__(kThreads)
    softmax_kernel(const T* x, T* y, std::int64_t rows, std::int64_t n) {
  using W = Computed<T>;
  __shared__ W shared[kThreads];
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const bool active = row < rows;
  const T* from = x + (active ? row * n : 0);
  const RowPeak<W> p = row_peak<kLanes, W>(
      [from](std::int64_t j) { return static_cast<W>(from[j]); }, n, active, shared);
  if (!active) return;
  const W log_sum = kLogarithm ? std::log(p.sum) : W(0), factor = W(1) / p.sum;
  for (std::int64_t j = threadIdx.x % kLanes; j < n; j += kLanes) {
    const W v = static_cast<W>(from[j]) - p.max;
    y[row * n + j] = static_cast<T>(kLogarithm ? v - log_sum : exp_of<W>(v) * factor);
  }
}

// The same for rows that fit the registers of their lanes: one read of x.
template <bool kLogarithm, int kLanes, int kEach, class T>
__global__ void __launch_bounds__(kThreads)
    short_softmax_kernel(const T* x, T* y, std::int64_t rows, std::int64_t n) {
  using W = Computed<T>;
  __shared__ W shared[kThreads];
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes, end = row < rows ? static_cast<int>(n) : 0;
  const T* from = x + (row < rows ? row * n : 0);
  W v[kEach], max = -static_cast<W>(INFINITY), sum = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (lane + k * kLanes < end) v[k] = static_cast<W>(from[lane + k * kLanes]);
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (lane + k * kLanes < end) max = v[k] > max ? v[k] : max;
  max = join_lanes<kLanes>(max, shared, [](W a, W b) { return a > b ? a : b; });
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (lane + k * kLanes < end) {
      v[k] -= max;
      const W e = exp_of<W>(v[k]);
      sum += e;
      if constexpr (!kLogarithm) v[k] = e;
    }
  sum = sum_lanes<kLanes>(sum, shared);
  const W log_sum = kLogarithm ? std::log(sum) : W(0), factor = W(1) / sum;
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (lane + k * kLanes < end)
      y[row * n + lane + k * kLanes] = static_cast<T>(kLogarithm ? v[k] - log_sum : v[k] * factor);
}

template <bool kLogarithm>
void softmax_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const std::int64_t n = c.in_shape(0).dim(-1), rows = c.out().size / n;
  GpuDevice& gpu = gpu_of(c);
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    const auto run = [&]<int kLanes, int kEach>() {
      short_softmax_kernel<kLogarithm, kLanes, kEach>
          <<<blocks_of(rows, kThreads / kLanes), kThreads, 0, gpu.stream()>>>(c.in<T>(0),
                                                                              c.out<T>(), rows, n);
    };
    if (n <= 32 * 4) return run.template operator()<32, 4>();
    if (n <= 32 * 32) return run.template operator()<32, 32>();
    if (n <= kThreads * 8) return run.template operator()<kThreads, 8>();
    if (n <= kThreads * 32) return run.template operator()<kThreads, 32>();
    for_rows(rows, n, [&]<int kLanes>(unsigned blocks) {
      softmax_kernel<kLogarithm, kLanes>
          <<<blocks, kThreads, 0, gpu.stream()>>>(c.in<T>(0), c.out<T>(), rows, n);
    });
  });
  check_launch(c);
}
RILL_KERNEL("Softmax", gpu, kFloatTypes, softmax_cuda<false>);
RILL_KERNEL("LogSoftmax", gpu, kFloatTypes, softmax_cuda<true>);

}  // namespace
}  // namespace rill::cuda
