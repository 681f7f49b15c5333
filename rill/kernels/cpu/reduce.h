#pragma once
#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/functors/vector_math.h"

// Reductions of any axes from one functor:
//   struct SumOf {
//     template <class A> static A start();
//     template <class A, class T> static A load(T x);   // an element as accumulator
//     template <class A> static A join(A a, A b);
//   };
// Elements are joined in an order that depends on the shape alone, never on the
// machine or the number of threads.
namespace rill::cpu {

// The input as groups of axes that are all reduced or all kept.
struct ReducePlan {
  Dims dims;                     // alternating groups
  SmallVector<char, 8> reduced;  // parallel: is this group reduced?
};
ReducePlan plan_reduce(const TensorShape& in, const TensorView& axes);

// The functor over results of its own.
template <class F>
struct JoinOnly : F {
  template <class A>
  RILL_FORCE_INLINE static A load(A x) {
    return x;
  }
};

namespace detail {

inline constexpr int kLanes = 32;
inline constexpr std::int64_t kRowBlock = 4096;

// RILL_REDUCE_LOOPS defines the loops of one ISA.
// _row: kLanes <= n contiguous elements in running results, one a lane.
// _columns: out[j] joined with the j-th element of each row.
#define RILL_REDUCE_LOOPS(Name, target)                                                            \
  template <class F, class A, class T>                                                             \
  target A Name##_row(const T* x, std::int64_t n) {                                                \
    A lane[kLanes];                                                                                \
    for (int k = 0; k < kLanes; ++k) lane[k] = F::template load<A>(x[k]);                          \
    std::int64_t i = kLanes;                                                                       \
    for (; i + kLanes <= n; i += kLanes)                                                           \
      for (int k = 0; k < kLanes; ++k) lane[k] = F::join(lane[k], F::template load<A>(x[i + k]));  \
    for (int k = 0; i + k < n; ++k) lane[k] = F::join(lane[k], F::template load<A>(x[i + k]));     \
    for (int step = kLanes / 2; step > 0; step /= 2)                                               \
      for (int k = 0; k < step; ++k) lane[k] = F::join(lane[k], lane[k + step]);                   \
    return F::join(F::template start<A>(), lane[0]);                                               \
  }                                                                                                \
  template <class F, class A, class T>                                                             \
  target void Name##_columns(const T* x, std::int64_t rows, std::int64_t cols,                     \
                             std::int64_t stride, A* __restrict out) {                             \
    for (std::int64_t i = 0; i < rows; ++i, x += stride)                                           \
      for (std::int64_t j = 0; j < cols; ++j) out[j] = F::join(out[j], F::template load<A>(x[j])); \
  }
RILL_REDUCE_LOOPS(plain, )
#if RILL_X86_VARIANTS
RILL_REDUCE_LOOPS(avx2, RILL_TARGET_AVX2)
RILL_REDUCE_LOOPS(avx512, RILL_TARGET_AVX512)
#define RILL_CALL(call, ...)                                              \
  if constexpr (std::is_floating_point_v<T>) {                            \
    if (isa() == Isa::avx512) return avx512_##call<F, A, T>(__VA_ARGS__); \
    if (isa() == Isa::avx2) return avx2_##call<F, A, T>(__VA_ARGS__);     \
  }                                                                       \
  return plain_##call<F, A, T>(__VA_ARGS__);
#else
#define RILL_CALL(call, ...) return plain_##call<F, A, T>(__VA_ARGS__);
#endif
#undef RILL_REDUCE_LOOPS

template <class F, class A, class T>
A row_block(const T* x, std::int64_t n) {
  RILL_CALL(row, x, n)
}
template <class F, class A, class T>
void columns(const T* x, std::int64_t rows, std::int64_t cols, std::int64_t stride, A* out) {
  RILL_CALL(columns, x, rows, cols, stride, out)
}
#undef RILL_CALL

}  // namespace detail

