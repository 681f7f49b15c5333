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
    parallel_for(c.in(0).size, kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { binary_loop<F>(var + begin, value + begin, var + begin, end - begin); });
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
    parallel_for(c.in(0).size, kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { binary_loop(var + begin, delta + begin, var + begin, end - begin, f); });
  });
}
RILL_KERNEL("ResourceApplyGradientDescent", cpu, kFloatTypes, apply_gradient_descent_cpu);

}  // namespace
}  // namespace rill::cpu
