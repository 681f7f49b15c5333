#include "rill/kernels/cuda/pack.h"
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

// A block a row that fits shared memory; each thread reads back its own packs alone.
constexpr std::int64_t kHeldBytes = 48 << 10;
template <bool kLogarithm, int N, class T>
__global__ void __launch_bounds__(kThreads) held_softmax_kernel(const T* x, T* y, int n) {
  using W = Computed<T>;
  extern __shared__ char memory[];
  __shared__ W shared[kThreads];
  W* held = reinterpret_cast<W*>(memory);
  x += blockIdx.x * std::int64_t{n};
  y += blockIdx.x * std::int64_t{n};
  const int first = static_cast<int>(threadIdx.x) * N;
  constexpr int kStep = kThreads * N, kAhead = 4;  // loads that are under way
  W max = -static_cast<W>(INFINITY), sum = 0;
  for (int j = first; j < n; j += kAhead * kStep) {
    Pack<T, N> in[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
      if (j + a * kStep < n) in[a] = load_pack<N>(x + j + a * kStep);
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (j + a * kStep >= n) break;
      Pack<W, N> wide;
#pragma unroll
      for (int k = 0; k < N; ++k) {
        wide.v[k] = static_cast<W>(in[a].v[k]);
        max = wide.v[k] > max ? wide.v[k] : max;
      }
      store_pack(held + j + a * kStep, wide);
    }
  }
  max = join_lanes<kThreads>(max, shared, [](W a, W b) { return a > b ? a : b; });
#pragma unroll 2
  for (int j = first; j < n; j += kStep) {
    Pack<W, N> v = load_pack<N>(held + j);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      v.v[k] -= max;
      const W e = exp_of<W>(v.v[k]);
      sum += e;
      if constexpr (!kLogarithm) v.v[k] = e;
    }
    store_pack(held + j, v);
  }
  sum = sum_lanes<kThreads>(sum, shared);
  const W log_sum = kLogarithm ? std::log(sum) : W(0), factor = W(1) / sum;
#pragma unroll 2
  for (int j = first; j < n; j += kStep) {
    const Pack<W, N> v = load_pack<N>(held + j);
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; ++k)
      out.v[k] = static_cast<T>(kLogarithm ? v.v[k] - log_sum : v.v[k] * factor);
    store_pack(y + j, out);
  }
}

template <bool kLogarithm>
void softmax_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const std::int64_t n = c.in_shape(0).dim(-1), rows = c.out().size / n;
  const cudaStream_t stream = gpu_of(c).stream();
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using W = Computed<T>;
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    constexpr int kSize = kPack<T, W>;
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(W));
    const auto few = [&]<int kEach>() {  // a warp a row
      short_softmax_kernel<kLogarithm, 32, kEach>
          <<<blocks_of(rows, kThreads / 32), kThreads, 0, stream>>>(x, y, rows, n);
    };
    if (n <= 32 * 4)
      few.template operator()<4>();
    else if (n <= 32 * 12)
      few.template operator()<12>();
    else if (bytes > kHeldBytes - kThreads * static_cast<std::int64_t>(sizeof(W)))
      softmax_kernel<kLogarithm, kThreads>
          <<<blocks_of(rows, 1), kThreads, 0, stream>>>(x, y, rows, n);
    else if (n % kSize == 0 && aligned({x, y}))
      held_softmax_kernel<kLogarithm, kSize>
          <<<blocks_of(rows, 1), kThreads, bytes, stream>>>(x, y, static_cast<int>(n));
    else
      held_softmax_kernel<kLogarithm, 1>
          <<<blocks_of(rows, 1), kThreads, bytes, stream>>>(x, y, static_cast<int>(n));
  });
  check_launch(c);
}
RILL_KERNEL("Softmax", gpu, kFloatTypes, softmax_cuda<false>);
RILL_KERNEL("LogSoftmax", gpu, kFloatTypes, softmax_cuda<true>);

}  // namespace
}  // namespace rill::cuda