// n contiguous elements: running results, so that the loop vectorises the same
// way on every machine, over blocks joined in pairs, so that rounding errors
// stay small.
template <class F, class A, class T>
A reduce_row(const T* x, std::int64_t n) {
  using detail::kLanes, detail::kRowBlock;
  if (n < kLanes) {
    A r = F::template start<A>();
    for (std::int64_t i = 0; i < n; ++i) r = F::join(r, F::template load<A>(x[i]));
    return r;
  }
  if (n <= kRowBlock) return detail::row_block<F, A>(x, n);
  const std::int64_t half_blocks = (n / kRowBlock + 1) / 2 * kRowBlock;
  return F::join(reduce_row<F, A>(x, half_blocks),
                 reduce_row<F, A>(x + half_blocks, n - half_blocks));
}

// [rows, cols] reduced over rows. Rows that are short and follow each other are
// joined several at a time.
template <class F, class A, class T>
void reduce_columns(const T* x, std::int64_t rows, std::int64_t cols, std::int64_t stride, A* out) {
  std::fill_n(out, cols, F::template start<A>());
  constexpr std::int64_t kWide = 64;
  if (const std::int64_t k = kWide / cols; stride == cols && k >= 2 && rows >= 2 * k) {
    A wide[kWide];
    std::fill_n(wide, k * cols, F::template start<A>());
    detail::columns<F>(x, rows / k, k * cols, k * cols, wide);
    detail::columns<JoinOnly<F>>(static_cast<const A*>(wide), k, cols, cols, out);
    x += rows / k * k * cols;
    rows %= k;
  }
  detail::columns<F>(x, rows, cols, stride, out);
}

inline constexpr std::int64_t kReduceGrain = 1 << 15;
inline constexpr std::int64_t kColumnStrip = 2048;

// [outer, rows, cols] -> [outer, cols]
template <class F, class A, class T, class R, class Finish>
void reduce_middle(KernelContext& c, const T* x, std::int64_t outer, std::int64_t rows,
                   std::int64_t cols, R* y, Finish finish) {
  const std::int64_t strip = std::min(cols, kColumnStrip), strips = (cols + strip - 1) / strip;
  // Blocks of rows are reduced by themselves, then joined.
  const std::int64_t block = std::max<std::int64_t>(64, 2 * kReduceGrain / cols),
                     blocks = (rows + block - 1) / block;
  A* part = blocks > 1 ? c.scratch<A>(outer * blocks * cols) : nullptr;
  if (blocks > 1 && !part) return;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kReduceGrain / (std::min(rows, block) * strip));
  parallel_for(outer * blocks * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    A acc[kColumnStrip];
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t ob = t / strips, o = ob / blocks, first = ob % blocks * block,
                         j = t % strips * strip;
      const std::int64_t width = std::min(strip, cols - j);
      reduce_columns<F, A>(x + (o * rows + first) * cols + j, std::min(block, rows - first), width,
                           cols, acc);
      if (part)
        std::copy_n(acc, width, part + ob * cols + j);
      else
        for (std::int64_t k = 0; k < width; ++k) y[o * cols + j + k] = finish(acc[k]);
    }
  });
  if (!part) return;
  parallel_for(outer * strips, std::max<std::int64_t>(1, kReduceGrain / (blocks * strip)),
               [&](std::int64_t begin, std::int64_t end) {
                 A acc[kColumnStrip];
                 for (std::int64_t t = begin; t < end; ++t) {
                   const std::int64_t o = t / strips, j = t % strips * strip,
                                      width = std::min(strip, cols - j);
                   reduce_columns<JoinOnly<F>, A>(part + o * blocks * cols + j, blocks, width, cols,
                                                  acc);
                   for (std::int64_t k = 0; k < width; ++k) y[o * cols + j + k] = finish(acc[k]);
                 }
               });
}

// Groups of one kind, walked by one number.
struct ReduceWalk {
  Dims dims, strides;
  std::int64_t count = 1;
  void add(std::int64_t dim, std::int64_t stride) {
    dims.push_back(dim);
    strides.push_back(stride);
    count *= dim;
  }
  std::int64_t offset(std::int64_t index) const {
    std::int64_t at = 0;
    for (std::size_t i = dims.size(); i-- > 0; index /= dims[i]) at += index % dims[i] * strides[i];
    return at;
  }
};

