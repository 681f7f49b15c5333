// Updates of variables in place.
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
namespace {

template <class F>
void assign_update_cpu(KernelContext& c) noexcept {
  dispatch_numeric(c.in(1).dtype, [&]<class T>() {
    T* var = c.var<T>(0);
    const T* value = c.in<T>(1);
    parallel_for(c.in(0).size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      binary_loop<F>(var + begin, value + begin, var + begin, end - begin);
    });
  });
}
RILL_KERNEL("AssignAddVariableOp", cpu, kNumericTypes, assign_update_cpu<functors::Add>);
RILL_KERNEL("AssignSubVariableOp", cpu, kNumericTypes, assign_update_cpu<functors::Sub>);

// a - alpha * b; half types are computed in float.
template <class C>
struct ScaledSub : functors::Exact {
  C alpha;
  RILL_FORCE_INLINE C apply(C a, C b) const { return a - alpha * b; }
};

void apply_gradient_descent_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() {
    using C = std::conditional_t<sizeof(T) == 2, float, T>;
    ScaledSub<C> f;
    f.alpha = static_cast<C>(*c.in<T>(1));
    T* var = c.var<T>(0);
    const T* delta = c.in<T>(2);
    parallel_for(c.in(0).size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      binary_loop(var + begin, delta + begin, var + begin, end - begin, f);
    });
  });
}
RILL_KERNEL("ResourceApplyGradientDescent", cpu, kFloatTypes, apply_gradient_descent_cpu);

// The smallest integer over -1 stays what it is, as elsewhere.
struct Over {
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (b == T(-1))
        return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};

// variable[indices[i]] = f(variable[indices[i]], updates[i]); one update for all
// rows when it is a scalar.
template <class F>
void scatter_cpu(KernelContext& c) noexcept {
  const std::int64_t rows = c.in_shape(0).dim(0), inner = rows ? c.in(0).size / rows : 0,
                     n = c.in(1).size;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    const I* index = c.in<I>(1);
    for (std::int64_t i = 0; i < n; ++i)
      if (index[i] < 0 || index[i] >= rows)
        return c.fail(Code::invalid_argument,
                      format("[{}] indices[{}] = {} is not in [0, {})", c.tag(), i,
                             static_cast<std::int64_t>(index[i]), rows));
    dispatch_numeric(c.in(2).dtype, [&]<class T>() {
      const bool one = c.in_shape(2).rank() == 0;
      if constexpr (std::is_same_v<F, Over> &&
                    std::is_integral_v<T>) {  // before the first row changes
        for (std::int64_t i = 0; i < c.in(2).size; ++i)
          if (c.in<T>(2)[i] == 0)
            return c.fail(
                Code::invalid_argument,
                format("[{}] element {} of updates is 0 (integer division by zero)", c.tag(), i));
      }
      for (std::int64_t i = 0; i < n; ++i) {
        T* row = c.var<T>(0) + index[i] * inner;
        const T* update = c.in<T>(2) + (one ? 0 : i * inner);
        for (std::int64_t j = 0; j < inner; ++j) row[j] = F::join(row[j], update[one ? 0 : j]);
      }
    });
  });
}
struct Replace {
  template <class T>
  static T join(T, T b) {
    return b;
  }
};
#define RILL_JOIN(Name, expression)      \
  struct Name {                          \
    template <class T>                   \
    static T join(T a, T b) {            \
      return static_cast<T>(expression); \
    }                                    \
  }
RILL_JOIN(Plus, a + b);
RILL_JOIN(Minus, a - b);
RILL_JOIN(Times, a* b);
template <class T>
bool below(T a, T b) {
  if constexpr (requires { a < b; })
    return a < b;
  else
    return std::abs(a) < std::abs(b);
}
RILL_JOIN(Larger, below(a, b) ? b : a);
RILL_JOIN(Smaller, below(b, a) ? b : a);
RILL_KERNEL("ResourceScatterUpdate", cpu, kNumericTypes, scatter_cpu<Replace>);
RILL_KERNEL("ResourceScatterAdd", cpu, kNumericTypes, scatter_cpu<Plus>);
RILL_KERNEL("ResourceScatterSub", cpu, kNumericTypes, scatter_cpu<Minus>);
RILL_KERNEL("ResourceScatterMul", cpu, kNumericTypes, scatter_cpu<Times>);
RILL_KERNEL("ResourceScatterDiv", cpu, kNumericTypes, scatter_cpu<Over>);
RILL_KERNEL("ResourceScatterMax", cpu, kNumericTypes, scatter_cpu<Larger>);
RILL_KERNEL("ResourceScatterMin", cpu, kNumericTypes, scatter_cpu<Smaller>);

}  // namespace
}  // namespace rill::cpu
