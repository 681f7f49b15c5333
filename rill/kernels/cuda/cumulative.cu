// Running sums and products. Elements are joined in an order that their number alone decides:
// the same bits from run to run.
#include "rill/kernels/cuda/runs.h"
#include "rill/kernels/functors/log_add_exp.h"

namespace rill::cuda {
namespace {

// [outer, n, inner], cut into `count` chunks of `chunk` steps along n.
template <class F, class T>
struct Chunks {
  using A = Computed<T>;
  const T* x;
  T* y;
  A* whole;  // [outer, count, inner]: of each chunk, then of all chunks before it
  std::int64_t n, inner, chunk, count;
  A start;
  bool exclusive, reverse;
  __device__ __forceinline__ std::int64_t at(std::int64_t o, std::int64_t k, std::int64_t j) const {
    return (o * n + (reverse ? n - 1 - k : k)) * inner + j;
  }
};

// ---- A block a chunk, for rows that are contiguous.
constexpr int kEach = 8, kChunk = kThreads * kEach;  // elements of a thread, of a block

// Lanes take a number from the one `step` before them.
template <class A>
__device__ __forceinline__ A from_before(A v, int step) {
  if constexpr (sizeof(A) < 4)
    return static_cast<A>(__shfl_up_sync(~0u, static_cast<int>(v), step));
  else
    return __shfl_up_sync(~0u, v, step);
}
// What the threads before this one hold, joined, and what all hold.
template <class A>
struct Scanned {
  A before, all;
};
template <class F, class A>
__device__ __forceinline__ Scanned<A> scan_block(A own, A start) {
  constexpr int kWarps = kThreads / 32;
  __shared__ A warps[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A sum = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const A left = from_before(sum, step);
    if (lane >= step) sum = F::join(left, sum);
  }
  A before = from_before(sum, 1);
  if (lane == 0) before = start;
  __syncthreads();  // an earlier call has been read
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  A all = start, mine = start;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) mine = all;
    all = F::join(all, warps[w]);
  }
  return {F::join(mine, before), all};
}

template <class F, class T>
__global__ void __launch_bounds__(kThreads) join_chunks(const __grid_constant__ Chunks<F, T> s) {
  using A = Computed<T>;
  const std::int64_t o = blockIdx.x / s.count, begin = blockIdx.x % s.count * kChunk;
  A sum = s.start;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const std::int64_t k = begin + e * kThreads + threadIdx.x;
    if (k < s.n) sum = F::join(sum, static_cast<A>(s.x[s.at(o, k, 0)]));
  }
  const A all = scan_block<F>(sum, s.start).all;
  if (threadIdx.x == 0) s.whole[blockIdx.x] = all;
}
// A block a row of chunks.
template <class F, class T>
__global__ void __launch_bounds__(kThreads) before_chunks(const __grid_constant__ Chunks<F, T> s) {
  using A = Computed<T>;
  A* row = s.whole + blockIdx.x * s.count;
  A sum = s.start;
  for (std::int64_t q = 0; q < s.count; q += kThreads) {
    const std::int64_t at = q + threadIdx.x;
    const auto scanned = scan_block<F>(at < s.count ? row[at] : s.start, s.start);
    if (at < s.count) row[at] = F::join(sum, scanned.before);
    sum = F::join(sum, scanned.all);
  }
}
template <class F, class T>
__global__ void __launch_bounds__(kThreads) in_chunks(const __grid_constant__ Chunks<F, T> s) {
  using A = Computed<T>;
  // Neighbouring threads load and store neighbouring elements, but each joins kEach in a row.
  // A gap after every 32: threads then use different banks.
  __shared__ A held[kChunk + kChunk / 32];
  const auto slot = [](int k) { return k + k / 32; };
  const std::int64_t o = blockIdx.x / s.count, begin = blockIdx.x % s.count * kChunk;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int k = e * kThreads + static_cast<int>(threadIdx.x);
    held[slot(k)] = begin + k < s.n ? static_cast<A>(s.x[s.at(o, begin + k, 0)]) : s.start;
  }
  __syncthreads();
  const int first = static_cast<int>(threadIdx.x) * kEach;
  A own = s.start;
#pragma unroll
  for (int e = 0; e < kEach; ++e) own = F::join(own, held[slot(first + e)]);
  A sum = scan_block<F>(own, s.start).before;
  if (s.count > 1) sum = F::join(s.whole[blockIdx.x], sum);
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    A& here = held[slot(first + e)];
    const A next = F::join(sum, here);
    here = s.exclusive ? sum : next;
    sum = next;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int k = e * kThreads + static_cast<int>(threadIdx.x);
    if (begin + k < s.n) s.y[s.at(o, begin + k, 0)] = static_cast<T>(held[slot(k)]);
  }
}