// Reduces in accumulator type A and hands each result to finish(A) -> R.
template <class F, class A, class T, class R, class Finish>
void reduce_cpu(KernelContext& c, Finish finish) {
  const T* x = c.in<T>(0);
  R* y = c.out<R>();
  const std::int64_t n_out = c.out().size, n_in = c.in(0).size;
  if (n_out == 0) return;
  if (n_in == 0) {
    for (std::int64_t i = 0; i < n_out; ++i) y[i] = finish(F::template start<A>());
    return;
  }
  const ReducePlan p = plan_reduce(c.in_shape(0), c.in(1));
  const std::size_t groups = p.dims.size();
  if (groups == 1 && p.reduced[0]) {
    // Everything into one: fixed blocks, then their results.
    const std::int64_t blocks = (n_in + kReduceGrain - 1) / kReduceGrain;
    if (blocks == 1) return void(y[0] = finish(reduce_row<F, A>(x, n_in)));
    A* part = c.scratch<A>(blocks);
    if (!part) return;
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        part[b] =
            reduce_row<F, A>(x + b * kReduceGrain, std::min(kReduceGrain, n_in - b * kReduceGrain));
    });
    return void(y[0] = finish(reduce_row<JoinOnly<F>, A>(part, blocks)));
  }
  if (groups == 1) {  // nothing is reduced
    for (std::int64_t i = 0; i < n_in; ++i)
      y[i] = finish(F::join(F::template start<A>(), F::template load<A>(x[i])));
    return;
  }
  const std::int64_t inner = p.dims[groups - 1];
  if (groups == 2 && p.reduced[1]) {  // rows
    parallel_for(p.dims[0], std::max<std::int64_t>(1, kReduceGrain / inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     y[i] = finish(reduce_row<F, A>(x + i * inner, inner));
                 });
    return;
  }
  if (groups <= 3 && !p.reduced[groups - 1])  // columns, perhaps a batch of such
    return reduce_middle<F, A>(c, x, groups == 3 ? p.dims[0] : 1, p.dims[groups - 2], inner, y,
                               finish);
  // More groups: contiguous runs of the last one.
  ReduceWalk kept, gone;
  Dims strides(groups, 1);
  for (std::size_t i = groups - 1; i-- > 0;) strides[i] = strides[i + 1] * p.dims[i + 1];
  for (std::size_t i = 0; i + 1 < groups; ++i)
    (p.reduced[i] ? gone : kept).add(p.dims[i], strides[i]);
  const std::int64_t grain = std::max<std::int64_t>(1, kReduceGrain / (gone.count * inner));
  if (p.reduced[groups - 1]) {
    parallel_for(kept.count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        const T* base = x + kept.offset(o);
        A r = reduce_row<F, A>(base, inner);
        for (std::int64_t k = 1; k < gone.count; ++k)
          r = F::join(r, reduce_row<F, A>(base + gone.offset(k), inner));
        y[o] = finish(r);
      }
    });
    return;
  }
  const std::int64_t strip = std::min(inner, kColumnStrip), strips = (inner + strip - 1) / strip;
  parallel_for(kept.count * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    A acc[kColumnStrip];
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t o = t / strips, j = t % strips * strip, width = std::min(strip, inner - j);
      const T* base = x + kept.offset(o) + j;
      std::fill_n(acc, width, F::template start<A>());
      for (std::int64_t k = 0; k < gone.count; ++k)
        detail::columns<F>(base + gone.offset(k), 1, width, inner, acc);
      for (std::int64_t k = 0; k < width; ++k) y[o * inner + j + k] = finish(acc[k]);
    }
  });
}

// Half types are reduced in float; small integers in their own type, which wraps alike.
template <class T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>, float, T>;

// An element as it is.
struct PlainLoad {
  template <class A, class T>
  RILL_FORCE_INLINE static A load(T x) {
    return static_cast<A>(x);
  }
};
struct SumOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return A(0);
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return static_cast<A>(a + b);
  }
};

}  // namespace rill::cpu
