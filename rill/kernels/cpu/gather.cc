#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

template <class I>
bool check_indices(KernelContext& c, const I* index, std::int64_t n, std::int64_t limit) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (index[i] >= 0 && index[i] < limit) [[likely]] continue;
    c.fail(Code::invalid_argument, format("[{}] indices[{}] = {} is not in [0, {})", c.tag(), i, static_cast<std::int64_t>(index[i]), limit));
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
  for (int i = 0; i < shape.rank(); ++i) (i < batch_dims ? batch : i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  const std::int64_t limit = shape.dim(static_cast<int>(axis)), count = batch ? c.in(1).size / batch : 0;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    const I* index = c.in<I>(1);
    if (!check_indices(c, index, c.in(1).size, limit)) return;
    dispatch_width(c.in(0).dtype, [&]<class T>() {
      const T* in = c.in<T>(0);
      T* out = c.out<T>();
      parallel_for(batch * outer * count, std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, inner)),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k) {
                       const std::int64_t row = k / count, b = row / outer, i = k % count;
                       std::copy_n(in + (row * limit + index[b * count + i]) * inner, inner, out + k * inner);
                     }
                   });
    });
  });
}
RILL_KERNEL("GatherV2", cpu, kAllTypes, gather_cpu);

// Rows are added in the order of data; columns are split among threads.
void unsorted_segment_sum_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size, segments = c.out_shape().dim(0);
  const std::int64_t inner = n ? c.in(0).size / n : 0;
  dispatch_numeric(c.in(0).dtype, [&]<class T>() {
    T* out = c.out<T>();
    std::fill_n(out, c.out().size, T(0));
    dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
      const I* ids = c.in<I>(1);
      for (std::int64_t i = 0; i < n; ++i)
        if (ids[i] >= segments)
          return c.fail(Code::invalid_argument, format("[{}] segment_ids[{}] = {} is not below num_segments {}", c.tag(), i,
                                                       static_cast<std::int64_t>(ids[i]), segments));
      const T* in = c.in<T>(0);
      parallel_for(inner, std::max<std::int64_t>(16, (1 << 15) / std::max<std::int64_t>(1, n)), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = 0; i < n; ++i) {
          if (ids[i] < 0) continue;
          T* to = out + ids[i] * inner;
          const T* from = in + i * inner;
          for (std::int64_t j = begin; j < end; ++j) to[j] = static_cast<T>(to[j] + from[j]);
        }
      });
    });
  });
}
RILL_KERNEL("UnsortedSegmentSum", cpu, kNumericTypes, unsorted_segment_sum_cpu);

}  // namespace
}  // namespace rill::cpu
