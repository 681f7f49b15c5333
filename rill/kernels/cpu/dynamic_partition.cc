// Rows sent to one of several tensors, and put together again.
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// [n] and the axes of data behind those of the index.
TensorShape rows_of(std::int64_t n, const TensorShape& data, int index_rank) {
  Dims d{n};
  for (int i = index_rank; i < data.rank(); ++i) d.push_back(data.dim(i));
  return TensorShape(d);
}

void dynamic_partition_cpu(KernelContext& c) noexcept {
  const std::int32_t* parts = c.in<std::int32_t>(1);
  const std::int64_t n = c.in(1).size, kinds = c.num_outputs();
  std::int64_t inner = 1;
  for (int i = c.in_shape(1).rank(); i < c.in_shape(0).rank(); ++i) inner *= c.in_shape(0).dim(i);
  auto* counts = c.scratch<std::int64_t>(kinds);
  if (!counts) return;
  std::fill_n(counts, kinds, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    if (parts[i] < 0 || parts[i] >= kinds)
      return c.fail(Code::invalid_argument, format("[{}] partitions[{}] = {} is not in [0, {})",
                                                   c.tag(), i, parts[i], kinds));
    ++counts[parts[i]];
  }
  dispatch_width(c.in(0).dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    auto** to = c.scratch<T*>(kinds);
    if (!to) return;
    for (int k = 0; k < kinds; ++k) {
      to[k] = c.allocate<T>(k, rows_of(counts[k], c.in_shape(0), c.in_shape(1).rank()));
      if (!to[k] && c.failed()) return;
    }
    for (std::int64_t i = 0; i < n; ++i)
      to[parts[i]] = std::copy_n(in + i * inner, inner, to[parts[i]]);
  });
}
RILL_KERNEL("DynamicPartition", cpu, kAllTypes, dynamic_partition_cpu);

void dynamic_stitch_cpu(KernelContext& c) noexcept {
  const int n = c.num_inputs() / 2;
  std::int64_t rows = 0;
  for (int i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < c.in(i).size; ++k) {
      const std::int32_t at = c.in<std::int32_t>(i)[k];
      if (at < 0)
        return c.fail(Code::invalid_argument,
                      format("[{}] indices[{}] holds {}; expected 0 or more", c.tag(), i, at));
      rows = std::max(rows, std::int64_t{at} + 1);
    }
  const TensorShape out = rows_of(rows, c.in_shape(n), c.in_shape(0).rank());
  const std::int64_t size = out.num_elements(), inner = rows ? size / rows : 0;
  dispatch_width(c.in(n).dtype, [&]<class T>() {
    T* merged = c.allocate<T>(0, out);
    if (!merged) return;
    std::fill_n(merged, size, T{});
    for (int i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < c.in(i).size; ++k)
        std::copy_n(c.in<T>(n + i) + k * inner, inner, merged + c.in<std::int32_t>(i)[k] * inner);
  });
}
RILL_KERNEL("DynamicStitch", cpu, kAllTypes, dynamic_stitch_cpu);
RILL_KERNEL("ParallelDynamicStitch", cpu, kAllTypes, dynamic_stitch_cpu);

}  // namespace
}  // namespace rill::cpu
