#pragma once
#include "rill/kernels/cuda/sort.h"

// Rows that go to places which may repeat. The rows are sorted by place first, and one thread
// joins those of a place in their order: no atomic additions, so the bits are the CPU's.
namespace rill::cuda {

struct Runs {
  const std::uint64_t* place = nullptr;  // sorted; `limit` marks rows that go nowhere
  const std::uint32_t* row = nullptr;    // the row that goes there
  std::int64_t n = 0;
  std::uint64_t limit = 0;

  // body(row) for the rows of the run that begins at i; false when none begins there.
  RILL_HOST_DEVICE bool begins(std::int64_t i) const {
    return place[i] != limit && (i == 0 || place[i - 1] != place[i]);
  }
  RILL_HOST_DEVICE std::int64_t end(std::int64_t i) const {
    const std::uint64_t p = place[i];
    while (i < n && place[i] == p) ++i;
    return i;
  }
};

// What to do with an index outside [0, limit).
enum class Outside { report, drop_negative };

template <class I>
struct PlaceBody {
  const I* index;
  std::uint64_t* place;
  std::uint32_t* row;
  std::int64_t limit;
  Outside outside;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const auto v = static_cast<std::int64_t>(index[i]);
    const bool known = v >= 0 && v < limit;
    place[i] = static_cast<std::uint64_t>(known ? v : limit);
    row[i] = static_cast<std::uint32_t>(i);
    if (known || (outside == Outside::drop_negative && v < 0)) return;
    report(reporter.error, reporter.op,
           outside == Outside::report ? Finding::out_of_range : Finding::not_below, reporter.what,
           i, v, limit);
  }
};

// The rows 0 .. n - 1, sorted by index[i] in [0, limit). False: the call failed.
template <class I>
bool make_runs(KernelContext& c, const I* index, std::int64_t n, std::int64_t limit,
               Outside outside, const char* what, Runs& runs) {
  auto* place = c.scratch<std::uint64_t>(std::max<std::int64_t>(1, n));
  auto* row = c.scratch<std::uint32_t>(std::max<std::int64_t>(1, n));
  if (!place || !row) return false;
  launch_elements(
      c, n,
      PlaceBody<I>{index, place, row, limit, outside, {gpu_of(c).kernel_error(), &c.op(), what}});
  if (!sort_pairs(c, place, row, n, bits_for(limit))) return false;
  runs = {place, row, n, static_cast<std::uint64_t>(limit)};
  return true;
}

// to[place * inner + j] = f(f(to, from of the first row), from of the next) ..., each step
// rounded to T. `step` 0: one element for all rows.
template <class F, class T>
struct JoinRunsBody {
  Runs runs;
  const T* from;
  T* to;
  std::int64_t inner, row_step, step;
  bool replace;  // the first row is taken as it is
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t first = i / inner, j = i % inner;
    if (!runs.begins(first)) return;
    using A = Computed<T>;
    const std::int64_t at = static_cast<std::int64_t>(runs.place[first]) * inner + j,
                       end = runs.end(first);
    T sum = to[at];
    for (std::int64_t k = first; k < end; ++k) {
      const T x = from[runs.row[k] * row_step + j * step];
      sum = replace && k == first ? x
                                  : static_cast<T>(F::join(static_cast<A>(sum), static_cast<A>(x)));
    }
    to[at] = sum;
  }
};

template <class F, class T>
void join_runs(KernelContext& c, const Runs& runs, const T* from, T* to, std::int64_t inner,
               bool replace = false, bool one_for_all = false) {
  launch_loops(c, runs.n * inner,
               JoinRunsBody<F, T>{runs, from, to, inner, one_for_all ? 0 : inner,
                                  one_for_all ? 0 : 1, replace});
}

// to[place] = the sum of value(row) over the rows of a place, computed wide and rounded once.
// Places without rows keep what they hold.
template <class T, class Value>
struct SumRunsBody {
  Runs runs;
  Value value;
  T* to;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (!runs.begins(i)) return;
    Computed<T> sum = Computed<T>(0);
    const std::int64_t end = runs.end(i);
    for (std::int64_t k = i; k < end; ++k) sum = static_cast<Computed<T>>(sum + value(runs.row[k]));
    to[runs.place[i]] = static_cast<T>(sum);
  }
};

// How two elements are joined. Integers wrap.
struct Plus {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct Minus {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    else
      return a - b;
  }
};
struct Times {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};
struct Larger {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return b < a ? b : a;
  }
};
struct Last {
  template <class A>
  RILL_FORCE_INLINE static A join(A, A b) {
    return b;
  }
};

template <class T>
struct FillBody {
  T* out;
  T value;
  __device__ __forceinline__ void operator()(std::int64_t i) const { out[i] = value; }
};

}  // namespace rill::cuda
