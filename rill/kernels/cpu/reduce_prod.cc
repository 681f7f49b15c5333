// Products, norms, and the truth of all or any.
#include <cmath>

#include "rill/kernels/cpu/reduce.h"

namespace rill::cpu {
namespace {

struct ProductOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return A(1);
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    // Small integers are promoted to int, where uint16 could overflow.
    if constexpr (std::is_integral_v<A> && sizeof(A) < 4)
      return static_cast<A>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
    else if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) *
                            static_cast<std::make_unsigned_t<A>>(b));
    else
      return a * b;
  }
};
void prod_cpu(KernelContext& c) noexcept {
  dispatch_numeric(c.in(0).dtype, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_cpu<ProductOf, A, T, T>(c, [](A a) { return static_cast<T>(a); });
  });
}
RILL_KERNEL("Prod", cpu, kNumericTypes, prod_cpu);

struct SquaresOf : SumOf {
  template <class A, class T>
  RILL_FORCE_INLINE static A load(T x) {
    const A a = static_cast<A>(x);
    if constexpr (requires { a.real(); })
      return A(a.real() * a.real() + a.imag() * a.imag());
    else
      return static_cast<A>(a * a);
  }
};
void euclidean_norm_cpu(KernelContext& c) noexcept {
  dispatch_numeric(c.in(0).dtype, [&]<class T>() {
    using A = std::conditional_t<std::is_integral_v<T>, double, Accumulator<T>>;
    reduce_cpu<SquaresOf, A, T, T>(c, [](A a) { return static_cast<T>(std::sqrt(a)); });
  });
}
RILL_KERNEL("EuclideanNorm", cpu, kNumericTypes, euclidean_norm_cpu);

void l2_loss_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using A = Accumulator<T>;
    const T* x = c.in<T>(0);
    const std::int64_t n = c.in(0).size, blocks = (n + kReduceGrain - 1) / kReduceGrain;
    A* part = c.scratch<A>(std::max<std::int64_t>(1, blocks));
    if (!part) return;
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        part[b] = reduce_row<SquaresOf, A>(x + b * kReduceGrain,
                                           std::min(kReduceGrain, n - b * kReduceGrain));
    });
    *c.out<T>() = static_cast<T>(reduce_row<JoinOnly<SquaresOf>, A>(part, blocks) / 2);
  });
}
RILL_KERNEL("L2Loss", cpu, kFloatTypes, l2_loss_cpu);

struct AllOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return 1;
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return a & b;
  }
};
struct AnyOf : PlainLoad {
  template <class A>
  RILL_FORCE_INLINE static A start() {
    return 0;
  }
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    return a | b;
  }
};
// Bytes vectorise where bool does not.
template <class F>
void truth_cpu(KernelContext& c) noexcept {
  reduce_cpu<F, std::uint8_t, std::uint8_t, bool>(c, [](std::uint8_t a) { return a != 0; });
}
RILL_KERNEL("All", cpu, kIndexTypes, truth_cpu<AllOf>);
RILL_KERNEL("Any", cpu, kIndexTypes, truth_cpu<AnyOf>);

}  // namespace
}  // namespace rill::cpu
