// Running sums and products.
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/log_add_exp.h"

namespace rill::cpu {
namespace {

using functors::LogAddExp;

// [outer, n, inner]: each step joins a row of inner elements with the last.
template <class F, double kStart>
void cumulative_cpu(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  if (c.in(0).size == 0) return;
  std::int64_t axis = c.in(1).dtype == int64 ? *c.in<std::int64_t>(1) : *c.in<std::int32_t>(1);
  if (axis < 0) axis += shape.rank();
  const bool exclusive = c.bool_attr("exclusive"), reverse = c.bool_attr("reverse");
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  const std::int64_t n = shape.dim(static_cast<int>(axis));
  constexpr std::int64_t kStrip = 256;
  const std::int64_t strip = std::min(inner, kStrip), strips = (inner + strip - 1) / strip;
  auto body = [&]<class T>() {
    using A =
        std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>, float, T>;
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    parallel_for(outer * strips, std::max<std::int64_t>(1, (1 << 15) / (n * strip)),
                 [&](std::int64_t begin, std::int64_t end) {
                   A acc[kStrip];
                   for (std::int64_t t = begin; t < end; ++t) {
                     const std::int64_t first = t / strips * n * inner + t % strips * strip,
                                        width = std::min(strip, inner - t % strips * strip);
                     std::fill_n(acc, width, static_cast<A>(kStart));
                     for (std::int64_t k = 0; k < n; ++k) {
                       const std::int64_t at = first + (reverse ? n - 1 - k : k) * inner;
                       for (std::int64_t j = 0; j < width; ++j) {
                         const A next = F::template apply<A>(acc[j], static_cast<A>(x[at + j]));
                         y[at + j] = static_cast<T>(exclusive ? acc[j] : next);
                         acc[j] = next;
                       }
                     }
                   }
                 });
  };
  if constexpr (std::is_same_v<F, LogAddExp>)
    dispatch_floats(c.in(0).dtype, body);
  else
    dispatch_numeric(c.in(0).dtype, body);
}
RILL_KERNEL("Cumsum", cpu, kNumericTypes, (cumulative_cpu<functors::Add, 0.>));
RILL_KERNEL("Cumprod", cpu, kNumericTypes, (cumulative_cpu<functors::Mul, 1.>));
RILL_KERNEL("CumulativeLogsumexp", cpu, kFloatTypes, (cumulative_cpu<LogAddExp, -__builtin_inf()>));

}  // namespace
}  // namespace rill::cpu
