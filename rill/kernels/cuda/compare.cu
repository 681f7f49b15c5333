#include "rill/kernels/functors/compare.h"

#include "rill/kernels/cuda/elementwise.h"

namespace rill::cuda {
namespace {

const CompareKernels<functors::Less, RILL_GPU_FLOATS, RILL_GPU_INTS> less("Less");
const CompareKernels<functors::LessEqual, RILL_GPU_FLOATS, RILL_GPU_INTS> less_equal("LessEqual");
const CompareKernels<functors::Greater, RILL_GPU_FLOATS, RILL_GPU_INTS> greater("Greater");
const CompareKernels<functors::GreaterEqual, RILL_GPU_FLOATS, RILL_GPU_INTS> greater_equal(
    "GreaterEqual");

// Shapes that do not broadcast leave one element to answer: nothing is equal.
template <class F, class T>
void equality_cuda(KernelContext& c) noexcept {
  const TensorShape &a = c.in_shape(0), &b = c.in_shape(1);
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    if (a.dim(-i) == b.dim(-i) || a.dim(-i) == 1 || b.dim(-i) == 1) continue;
    bool* y = c.out<bool>();
    return launch_elements(
        c, 1, [y, unequal = std::is_same_v<F, functors::NotEqual>] __device__(std::int64_t) {
          *y = unequal;
        });
  }
  binary<F, T, bool>(c, F{});
}
template <class F, class... Ts>
struct EqualityKernels {
  explicit EqualityKernels(const char* op) {
    (KernelRegistration(op, DeviceType::gpu, {dtype_of<Ts>()}, equality_cuda<F, Ts>), ...);
  }
};
const EqualityKernels<functors::Equal, RILL_GPU_FLOATS, RILL_GPU_INTS, bool> equal("Equal");
const EqualityKernels<functors::NotEqual, RILL_GPU_FLOATS, RILL_GPU_INTS, bool> unequal("NotEqual");

RILL_KERNEL("LogicalAnd", gpu, TypeSet{}, (binary_cuda<functors::LogicalAnd, bool>));
RILL_KERNEL("LogicalOr", gpu, TypeSet{}, (binary_cuda<functors::LogicalOr, bool>));
RILL_KERNEL("LogicalNot", gpu, TypeSet{}, (unary_cuda<functors::LogicalNot, bool>));

}  // namespace
}  // namespace rill::cuda
