#include "rill/kernels/cpu/reduce.h"

namespace rill::cpu {
namespace {

void sum_cpu(KernelContext& c) noexcept {
  dispatch_numeric(c.in(0).dtype, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_cpu<SumOf, A, T, T>(c, [](A a) { return static_cast<T>(a); });
  });
}
RILL_KERNEL("Sum", cpu, kNumericTypes, sum_cpu);

void mean_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.out().size ? c.in(0).size / c.out().size : 0;
  dispatch_numeric(c.in(0).dtype, [&]<class T>() {
    using A = Accumulator<T>;
    if constexpr (std::is_integral_v<T>) {
      // As TensorFlow: the sum in the element's own type, then integer division.
      reduce_cpu<SumOf, A, T, T>(
          c, [n](A a) { return n ? static_cast<T>(a / static_cast<A>(n)) : T(0); });
    } else {
      reduce_cpu<SumOf, A, T, T>(c, [n](A a) { return static_cast<T>(a / static_cast<A>(n)); });
    }
  });
}
RILL_KERNEL("Mean", cpu, kNumericTypes, mean_cpu);

}  // namespace
}  // namespace rill::cpu
