#include "rill/kernels/functors/fake_quant.h"

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

using functors::QuantSteps;

QuantSteps steps_of(const KernelContext& c, int limits, std::int64_t channel) {
  const auto bits = static_cast<int>(c.int_attr("num_bits"));
  const bool narrow = c.bool_attr("narrow_range");
  if (limits < 0)
    return {static_cast<float>(c.float_attr("min")), static_cast<float>(c.float_attr("max")), bits,
            narrow};
  return {c.in<float>(limits)[channel], c.in<float>(limits + 1)[channel], bits, narrow};
}
// How many pairs of limits there are: attributes and scalars are one.
std::int64_t channels_of(const KernelContext& c, int limits) {
  return limits < 0 ? 1 : c.in(limits).size;
}

template <int kLimits>
void fake_quant_cpu(KernelContext& c) noexcept {
  const std::int64_t n = channels_of(c, kLimits), rows = n ? c.out().size / n : 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const QuantSteps s = steps_of(c, kLimits, k);
    const float* x = c.in<float>(0) + k;
    float* y = c.out<float>() + k;
    parallel_for(rows, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i * n] = s.apply(x[i * n]);
    });
  }
}
RILL_KERNEL("FakeQuantWithMinMaxArgs", cpu, TypeSet{}, fake_quant_cpu<-1>);
RILL_KERNEL("FakeQuantWithMinMaxVars", cpu, TypeSet{}, fake_quant_cpu<1>);
RILL_KERNEL("FakeQuantWithMinMaxVarsPerChannel", cpu, TypeSet{}, fake_quant_cpu<1>);

template <int kLimits>
void fake_quant_gradient_cpu(KernelContext& c) noexcept {
  const std::int64_t n = channels_of(c, kLimits), rows = n ? c.out().size / n : 0;
  parallel_for(n, std::max<std::int64_t>(1, (1 << 14) / (rows + 1)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t k = first; k < last; ++k) {
                   const QuantSteps s = steps_of(c, kLimits, k);
                   double below = 0, above = 0;
                   for (std::int64_t i = 0; i < rows; ++i) {
                     const float dy = c.in<float>(0)[i * n + k], x = c.in<float>(1)[i * n + k];
                     const bool low = s.below(x), high = s.above(x);
                     c.out<float>()[i * n + k] = low || high ? 0.f : dy;
                     if (low) below += static_cast<double>(dy);
                     if (high) above += static_cast<double>(dy);
                   }
                   if constexpr (kLimits >= 0) {
                     c.out<float>(1)[k] = static_cast<float>(below);
                     c.out<float>(2)[k] = static_cast<float>(above);
                   }
                 }
               });
}
RILL_KERNEL("FakeQuantWithMinMaxArgsGradient", cpu, TypeSet{}, fake_quant_gradient_cpu<-1>);
RILL_KERNEL("FakeQuantWithMinMaxVarsGradient", cpu, TypeSet{}, fake_quant_gradient_cpu<2>);
RILL_KERNEL("FakeQuantWithMinMaxVarsPerChannelGradient", cpu, TypeSet{},
            fake_quant_gradient_cpu<2>);

}  // namespace
}  // namespace rill::cpu
