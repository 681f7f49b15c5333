// Running sums and products.
#include "rill/kernels/cuda/runs.h"

namespace rill::cuda {
namespace {

// [outer, n, inner], cut into chunks of `chunk` steps along n. Each chunk is joined first,
// then the chunks before it, then its own elements: three launches, of which each does
// about sqrt(n) steps a thread.
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

template <class F, int kStart>
void cumulative_cuda(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  if (c.in(0).size == 0) return;
  std::int64_t axis = c.in(1).dtype == int64 ? *c.in<std::int64_t>(1) : *c.in<std::int32_t>(1);
  if (axis < 0) axis += shape.rank();
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  const std::int64_t n = shape.dim(static_cast<int>(axis));
  std::int64_t chunk = n;
  if (n > 128)
    for (chunk = 16; chunk * chunk < n;) chunk *= 2;
  const std::int64_t count = (n + chunk - 1) / chunk;
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    using A = Computed<T>;
    Chunks<F, T> s{c.in<T>(0),
                   c.out<T>(),
                   nullptr,
                   n,
                   inner,
                   chunk,
                   count,
                   static_cast<A>(kStart),
                   c.bool_attr("exclusive"),
                   c.bool_attr("reverse")};
    if (count > 1) {
      s.whole = c.scratch<A>(outer * count * inner);
      if (!s.whole) return;
      launch_loops(c, outer * count * inner, JoinChunkBody<F, T>{s});
      launch_loops(c, outer * inner, BeforeChunkBody<F, T>{s});
    }
    launch_loops(c, outer * count * inner, InChunkBody<F, T>{s});
  });
}
RILL_KERNEL("Cumsum", gpu, kRealTypes, (cumulative_cuda<Plus, 0>));
RILL_KERNEL("Cumprod", gpu, kRealTypes, (cumulative_cuda<Times, 1>));

}  // namespace
}  // namespace rill::cuda
