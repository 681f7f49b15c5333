#pragma once
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/vector_math.h"

// Pieces of softmax over rows: kLanes threads share a row. Every thread of a
// block takes part in each join, also where there is no row left for it.
namespace rill::cuda {

// The same value in all lanes of a row. Lanes of one warp need no memory to meet.
template <int kLanes, class W, class Join>
__device__ __forceinline__ W join_lanes(W v, W* shared, Join join) {
  const int t = threadIdx.x, lane = t % kLanes;
  if constexpr (kLanes > 32) {
    __syncthreads();
    shared[t] = v;
    __syncthreads();
#pragma unroll
    for (int step = kLanes / 2; step >= 32; step /= 2) {
      if (lane < step) shared[t] = join(shared[t], shared[t + step]);
      __syncthreads();
    }
    v = shared[t];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v = join(v, __shfl_down_sync(~0u, v, step));
  if constexpr (kLanes > 32) {
    if (lane == 0) shared[t] = v;
    __syncthreads();
    return shared[t - lane];
  }
  return __shfl_sync(~0u, v, 0);
}
template <int kLanes, class W>
__device__ __forceinline__ W sum_lanes(W v, W* shared) {
  return join_lanes<kLanes>(v, shared, [](W a, W b) { return a + b; });
}

// max is that of the row (any NaN shows later in the sum), sum that of exp(x - max).
template <class W>
struct RowPeak {
  W max, sum;
};
template <class W>
__device__ __forceinline__ W exp_of(W x) {
  return functors::math::exp_no_overflow<functors::math::Fused>(x);
}
// x(j): element j of the row.
template <int kLanes, class W, class X>
__device__ __forceinline__ RowPeak<W> row_peak(X x, std::int64_t n, bool active, W* shared) {
  const int lane = threadIdx.x % kLanes;
  W max = -static_cast<W>(INFINITY), sum = 0;
  for (std::int64_t j = lane; active && j < n; j += kLanes) max = x(j) > max ? x(j) : max;
  max = join_lanes<kLanes>(max, shared, [](W a, W b) { return a > b ? a : b; });
  for (std::int64_t j = lane; active && j < n; j += kLanes) sum += exp_of<W>(x(j) - max);
  return {max, sum_lanes<kLanes>(sum, shared)};
}

// Calls launch.operator()<kLanes>(blocks) with the lanes that suit rows of n elements.
template <class F>
void for_rows(std::int64_t rows, std::int64_t n, F launch) {
  if (n <= 1024)
    launch.template operator()<32>(blocks_of(rows, kThreads / 32));
  else
    launch.template operator()<kThreads>(blocks_of(rows, 1));
}

}  // namespace rill::cuda
