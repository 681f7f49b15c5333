// Rows joined by the id that they carry.
#include <limits>

#include "rill/kernels/cuda/runs.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

template <class T>
T highest() {
  if constexpr (std::is_same_v<T, half>)
    return half(65504.f);
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return bfloat16_t::from_bits(0x7f7f);
  else
    return std::numeric_limits<T>::max();
}
template <class T>
T lowest() {
  if constexpr (is_half_v<T>)
    return static_cast<T>(-static_cast<float>(highest<T>()));
  else
    return std::numeric_limits<T>::lowest();
}

// What a segment without rows holds: of sorted ids, of unsorted ids.
struct Sum : Plus {
  static constexpr int kEmpty = 0;
  template <class T>
  static T start() {
    return static_cast<T>(0);
  }
};
struct Mean : Sum {};
struct Prod : Times {
  static constexpr int kEmpty = 1;
  template <class T>
  static T start() {
    return static_cast<T>(1);
  }
};
struct Max {
  static constexpr int kEmpty = 0;
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return functors::Maximum::apply(a, b);
  }
  template <class T>
  static T start() {
    return lowest<T>();
  }
};
struct Min {
  static constexpr int kEmpty = 0;
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return functors::Minimum::apply(a, b);
  }
  template <class T>
  static T start() {
    return highest<T>();
  }
};

template <class I>
struct SortedBody {
  const I* ids;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const auto v = static_cast<std::int64_t>(ids[i]),
               before = i ? static_cast<std::int64_t>(ids[i - 1]) : 0;
    if (v < before)
      report(reporter.error, reporter.op, Finding::unsorted, reporter.what, i, v, before);
  }
};

template <class T>
struct DivideRunsBody {
  Runs runs;
  T* to;
  std::int64_t inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t first = i / inner;
    if (!runs.begins(first)) return;
    T& sum = to[static_cast<std::int64_t>(runs.place[first]) * inner + i % inner];
    sum = static_cast<T>(static_cast<Computed<T>>(sum) /
                         static_cast<Computed<T>>(runs.end(first) - first));
  }
};

// The last id says how many segments there are: the host waits for it.
template <class I>
bool count_segments(KernelContext& c, std::int64_t n, std::int64_t& segments) {
  segments = 0;
  if (n == 0) return true;
  launch_elements(c, n,
                  SortedBody<I>{c.in<I>(1), {gpu_of(c).kernel_error(), &c.op(), "segment_ids"}});
  I last = 0;
  try {
    gpu_of(c).copy_to_host(&last, c.in<I>(1) + n - 1, sizeof last);
  } catch (const errors::Error& e) {
    c.fail(e.code(), std::string(e.message()));
    return false;
  }
  segments = static_cast<std::int64_t>(last) + 1;
  return true;
}

template <class F, class T>
void join(KernelContext& c, const Runs& runs, std::int64_t inner, T empty, bool sorted) {
  launch_elements(c, c.out().size, FillBody<T>{c.out<T>(), empty});
  join_runs<F, T>(c, runs, c.in<T>(0), c.out<T>(), inner, sorted);
  if constexpr (std::is_same_v<F, Mean>)
    launch_loops(c, runs.n * inner, DivideRunsBody<T>{runs, c.out<T>(), inner});
}

template <class F>
void sorted_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size, inner = n ? c.in(0).size / n : 0;
  Runs runs;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    std::int64_t segments;
    if (!count_segments<I>(c, n, segments)) return;
    TensorShape shape = c.in_shape(0);
    shape.set_dim(0, segments);
    if (!c.allocate_output(0, shape)) return;
    make_runs(c, c.in<I>(1), n, segments, Outside::report, "segment_ids", runs);
  });
  if (c.failed()) return;
  dispatch_reals(c.in(0).dtype,
                 [&]<class T>() { join<F, T>(c, runs, inner, static_cast<T>(F::kEmpty), true); });
}
RILL_KERNEL("SegmentSum", gpu, kRealTypes, sorted_cuda<Sum>);
RILL_KERNEL("SegmentMean", gpu, kRealTypes, sorted_cuda<Mean>);
RILL_KERNEL("SegmentProd", gpu, kRealTypes, sorted_cuda<Prod>);
RILL_KERNEL("SegmentMax", gpu, kRealTypes, sorted_cuda<Max>);
RILL_KERNEL("SegmentMin", gpu, kRealTypes, sorted_cuda<Min>);

template <class F>
void unsorted_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size, inner = n ? c.in(0).size / n : 0;
  Runs runs;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    make_runs(c, c.in<I>(1), n, c.out_shape().dim(0), Outside::drop_negative, "segment_ids", runs);
  });
  if (c.failed()) return;
  dispatch_reals(c.in(0).dtype,
                 [&]<class T>() { join<F, T>(c, runs, inner, F::template start<T>(), false); });
}
RILL_KERNEL("UnsortedSegmentSum", gpu, kRealTypes, unsorted_cuda<Sum>);
RILL_KERNEL("UnsortedSegmentProd", gpu, kRealTypes, unsorted_cuda<Prod>);
RILL_KERNEL("UnsortedSegmentMax", gpu, kRealTypes, unsorted_cuda<Max>);
RILL_KERNEL("UnsortedSegmentMin", gpu, kRealTypes, unsorted_cuda<Min>);

}  // namespace
}  // namespace rill::cuda
