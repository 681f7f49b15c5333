#pragma once
#include "rill/kernels/cuda/launch_reduce.h"

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

template <class A>
struct Same {
  __device__ __forceinline__ A operator()(A a) const { return a; }
};

// Elements that f(i) computes, for reductions of what is not in memory: passed as x.
template <class F>
struct Lazy {
  F f;
  std::int64_t at = 0;
  RILL_HOST_DEVICE Lazy operator+(std::int64_t k) const { return {f, at + k}; }
  __device__ __forceinline__ auto operator[](std::int64_t k) const { return f(at + k); }
};
// Two sums at once, in double: those of a pass over the elements.
struct Two {
  double a, b;
};
struct SumTwo {
  template <class A>
  static __device__ __forceinline__ A start() {
    return {0, 0};
  }
  template <class A>
  static __device__ __forceinline__ A load(A x) {
    return x;
  }
  template <class A>
  static __device__ __forceinline__ A join(A x, A y) {
    return {x.a + y.a, x.b + y.b};
  }
};

// Reduces the axes of `dims` for which reduced[i] is set, in accumulator type A;
// finish(A) -> R runs on the device. x is a pointer to the elements, or Lazy.
template <class F, class A, class X, class R, class Finish>
void reduce(KernelContext& c, X x, R* y, const Dims& dims, const SmallVector<char, 8>& reduced,
            Finish finish) {
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

// The element types that are reduced. One file per op or two: each op is many kernels.
#define RILL_REDUCED                                                                      \
  float, double, half, bfloat16_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, \
      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t

}  // namespace rill::cuda
