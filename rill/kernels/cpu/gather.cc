#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

template <class I>
bool check_indices(KernelContext& c, const I* index, std::int64_t n, std::int64_t limit) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (index[i] >= 0 && index[i] < limit) [[likely]]
      continue;
    c.fail(Code::invalid_argument, format("[{}] indices[{}] = {} is not in [0, {})", c.tag(), i,
                                          static_cast<std::int64_t>(index[i]), limit));
    return false;
  }
  return true;
}

// params [batch, outer, limit, inner], indices [batch, count] -> [batch, outer, count, inner]
void gather_cpu(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  std::int64_t axis = c.in(2).dtype == int64 ? *c.in<std::int64_t>(2) : *c.in<std::int32_t>(2);
  if (axis < 0) axis += shape.rank();
  std::int64_t batch_dims = c.int_attr("batch_dims");
  if (batch_dims < 0) batch_dims += c.in_shape(1).rank();
  std::int64_t batch = 1, outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i)
    (i < batch_dims ? batch : i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  const std::int64_t limit = shape.dim(static_cast<int>(axis)),
                     count = batch ? c.in(1).size / batch : 0;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    const I* index = c.in<I>(1);
    if (!check_indices(c, index, c.in(1).size, limit)) return;
    dispatch_width(c.in(0).dtype, [&]<class T>() {
      const T* in = c.in<T>(0);
      T* out = c.out<T>();
      parallel_for(batch * outer * count,
                   std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, inner)),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k) {
                       const std::int64_t row = k / count, b = row / outer, i = k % count;
                       std::copy_n(in + (row * limit + index[b * count + i]) * inner, inner,
                                   out + k * inner);
                     }
                   });
    });
  });
}
RILL_KERNEL("GatherV2", cpu, kAllTypes, gather_cpu);

}  // namespace
}  // namespace rill::cpu
