// The largest and the smallest. A NaN anywhere makes the result NaN.
#include <limits>

#include "rill/kernels/cpu/reduce.h"

namespace rill::cpu {
namespace {

template <class A>
constexpr A lowest() {
  return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                              : std::numeric_limits<A>::lowest();
}
template <class A>
constexpr A highest() {
  return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity()
                                              : std::numeric_limits<A>::max();
}
struct MaxOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return lowest<A>();
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct MinOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return highest<A>();
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return (a < b) | (a != a) ? a : b;
  }
};

template <class F>
void extreme_cpu(KernelContext& c) noexcept {
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_cpu<F, A, T, T>(c, [](A a) { return static_cast<T>(a); });
  });
}
RILL_KERNEL("Max", cpu, kRealTypes, extreme_cpu<MaxOf>);
RILL_KERNEL("Min", cpu, kRealTypes, extreme_cpu<MinOf>);

}  // namespace
}  // namespace rill::cpu
