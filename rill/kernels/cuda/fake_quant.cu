#include "rill/kernels/functors/fake_quant.h"

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// Limits of each channel in memory, or one pair of attributes.
struct QuantLimits {
  const float *low, *high;
  float one_low, one_high;
  int bits;
  bool narrow;
  __device__ __forceinline__ functors::QuantSteps of(std::int64_t channel) const {
    return low ? functors::QuantSteps(low[channel], high[channel], bits, narrow)
               : functors::QuantSteps(one_low, one_high, bits, narrow);
  }
};
QuantLimits limits_of(const KernelContext& c, int at) {
  QuantLimits l{nullptr,
                nullptr,
                0,
                0,
                static_cast<int>(c.int_attr("num_bits")),
                c.bool_attr("narrow_range")};
  if (at < 0) {
    l.one_low = static_cast<float>(c.float_attr("min"));
    l.one_high = static_cast<float>(c.float_attr("max"));
  } else {
    l.low = c.in<float>(at), l.high = c.in<float>(at + 1);
  }
  return l;
}
std::int64_t channels_of(const KernelContext& c, int at) { return at < 0 ? 1 : c.in(at).size; }

struct QuantBody {
  QuantLimits limits;
  const float* x;
  float* y;
  std::int64_t channels;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = limits.of(channels == 1 ? 0 : i % channels).apply(x[i]);
  }
};
template <int kLimits>
void fake_quant_cuda(KernelContext& c) noexcept {
  launch_elements(
      c, c.out().size,
      QuantBody{limits_of(c, kLimits), c.in<float>(0), c.out<float>(), channels_of(c, kLimits)});
}
RILL_KERNEL("FakeQuantWithMinMaxArgs", gpu, TypeSet{}, fake_quant_cuda<-1>);
RILL_KERNEL("FakeQuantWithMinMaxVars", gpu, TypeSet{}, fake_quant_cuda<1>);
RILL_KERNEL("FakeQuantWithMinMaxVarsPerChannel", gpu, TypeSet{}, fake_quant_cuda<1>);

// Part p of a channel are its rows p, p + parts ..: neighbouring threads have neighbouring
// elements, and the order of the sums is fixed.
struct QuantGradientBody {
  QuantLimits limits;
  const float *dy, *x;
  float* dx;
  double* sums;  // [2, parts, channels]: of dy below and above the limits; null: not wanted
  std::int64_t channels, rows, parts;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const functors::QuantSteps s = limits.of(i % channels);
    double below = 0, above = 0;
    for (std::int64_t at = i; at < rows * channels; at += parts * channels) {
      const bool low = s.below(x[at]), high = s.above(x[at]);
      dx[at] = low || high ? 0.f : dy[at];
      if (low) below += static_cast<double>(dy[at]);
      if (high) above += static_cast<double>(dy[at]);
    }
    if (!sums) return;
    sums[i] = below;
    sums[parts * channels + i] = above;
  }
};
struct QuantJoinBody {
  const double* sums;
  float *below, *above;
  std::int64_t channels, parts;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    double low = 0, high = 0;
    for (std::int64_t at = i; at < parts * channels; at += channels)
      low += sums[at], high += sums[parts * channels + at];
    below[i] = static_cast<float>(low);
    above[i] = static_cast<float>(high);
  }
};
template <int kLimits>
void fake_quant_gradient_cuda(KernelContext& c) noexcept {
  const std::int64_t n = channels_of(c, kLimits), rows = n ? c.out().size / n : 0;
  constexpr std::int64_t kMostSums = 4096;  // of one channel, which one thread joins
  std::int64_t parts = rows;
  if (kLimits >= 0) parts = std::min(rows, std::max<std::int64_t>(1, kMostSums / (n + 1)));
  QuantGradientBody body{limits_of(c, kLimits),
                         c.in<float>(0),
                         c.in<float>(1),
                         c.out<float>(),
                         nullptr,
                         n,
                         rows,
                         parts};
  if constexpr (kLimits >= 0) {
    body.sums = c.scratch<double>(std::max<std::int64_t>(1, 2 * parts * n));
    if (!body.sums) return;
  }
  launch_loops(c, parts * n, body);
  if constexpr (kLimits >= 0)
    launch_loops(c, n, QuantJoinBody{body.sums, c.out<float>(1), c.out<float>(2), n, parts});
}
RILL_KERNEL("FakeQuantWithMinMaxArgsGradient", gpu, TypeSet{}, fake_quant_gradient_cuda<-1>);
RILL_KERNEL("FakeQuantWithMinMaxVarsGradient", gpu, TypeSet{}, fake_quant_gradient_cuda<2>);
RILL_KERNEL("FakeQuantWithMinMaxVarsPerChannelGradient", gpu, TypeSet{},
            fake_quant_gradient_cuda<2>);

}  // namespace
}  // namespace rill::cuda
