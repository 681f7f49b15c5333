#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/softmax_row.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

// One side of a broadcast to [batch, classes].
struct Side {
  std::int64_t row, column;  // strides
};
Side side_of(const TensorShape& s) {
  const std::int64_t rows = s.rank() >= 2 ? s.dim(0) : 1, columns = s.rank() >= 1 ? s.dim(-1) : 1;
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

// loss = sum labels * (log sum exp(x) - x), backprop = softmax(x) - labels
void softmax_xent_cpu(KernelContext& c) noexcept {
  const std::int64_t batch = c.out_shape(1).dim(0), n = c.out_shape(1).dim(1);
  const Side features = side_of(c.in_shape(0)), labels = side_of(c.in_shape(1));
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *x = widened<T>(c, 0), *z = widened<T>(c, 1);
    W *loss = wide_output<T>(c, 0), *back = wide_output<T>(c, 1);
    if (!x || !z || !loss || !back) return;
    parallel_for(batch, std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const W *xi = x + i * features.row, *zi = z + i * labels.row;
                     W* bi = back + i * n;
                     if (features.column == 0) {
                       std::fill_n(bi, n, *xi);
                       xi = bi;
                     }
                     const RowPeak<W> p = row_peak(xi, n);
                     const W log_sum = std::log(p.sum);
                     W sum = 0;
                     for (std::int64_t j = 0; j < n; ++j)
                       sum += zi[j * labels.column] * (log_sum - (xi[j] - p.max));
                     loss[i] = sum;
                     softmax_row(xi, bi, n);
                     for (std::int64_t j = 0; j < n; ++j) bi[j] -= zi[j * labels.column];
                   }
                 });
    narrow_output<T>(c, 0, loss);
    narrow_output<T>(c, 1, back);
  });
}
RILL_KERNEL("SoftmaxCrossEntropyWithLogits", cpu, kFloatTypes, softmax_xent_cpu);

void sparse_xent_cpu(KernelContext& c) noexcept {
  const std::int64_t batch = c.out_shape(1).dim(0), n = c.out_shape(1).dim(1);
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    const I* labels = c.in<I>(1);
    for (std::int64_t i = 0; i < batch; ++i)
      if (labels[i] < 0 || labels[i] >= n) {
        c.fail(Code::invalid_argument,
               format("[{}] labels[{}] = {} is not in [0, {}): logits of shape {} have {} classes",
                      c.tag(), i, static_cast<std::int64_t>(labels[i]), n, c.in_shape(0), n));
        return;
      }
    dispatch_floats(c.in(0).dtype, [&]<class T>() {
      using W = Wide<T>;
      const W* x = widened<T>(c, 0);
      W *loss = wide_output<T>(c, 0), *back = wide_output<T>(c, 1);
      if (!x || !loss || !back) return;
      parallel_for(batch, std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(1, n)),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const W* xi = x + i * n;
                       const W own = xi[labels[i]];
                       const RowPeak<W> p = softmax_row(xi, back + i * n, n);
                       loss[i] = std::log(p.sum) - (own - p.max);
                       back[i * n + labels[i]] -= W(1);
                     }
                   });
      narrow_output<T>(c, 0, loss);
      narrow_output<T>(c, 1, back);
    });
  });
}
RILL_KERNEL("SparseSoftmaxCrossEntropyWithLogits", cpu, kFloatTypes, sparse_xent_cpu);

}  // namespace
}  // namespace rill::cpu
