#pragma once
#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

// Reductions of any axes from one functor:
//   struct SumOf { template <class T> static T start(); template <class T> static T join(T a, T b); };
// Elements are joined in an order that depends on the shape alone, never on the
// machine or the number of threads.
namespace rill::cpu {

// The input as [outer, reduced, inner] groups, axes joined where they can be.
struct ReducePlan {
  Dims dims;                       // alternating groups
  SmallVector<char, 8> reduced;    // parallel: is this group reduced?
};
ReducePlan plan_reduce(const TensorShape& in, const TensorView& axes);

// A row of n contiguous elements. Sixteen running results, so that the loop
// vectorises the same way on every machine, over blocks joined in pairs, so
// that rounding errors stay small.
inline constexpr int kLanes = 16;
template <class F, class A, class T>
A reduce_row(const T* x, std::int64_t n) {
  if (n < kLanes) {
    A r = F::template start<A>();
    for (std::int64_t i = 0; i < n; ++i) r = F::join(r, static_cast<A>(x[i]));
    return r;
  }
  constexpr std::int64_t kBlock = 2048;
  if (n > kBlock) {
    const std::int64_t half_blocks = (n / kBlock + 1) / 2 * kBlock;
    return F::join(reduce_row<F, A>(x, half_blocks), reduce_row<F, A>(x + half_blocks, n - half_blocks));
  }
  A lane[kLanes];
  for (int k = 0; k < kLanes; ++k) lane[k] = static_cast<A>(x[k]);
  std::int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lane[k] = F::join(lane[k], static_cast<A>(x[i + k]));
  for (int k = 0; i + k < n; ++k) lane[k] = F::join(lane[k], static_cast<A>(x[i + k]));
  for (int step = kLanes / 2; step > 0; step /= 2)
    for (int k = 0; k < step; ++k) lane[k] = F::join(lane[k], lane[k + step]);
  return F::join(F::template start<A>(), lane[0]);
}

// [rows, cols] reduced over rows: cols results. Rows are joined in order.
template <class F, class A, class T>
void reduce_columns(const T* x, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, A* out) {
  for (std::int64_t j = 0; j < cols; ++j) out[j] = F::template start<A>();
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* row = x + i * row_stride;
    for (std::int64_t j = 0; j < cols; ++j) out[j] = F::join(out[j], static_cast<A>(row[j]));
  }
}

// Reduces in accumulator type A and hands each result to finish(A) -> R.
template <class F, class A, class T, class R, class Finish>
void reduce_cpu(KernelContext& c, Finish finish) {
  const ReducePlan p = plan_reduce(c.in_shape(0), c.in(1));
  const T* x = c.in<T>(0);
  R* y = c.out<R>();
  const std::int64_t n_out = c.out().size, n_in = c.in(0).size;
  if (n_out == 0) return;
  if (n_in == 0) {
    for (std::int64_t i = 0; i < n_out; ++i) y[i] = finish(F::template start<A>());
    return;
  }
  const std::size_t groups = p.dims.size();
  constexpr std::int64_t kGrain = 1 << 15;
  if (groups == 1 && p.reduced[0]) {
    // Everything into one: fixed blocks, then their results.
    const std::int64_t blocks = (n_in + kGrain - 1) / kGrain;
    if (blocks == 1) return void(y[0] = finish(reduce_row<F, A>(x, n_in)));
    A* part = c.scratch<A>(blocks);
    if (!part) return;
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) part[b] = reduce_row<F, A>(x + b * kGrain, std::min(kGrain, n_in - b * kGrain));
    });
    y[0] = finish(reduce_row<F, A>(part, blocks));
    return;
  }
  if (groups == 1) {  // nothing is reduced
    for (std::int64_t i = 0; i < n_in; ++i) y[i] = finish(F::join(F::template start<A>(), static_cast<A>(x[i])));
    return;
  }
  if (groups == 2 && p.reduced[1]) {  // rows
    const std::int64_t n = p.dims[1];
    parallel_for(p.dims[0], std::max<std::int64_t>(1, kGrain / n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i] = finish(reduce_row<F, A>(x + i * n, n));
    });
    return;
  }
  if (groups <= 3 && !p.reduced[groups - 1]) {  // columns, perhaps a batch of such
    const std::int64_t outer = groups == 3 ? p.dims[0] : 1, rows = p.dims[groups - 2], cols = p.dims[groups - 1];
    constexpr std::int64_t kColumns = 512;
    const std::int64_t strips = (cols + kColumns - 1) / kColumns;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (rows * std::min(cols, kColumns)));
    parallel_for(outer * strips, grain, [&](std::int64_t begin, std::int64_t end) {
      A sum[kColumns];
      for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t o = s / strips, j = s % strips * kColumns, width = std::min(kColumns, cols - j);
        reduce_columns<F, A>(x + o * rows * cols + j, rows, width, cols, sum);
        for (std::int64_t k = 0; k < width; ++k) y[o * cols + j + k] = finish(sum[k]);
      }
    });
    return;
  }
  // Any pattern: each output walks its own elements.
  Dims kept, kept_strides, gone, gone_strides;
  std::int64_t stride = 1;
  for (std::size_t i = groups; i-- > 0;) {
    (p.reduced[i] ? gone : kept).insert(0, p.dims[i]);
    (p.reduced[i] ? gone_strides : kept_strides).insert(0, stride);
    stride *= p.dims[i];
  }
  auto offset = [](std::int64_t index, const Dims& dims, const Dims& strides) {
    std::int64_t at = 0;
    for (std::size_t i = dims.size(); i-- > 0; index /= dims[i]) at += index % dims[i] * strides[i];
    return at;
  };
  const std::int64_t inner = n_in / n_out;
  parallel_for(n_out, std::max<std::int64_t>(1, kGrain / inner), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      const T* base = x + offset(o, kept, kept_strides);
      A r = F::template start<A>();
      for (std::int64_t k = 0; k < inner; ++k) r = F::join(r, static_cast<A>(base[offset(k, gone, gone_strides)]));
      y[o] = finish(r);
    }
  });
}

}  // namespace rill::cpu
