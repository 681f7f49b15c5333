// Sums of lists; values within limits.
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
namespace {

// Strip by strip, so that the sums stay in the cache.
void add_n_cpu(KernelContext& c) noexcept {
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    using A = Wide<T>;
    constexpr std::int64_t kStrip = 1024;
    parallel_for(c.out().size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      A sum[kStrip];
      for (; begin < end; begin += kStrip) {
        const std::int64_t n = std::min(kStrip, end - begin);
        for (std::int64_t j = 0; j < n; ++j) sum[j] = static_cast<A>(c.in<T>(0)[begin + j]);
        for (int i = 1; i < c.num_inputs(); ++i) {
          const T* from = c.in<T>(i) + begin;
          for (std::int64_t j = 0; j < n; ++j)
            sum[j] = functors::Add::apply<A>(sum[j], static_cast<A>(from[j]));
        }
        for (std::int64_t j = 0; j < n; ++j) c.out<T>()[begin + j] = static_cast<T>(sum[j]);
      }
    });
  });
}
RILL_KERNEL("AddN", cpu, kNumericTypes, add_n_cpu);

void clip_by_value_cpu(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    const T *x = c.in<T>(0), *low = c.in<T>(1), *high = c.in<T>(2);
    T* y = c.out<T>();
    const std::int64_t low_step = c.in(1).size == c.in(0).size,
                       high_step = c.in(2).size == c.in(0).size;
    parallel_for(c.out().size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      if (low_step || high_step) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T top = x[i] > high[i * high_step] ? high[i * high_step] : x[i];
          y[i] = top < low[i * low_step] ? low[i * low_step] : top;
        }
      } else {
        const T least = *low, most = *high;
        for (std::int64_t i = begin; i < end; ++i) {
          const T top = x[i] > most ? most : x[i];
          y[i] = top < least ? least : top;
        }
      }
    });
  });
}
RILL_KERNEL("ClipByValue", cpu, kRealTypes, clip_by_value_cpu);

}  // namespace
}  // namespace rill::cpu
