#pragma once
#include "rill/kernels/cuda/walk.h"

// The kernels of reduce.h. X is a pointer to the elements, or what is used as one.
namespace rill::cuda {

// What of the reduced elements each block along y takes.
struct Split {
  std::int64_t count, size;  // of parts, of elements a part
};

// kLanes threads join the elements of one result; lanes walk along the reduced axes.
template <class F, class A, class X, class R, class Finish, int kLanes>
__global__ void __launch_bounds__(kThreads)
    reduce_inner(X x, R* y, const __grid_constant__ Walk<1> kept,
                 const __grid_constant__ Walk<1> gone, Split split, Finish finish) {
  __shared__ A part[kThreads];
  const int lane = threadIdx.x % kLanes;
  const std::int64_t o = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const std::int64_t begin = blockIdx.y * split.size, end = min(begin + split.size, gone.size);
  A sum = F::template start<A>();
  if (o < kept.size) {
    const X from = x + kept.at(o);
    for (std::int64_t r = begin + lane; r < end; r += kLanes)
      sum = F::join(sum, F::template load<A>(from[gone.at(r)]));
  }
  part[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    if (lane < step) part[threadIdx.x] = F::join(part[threadIdx.x], part[threadIdx.x + step]);
    __syncthreads();
  }
  if (lane == 0 && o < kept.size) y[blockIdx.y * kept.size + o] = finish(part[threadIdx.x]);
}

// Lanes walk along the results; rows of lanes share the elements of each.
inline constexpr int kColumns = 32, kRows = kThreads / kColumns;
template <class F, class A, class X, class R, class Finish>
__global__ void __launch_bounds__(kThreads)
    reduce_outer(X x, R* y, const __grid_constant__ Walk<1> kept,
                 const __grid_constant__ Walk<1> gone, Split split, Finish finish) {
  __shared__ A part[kRows][kColumns];
  const int column = threadIdx.x % kColumns, row = threadIdx.x / kColumns;
  const std::int64_t o = std::int64_t{blockIdx.x} * kColumns + column;
  const std::int64_t begin = blockIdx.y * split.size, end = min(begin + split.size, gone.size);
  A sum = F::template start<A>();
  if (o < kept.size) {
    const X from = x + kept.at(o);
    for (std::int64_t r = begin + row; r < end; r += kRows)
      sum = F::join(sum, F::template load<A>(from[gone.at(r)]));
  }
  part[row][column] = sum;
  __syncthreads();
#pragma unroll
  for (int step = kRows / 2; step > 0; step /= 2) {
    if (row < step) part[row][column] = F::join(part[row][column], part[row + step][column]);
    __syncthreads();
  }
  if (row == 0 && o < kept.size) y[blockIdx.y * kept.size + o] = finish(part[0][column]);
}

// One launch over `split.count` parts; results of part k begin at y + k * kept.size.
template <class F, class A, class X, class R, class Finish>
void launch_reduce(KernelContext& c, X x, R* y, const Walk<1>& kept, const Walk<1>& gone,
                   bool inner, Split split, Finish finish) {
  GpuDevice& gpu = gpu_of(c);
  const auto parts = static_cast<unsigned>(split.count);
  if (!inner) {
    reduce_outer<F, A><<<dim3(blocks_of(kept.size, kColumns), parts), kThreads, 0, gpu.stream()>>>(
        x, y, kept, gone, split, finish);
  } else if (split.size <= 1024) {
    reduce_inner<F, A, X, R, Finish, 32>
        <<<dim3(blocks_of(kept.size, kThreads / 32), parts), kThreads, 0, gpu.stream()>>>(
            x, y, kept, gone, split, finish);
  } else {
    reduce_inner<F, A, X, R, Finish, kThreads>
        <<<dim3(blocks_of(kept.size, 1), parts), kThreads, 0, gpu.stream()>>>(x, y, kept, gone,
                                                                              split, finish);
  }
  check_launch(c);
}

}  // namespace rill::cuda
