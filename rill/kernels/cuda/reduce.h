#pragma once
#include "rill/kernels/cuda/walk.h"

// Reductions of any axes from one functor:
//   struct SumOf {
//     template <class A> static __device__ A start();
//     template <class A, class T> static __device__ A load(T x);  // an element as accumulator
//     template <class A> static __device__ A join(A a, A b);
//   };
// Elements are joined in an order that depends on the shape and on the device
// alone: the same bits from run to run.
namespace rill::cuda {

template <class F>
struct JoinOnly : F {
  template <class A>
  static __device__ __forceinline__ A load(A x) {
    return x;
  }
};

// What of the reduced elements each block along y takes.
struct Split {
  std::int64_t count, size;  // of parts, of elements a part
};

// kLanes threads join the elements of one result; lanes walk along the reduced axes.
template <class F, class A, class T, class R, class Finish, int kLanes>
__global__ void __launch_bounds__(kThreads)
    reduce_inner(const T* x, R* y, const __grid_constant__ Walk<1> kept,
                 const __grid_constant__ Walk<1> gone, Split split, Finish finish) {
  __shared__ A part[kThreads];
  const int lane = threadIdx.x % kLanes;
  const std::int64_t o = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const std::int64_t begin = blockIdx.y * split.size, end = min(begin + split.size, gone.size);
  A sum = F::template start<A>();
  if (o < kept.size) {
    const T* from = x + kept.at(o);
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
template <class F, class A, class T, class R, class Finish>
__global__ void __launch_bounds__(kThreads)
    reduce_outer(const T* x, R* y, const __grid_constant__ Walk<1> kept,
                 const __grid_constant__ Walk<1> gone, Split split, Finish finish) {
  __shared__ A part[kRows][kColumns];
  const int column = threadIdx.x % kColumns, row = threadIdx.x / kColumns;
  const std::int64_t o = std::int64_t{blockIdx.x} * kColumns + column;
  const std::int64_t begin = blockIdx.y * split.size, end = min(begin + split.size, gone.size);
  A sum = F::template start<A>();
  if (o < kept.size) {
    const T* from = x + kept.at(o);
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

template <class A>
struct Same {
  __device__ __forceinline__ A operator()(A a) const { return a; }
};

// One launch over `split.count` parts; results of part k begin at y + k * kept.size.
template <class F, class A, class T, class R, class Finish>
void launch_reduce(KernelContext& c, const T* x, R* y, const Walk<1>& kept, const Walk<1>& gone,
                   bool inner, Split split, Finish finish) {
  GpuDevice& gpu = gpu_of(c);
  const auto parts = static_cast<unsigned>(split.count);
  if (!inner) {
    reduce_outer<F, A><<<dim3(blocks_of(kept.size, kColumns), parts), kThreads, 0, gpu.stream()>>>(
        x, y, kept, gone, split, finish);
  } else if (split.size <= 1024) {
    reduce_inner<F, A, T, R, Finish, 32>
        <<<dim3(blocks_of(kept.size, kThreads / 32), parts), kThreads, 0, gpu.stream()>>>(
            x, y, kept, gone, split, finish);
  } else {
    reduce_inner<F, A, T, R, Finish, kThreads>
        <<<dim3(blocks_of(kept.size, 1), parts), kThreads, 0, gpu.stream()>>>(x, y, kept, gone,
                                                                              split, finish);
  }
  check_launch(c);
}

// Reduces the axes of `dims` for which reduced[i] is set, in accumulator type A;
// finish(A) -> R runs on the device.
template <class F, class A, class T, class R, class Finish>
void reduce(KernelContext& c, const T* x, R* y, const Dims& dims,
            const SmallVector<char, 8>& reduced, Finish finish) {
  const Dims strides = row_major(dims);
  Dims kept_dims, kept_strides, gone_dims, gone_strides;
  bool inner = true;  // the last axis that is not 1 is reduced
  for (std::size_t i = 0; i < dims.size(); ++i) {
    (reduced[i] ? gone_dims : kept_dims).push_back(dims[i]);
    (reduced[i] ? gone_strides : kept_strides).push_back(strides[i]);
    if (dims[i] != 1) inner = reduced[i];
  }
  Walk<1> kept, gone;
  if (!make_walk<1>(c, kept_dims, {kept_strides}, kept) ||
      !make_walk<1>(c, gone_dims, {gone_strides}, gone) || kept.size == 0)
    return;
  // Few results of many elements: several blocks a result, joined afterwards.
  const std::int64_t blocks =
      inner ? (gone.size <= 1024 ? blocks_of(kept.size, kThreads / 32) : kept.size)
            : blocks_of(kept.size, kColumns);
  const std::int64_t wanted = std::max<std::int64_t>(1, 4 * gpu_of(c).multiprocessors() / blocks);
  const std::int64_t least = inner ? 4096 : 64;  // elements that a part is worth
  Split split{1, std::max<std::int64_t>(1, gone.size)};
  if (wanted > 1 && gone.size >= 2 * least) {
    split.size = std::max(least, (gone.size + wanted - 1) / wanted);
    split.count = (gone.size + split.size - 1) / split.size;
  }
  if (split.count == 1) return launch_reduce<F, A>(c, x, y, kept, gone, inner, split, finish);
  A* part = c.scratch<A>(split.count * kept.size);
  if (!part) return;
  launch_reduce<F, A>(c, x, part, kept, gone, inner, split, Same<A>{});
  Walk<1> results, parts;
  if (make_walk<1>(c, {kept.size}, {Dims{1}}, results) &&
      make_walk<1>(c, {split.count}, {Dims{kept.size}}, parts))
    launch_reduce<JoinOnly<F>, A>(c, static_cast<const A*>(part), y, results, parts, kept.size == 1,
                                  Split{1, split.count}, finish);
}

// Input 0 reduced over the axes of input 1.
template <class F, class A, class T, class R, class Finish>
void reduce_axes(KernelContext& c, Finish finish) {
  const TensorView& axes = c.in(1);
  SmallVector<char, 8> reduced(c.in_shape(0).size(), 0);
  for (std::int64_t i = 0; i < axes.size; ++i) {
    const std::int64_t a = axes.dtype == int64 ? static_cast<const std::int64_t*>(axes.data)[i]
                                               : static_cast<const std::int32_t*>(axes.data)[i];
    reduced[static_cast<std::size_t>(a < 0 ? a + c.in_shape(0).rank() : a)] = 1;
  }
  reduce<F, A>(c, c.in<T>(0), c.out<R>(), c.in_shape(0).dims(), reduced, finish);
}

template <class R>
struct CastTo {
  template <class A>
  __device__ __forceinline__ R operator()(A a) const {
    return static_cast<R>(a);
  }
};

// An element as it is.
struct PlainLoad {
  template <class A, class T>
  static __device__ __forceinline__ A load(T x) {
    return static_cast<A>(x);
  }
};
struct SumOf : PlainLoad {
  template <class A>
  static __device__ __forceinline__ A start() {
    return A(0);
  }
  template <class A>
  static __device__ __forceinline__ A join(A a, A b) {
    return static_cast<A>(a + b);
  }
};

}  // namespace rill::cuda
