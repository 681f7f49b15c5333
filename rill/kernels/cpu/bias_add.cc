#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
namespace {

// A tensor as [outer, channels, inner].
struct Channels {
  std::int64_t outer = 1, channels = 1, inner = 1;
};
Channels channels_of(const KernelContext& c, const TensorShape& s) {
  const int axis = c.string_attr("data_format") == "NCHW" ? 1 : s.rank() - 1;
  Channels r;
  for (int i = 0; i < s.rank(); ++i)
    (i < axis ? r.outer : i == axis ? r.channels : r.inner) *= s.dim(i);
  return r;
}

void bias_add_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const Channels s = channels_of(c, c.out_shape());
  const TensorShape value({s.outer, s.channels, s.inner}), bias({s.channels, 1});
  const BroadcastPlan p = plan_broadcast(value, bias, value);
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    run_broadcast(c, p, sizeof(T), sizeof(T), binary_run<functors::Add, T, T>);
  });
}
RILL_KERNEL("BiasAdd", cpu, kNumericTypes, bias_add_cpu);

// Blocks of rows are summed apart and then together, in an order that depends
// on the shape alone.
void bias_add_grad_cpu(KernelContext& c) noexcept {
  const Channels s = channels_of(c, c.in_shape(0));
  const std::int64_t n = s.channels;
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    using A = std::conditional_t<detail::is_half_v<T>, float, T>;
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    if (n == 0) return;
    const std::int64_t row = n * s.inner;
    const std::int64_t rows_a_block =
        std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, row));
    const std::int64_t blocks = (s.outer + rows_a_block - 1) / rows_a_block;
    A* part = c.scratch<A>(std::max<std::int64_t>(1, blocks) * n);
    if (!part) return;
    std::fill_n(part, std::max<std::int64_t>(1, blocks) * n, A(0));
    if (c.in(0).size > 0)
      parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          A* sum = part + b * n;
          for (std::int64_t o = b * rows_a_block; o < std::min(s.outer, (b + 1) * rows_a_block);
               ++o) {
            const T* from = x + o * row;
            if (s.inner == 1) {
              for (std::int64_t j = 0; j < n; ++j) sum[j] = sum[j] + static_cast<A>(from[j]);
            } else {
              for (std::int64_t j = 0; j < n; ++j) {
                A lane[8] = {};
                std::int64_t k = 0;
                for (; k + 8 <= s.inner; k += 8)
                  for (int l = 0; l < 8; ++l)
                    lane[l] = lane[l] + static_cast<A>(from[j * s.inner + k + l]);
                for (int l = 0; k + l < s.inner; ++l)
                  lane[l] = lane[l] + static_cast<A>(from[j * s.inner + k + l]);
                for (int l = 0; l < 8; ++l) sum[j] = sum[j] + lane[l];
              }
            }
          }
        }
      });
    for (std::int64_t j = 0; j < n; ++j) {
      A sum = part[j];
      for (std::int64_t b = 1; b < blocks; ++b) sum = sum + part[b * n + j];
      y[j] = static_cast<T>(sum);
    }
  });
}
RILL_KERNEL("BiasAddGrad", cpu, kNumericTypes, bias_add_grad_cpu);

}  // namespace
}  // namespace rill::cpu
