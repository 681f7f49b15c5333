#include "rill/core/kernel.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

void split_along(KernelContext& c, const TensorView& value, const TensorView& axis_input) {
  const std::int64_t a = *static_cast<const std::int32_t*>(axis_input.data);
  const auto axis = static_cast<std::size_t>(a < 0 ? a + value.shape->rank() : a);
  const Dims strides = row_major(value.shape->dims());
  std::int64_t begin = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Dims& dims = c.out_shape(i).dims();
    const char* from = static_cast<const char*>(value.data) +
                       begin * strides[axis] * static_cast<std::int64_t>(value.dtype.itemsize());
    if (c.out(i).size > 0)
      strided_copy(value.dtype, from, c.out(i).data, {dims, strides, row_major(dims)});
    begin += dims[axis];
  }
}
void split_cpu(KernelContext& c) noexcept { split_along(c, c.in(1), c.in(0)); }
void split_v_cpu(KernelContext& c) noexcept { split_along(c, c.in(0), c.in(2)); }
RILL_KERNEL("Split", cpu, kAllTypes, split_cpu);
RILL_KERNEL("SplitV", cpu, kAllTypes, split_v_cpu);

}  // namespace
}  // namespace rill::cpu