// ---- One thread per chunk, for columns, where neighbouring threads have neighbouring columns, and
// for short rows. Each launch does about sqrt(n) steps a thread.
template <class F, class T>
struct JoinChunkBody {
  Chunks<F, T> s;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const std::int64_t j = i % s.inner, q = i / s.inner % s.count, o = i / s.inner / s.count;
    A sum = s.start;
    for (std::int64_t k = q * s.chunk; k < (q + 1) * s.chunk && k < s.n; ++k)
      sum = F::join(sum, static_cast<A>(s.x[s.at(o, k, j)]));
    s.whole[i] = sum;
  }
};
template <class F, class T>
struct BeforeChunkBody {
  Chunks<F, T> s;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const std::int64_t j = i % s.inner, o = i / s.inner;
    A sum = s.start;
    for (std::int64_t q = 0; q < s.count; ++q) {
      A& here = s.whole[(o * s.count + q) * s.inner + j];
      const A own = here;
      here = sum;
      sum = F::join(sum, own);
    }
  }
};
template <class F, class T>
struct InChunkBody {
  Chunks<F, T> s;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const std::int64_t j = i % s.inner, q = i / s.inner % s.count, o = i / s.inner / s.count;
    A sum = s.count > 1 ? s.whole[i] : s.start;
    for (std::int64_t k = q * s.chunk; k < (q + 1) * s.chunk && k < s.n; ++k) {
      const std::int64_t at = s.at(o, k, j);
      const A next = F::join(sum, static_cast<A>(s.x[at]));
      s.y[at] = static_cast<T>(s.exclusive ? sum : next);
      sum = next;
    }
  }
};

struct RunningSum : Plus {
  static constexpr double kStart = 0;
};
struct RunningProduct : Times {
  static constexpr double kStart = 1;
};
struct RunningLogSumExp {
  static constexpr double kStart = -__builtin_inf();
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return functors::LogAddExp::apply(a, b);
  }
};

template <class F>
void cumulative_cuda(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  if (c.in(0).size == 0) return;
  std::int64_t axis = c.in(1).dtype == int64 ? *c.in<std::int64_t>(1) : *c.in<std::int32_t>(1);
  if (axis < 0) axis += shape.rank();
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  const std::int64_t n = shape.dim(static_cast<int>(axis));
  const bool by_blocks = inner == 1 && n > 128;
  std::int64_t chunk = n;
  if (by_blocks)
    chunk = kChunk;
  else if (n > 128)
    for (chunk = 16; chunk * chunk < n;) chunk *= 2;
  const std::int64_t count = (n + chunk - 1) / chunk;
  const auto run = [&]<class T>() {
    using A = Computed<T>;
    Chunks<F, T> s{c.in<T>(0),
                   c.out<T>(),
                   nullptr,
                   n,
                   inner,
                   chunk,
                   count,
                   static_cast<A>(F::kStart),
                   c.bool_attr("exclusive"),
                   c.bool_attr("reverse")};
    if (count > 1) {
      s.whole = c.scratch<A>(outer * count * inner);
      if (!s.whole) return;
    }
    if (by_blocks) {
      const cudaStream_t stream = gpu_of(c).stream();
      const unsigned chunks = blocks_of(outer * count, 1);
      if (count > 1) {
        join_chunks<<<chunks, kThreads, 0, stream>>>(s);
        before_chunks<<<blocks_of(outer, 1), kThreads, 0, stream>>>(s);
      }
      in_chunks<<<chunks, kThreads, 0, stream>>>(s);
      return check_launch(c);
    }
    if (count > 1) {
      launch_loops(c, outer * count * inner, JoinChunkBody<F, T>{s});
      launch_loops(c, outer * inner, BeforeChunkBody<F, T>{s});
    }
    launch_loops(c, outer * count * inner, InChunkBody<F, T>{s});
  };
  if constexpr (std::is_same_v<F, RunningLogSumExp>)
    dispatch_floats(c.in(0).dtype, run);
  else
    dispatch_reals(c.in(0).dtype, run);
}
RILL_KERNEL("Cumsum", gpu, kRealTypes, cumulative_cuda<RunningSum>);
RILL_KERNEL("Cumprod", gpu, kRealTypes, cumulative_cuda<RunningProduct>);
RILL_KERNEL("CumulativeLogsumexp", gpu, kFloatTypes, cumulative_cuda<RunningLogSumExp>);

}  // namespace
}  // namespace rill::cuda
