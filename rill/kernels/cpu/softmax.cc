#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/softmax_row.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

template <bool logarithm>
void softmax_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in_shape(0).dim(-1);
  if (c.out().size == 0) return;
  const std::int64_t rows = c.out().size / n;
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* x = widened<T>(c, 0);
    W* y = wide_output<T>(c, 0);
    if (!x || !y) return;
    parallel_for(rows, std::max<std::int64_t>(1, (1 << 13) / n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     if constexpr (logarithm)
                       log_softmax_row(x + i * n, y + i * n, n);
                     else
                       softmax_row(x + i * n, y + i * n, n);
                   }
                 });
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("Softmax", cpu, kFloatTypes, softmax_cpu<false>);
RILL_KERNEL("LogSoftmax", cpu, kFloatTypes, softmax_cpu<true>);

}  // namespace
}  // namespace rill::cpu
