// Places in sorted rows, and counts by bins of equal width.
#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

template <bool kUpper>
void bound_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in_shape(0).dim(1), m = c.in_shape(1).dim(1);
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
      const T *sorted = c.in<T>(0), *values = c.in<T>(1);
      I* out = c.out<I>();
      parallel_for(c.out().size, 1 << 11, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T *row = sorted + i / m * n, v = values[i];
          out[i] = static_cast<I>(
              (kUpper ? std::upper_bound(row, row + n, v) : std::lower_bound(row, row + n, v)) -
              row);
        }
      });
    });
  });
}
RILL_KERNEL("LowerBound", cpu, kRealTypes, bound_cpu<false>);
RILL_KERNEL("UpperBound", cpu, kRealTypes, bound_cpu<true>);

void histogram_cpu(KernelContext& c) noexcept {
  dispatch_types<std::int32_t, std::int64_t, float, double>(c.in(0).dtype, [&]<class T>() {
    const T lo = c.in<T>(1)[0], hi = c.in<T>(1)[1];
    const std::int64_t n = c.out().size;
    if (!(lo < hi))
      return c.fail(
          Code::invalid_argument,
          format("[{}] value_range is {} to {}; expected the lower number first", c.tag(), lo, hi));
    const double step = static_cast<double>(hi - lo) / static_cast<double>(n);
    dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
      I* out = c.out<I>();
      std::fill_n(out, n, I{0});
      for (std::int64_t i = 0; i < c.in(0).size; ++i) {
        const T v = c.in<T>(0)[i];
        if (v != v) {
          c.fail(Code::invalid_argument, format("[{}] values[{}] is not a number", c.tag(), i));
          return;
        }
        const double at = static_cast<double>(std::max(v, lo) - lo) / step;
        ++out[static_cast<std::int64_t>(std::min(at, static_cast<double>(n - 1)))];
      }
    });
  });
}
RILL_KERNEL("HistogramFixedWidth", cpu, (TypeSet{int32, int64, float32, float64}), histogram_cpu);

}  // namespace
}  // namespace rill::cpu
