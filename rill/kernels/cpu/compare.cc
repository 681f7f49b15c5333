#include "rill/kernels/functors/compare.h"

#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

const CompareKernels<functors::Less, RILL_FLOATS, RILL_INTS> less("Less");
const CompareKernels<functors::LessEqual, RILL_FLOATS, RILL_INTS> less_equal("LessEqual");
const CompareKernels<functors::Greater, RILL_FLOATS, RILL_INTS> greater("Greater");
const CompareKernels<functors::GreaterEqual, RILL_FLOATS, RILL_INTS> greater_equal("GreaterEqual");

// Shapes that do not broadcast leave one element to answer: nothing is equal.
bool answer_mismatch(KernelContext& c, bool unequal) {
  const TensorShape &a = c.in_shape(0), &b = c.in_shape(1);
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    if (a.dim(-i) == b.dim(-i) || a.dim(-i) == 1 || b.dim(-i) == 1) continue;
    *c.out<bool>() = unequal;
    return true;
  }
  return false;
}
template <class F, class T>
void equality_cpu(KernelContext& c) noexcept {
  if (answer_mismatch(c, F::apply(0, 1))) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (c.out().size == 0) return;
    const BroadcastPlan p = plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape());
    const std::string *a = c.in<std::string>(0), *b = c.in<std::string>(1);
    bool* y = c.out<bool>();
    for_runs(p, 0, c.out().size / p.inner, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
      for (std::int64_t i = 0; i < p.inner; ++i)
        y[at + i] = F::apply((a[ia + (p.a_row ? i : 0)] == b[ib + (p.b_row ? i : 0)]), true);
    });
  } else {
    binary_cpu<F, T, bool>(c);
  }
}
template <class F, class... Ts>
struct EqualityKernels {
  explicit EqualityKernels(const char* op) {
    (KernelRegistration(op, DeviceType::cpu, {dtype_of<Ts>()}, equality_cpu<F, Ts>), ...);
  }
};
const EqualityKernels<functors::Equal, RILL_FLOATS, RILL_INTS, RILL_COMPLEX, bool, std::string>
    equal("Equal");
const EqualityKernels<functors::NotEqual, RILL_FLOATS, RILL_INTS, RILL_COMPLEX, bool, std::string>
    not_equal("NotEqual");

RILL_KERNEL("LogicalAnd", cpu, TypeSet{}, (binary_cpu<functors::LogicalAnd, bool>));
RILL_KERNEL("LogicalOr", cpu, TypeSet{}, (binary_cpu<functors::LogicalOr, bool>));
RILL_KERNEL("LogicalNot", cpu, TypeSet{}, (unary_cpu<functors::LogicalNot, bool>));

const BinaryKernels<functors::BitwiseAnd, RILL_INTS> bitwise_and("BitwiseAnd");
const BinaryKernels<functors::BitwiseOr, RILL_INTS> bitwise_or("BitwiseOr");
const BinaryKernels<functors::BitwiseXor, RILL_INTS> bitwise_xor("BitwiseXor");
const BinaryKernels<functors::LeftShift, RILL_INTS> left_shift("LeftShift");
const BinaryKernels<functors::RightShift, RILL_INTS> right_shift("RightShift");
const UnaryKernels<functors::Invert, RILL_INTS> invert("Invert");

}  // namespace
}  // namespace rill::cpu
