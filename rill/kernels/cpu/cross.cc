#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

void cross_cpu(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    parallel_for(c.out().size / 3, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin * 3; i < end * 3; i += 3) {
        const T *a = c.in<T>(0) + i, *b = c.in<T>(1) + i;
        T* out = c.out<T>() + i;
        // Unsigned in between, where integers may wrap.
        using A = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Wide<T>>;
        for (int k = 0; k < 3; ++k) {
          const int next = (k + 1) % 3, last = (k + 2) % 3;
          out[k] = static_cast<T>(static_cast<A>(a[next]) * static_cast<A>(b[last]) -
                                  static_cast<A>(a[last]) * static_cast<A>(b[next]));
        }
      }
    });
  });
}
RILL_KERNEL("Cross", cpu, kRealTypes, cross_cpu);

}  // namespace
}  // namespace rill::cpu
