// Rows joined by the id that they carry. Rows are taken in the order of data;
// columns are split among threads.
#include <limits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
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
  if constexpr (functors::is_half_v<T>)
    return static_cast<T>(-static_cast<float>(highest<T>()));
  else
    return std::numeric_limits<T>::lowest();
}

// What a segment without rows holds: sorted ops, unsorted ops (also where joining starts).
struct Sum : functors::Add {
  static constexpr double kEmpty = 0;
  template <class T>
  static T start() {
    return T(0);
  }
};
struct Mean : Sum {};
struct Prod : functors::Mul {
  static constexpr double kEmpty = 1;
  template <class T>
  static T start() {
    return T(1);
  }
};
struct Max : functors::Maximum {
  static constexpr double kEmpty = 0;
  template <class T>
  static T start() {
    return lowest<T>();
  }
};
struct Min : functors::Minimum {
  static constexpr double kEmpty = 0;
  template <class T>
  static T start() {
    return highest<T>();
  }
};

// The ids as int64; null, reported, when there is no memory.
const std::int64_t* wide_ids(KernelContext& c) {
  if (c.in(1).dtype == int64) return c.in<std::int64_t>(1);
  std::int64_t* ids = c.scratch<std::int64_t>(c.in(1).size);
  if (ids) std::copy_n(c.in<std::int32_t>(1), c.in(1).size, ids);
  return ids;
}

template <class F, class T>
[[gnu::noinline]] void join_rows(const T* in, const std::int64_t* ids, std::int64_t n,
                                 std::int64_t inner, bool sorted, T* out) {
  using A = Wide<T>;
  parallel_for(inner, std::max<std::int64_t>(16, (1 << 15) / std::max<std::int64_t>(1, n)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = 0; i < n; ++i) {
                   if (ids[i] < 0) continue;
                   T* to = out + ids[i] * inner;
                   const T* from = in + i * inner;
                   if (sorted && (i == 0 || ids[i] != ids[i - 1]))
                     std::copy(from + begin, from + end, to + begin);
                   else
                     for (std::int64_t j = begin; j < end; ++j)
                       to[j] = static_cast<T>(
                           F::template apply<A>(static_cast<A>(to[j]), static_cast<A>(from[j])));
                 }
               });
}

template <class F, class Body>
void dispatch(DType dtype, Body body) {
  if constexpr (std::is_same_v<F, Max> || std::is_same_v<F, Min>)
    dispatch_reals(dtype, body);
  else
    dispatch_numeric(dtype, body);
}

template <class F>
void sorted_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size;
  const std::int64_t* ids = wide_ids(c);
  if (!ids) return;
  for (std::int64_t i = 0; i < n; ++i)
    if (ids[i] < (i ? ids[i - 1] : 0))
      return c.fail(
          Code::invalid_argument,
          format("[{}] segment_ids[{}] = {} is less than {}; expected sorted ids from 0 on",
                 c.tag(), i, ids[i], i ? ids[i - 1] : 0));
  TensorShape shape = c.in_shape(0);
  shape.set_dim(0, n ? ids[n - 1] + 1 : 0);
  if (!c.allocate_output(0, shape)) return;
  const std::int64_t inner = n ? c.in(0).size / n : 0;
  dispatch<F>(c.in(0).dtype, [&]<class T>() {
    T* out = c.out<T>();
    std::fill_n(out, c.out().size, static_cast<T>(F::kEmpty));
    join_rows<F, T>(c.in<T>(0), ids, n, inner, true, out);
    if constexpr (std::is_same_v<F, Mean>)
      for (std::int64_t first = 0, last; first < n; first = last) {
        for (last = first; last < n && ids[last] == ids[first];) ++last;
        const auto count = static_cast<Wide<T>>(last - first);
        for (T* to = out + ids[first] * inner; to != out + (ids[first] + 1) * inner; ++to)
          *to = static_cast<T>(static_cast<Wide<T>>(*to) / count);
      }
  });
}
RILL_KERNEL("SegmentSum", cpu, kNumericTypes, sorted_cpu<Sum>);
RILL_KERNEL("SegmentMean", cpu, kNumericTypes, sorted_cpu<Mean>);
RILL_KERNEL("SegmentProd", cpu, kNumericTypes, sorted_cpu<Prod>);
RILL_KERNEL("SegmentMax", cpu, kRealTypes, sorted_cpu<Max>);
RILL_KERNEL("SegmentMin", cpu, kRealTypes, sorted_cpu<Min>);

template <class F>
void unsorted_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size, segments = c.out_shape().dim(0);
  const std::int64_t* ids = wide_ids(c);
  if (!ids) return;
  for (std::int64_t i = 0; i < n; ++i)
    if (ids[i] >= segments)
      return c.fail(Code::invalid_argument,
                    format("[{}] segment_ids[{}] = {} is not below num_segments {}", c.tag(), i,
                           ids[i], segments));
  dispatch<F>(c.in(0).dtype, [&]<class T>() {
    std::fill_n(c.out<T>(), c.out().size, F::template start<T>());
    join_rows<F, T>(c.in<T>(0), ids, n, n ? c.in(0).size / n : 0, false, c.out<T>());
  });
}
RILL_KERNEL("UnsortedSegmentSum", cpu, kNumericTypes, unsorted_cpu<Sum>);
RILL_KERNEL("UnsortedSegmentProd", cpu, kNumericTypes, unsorted_cpu<Prod>);
RILL_KERNEL("UnsortedSegmentMax", cpu, kRealTypes, unsorted_cpu<Max>);
RILL_KERNEL("UnsortedSegmentMin", cpu, kRealTypes, unsorted_cpu<Min>);

}  // namespace
}  // namespace rill::cpu
