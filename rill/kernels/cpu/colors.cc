// Colours of pixels. Half types are computed in float.
#include "rill/kernels/functors/colors.h"

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

using functors::Color;

// Calls f for each pixel of three channels of T, computed in W.
template <class T, class W, class F>
void each_color(KernelContext& c, F f) {
  const T* in = c.in<T>(0);
  T* out = c.out<T>();
  parallel_for(c.in(0).size / 3, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Color<W> to = f(Color<W>{static_cast<W>(in[3 * i]), static_cast<W>(in[3 * i + 1]),
                                     static_cast<W>(in[3 * i + 2])});
      out[3 * i] = static_cast<T>(to.a), out[3 * i + 1] = static_cast<T>(to.b),
              out[3 * i + 2] = static_cast<T>(to.c);
    }
  });
}
template <class F>
void convert_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    each_color<T, std::conditional_t<std::is_same_v<T, double>, double, float>>(c, F{});
  });
}
template <class F>
void adjust_cpu(KernelContext& c) noexcept {
  dispatch_types<float, half>(c.in(0).dtype,
                              [&]<class T>() { each_color<T, float>(c, F{*c.in<float>(1)}); });
}
RILL_KERNEL("RGBToHSV", cpu, kFloatTypes, convert_cpu<functors::RgbToHsv>);
RILL_KERNEL("HSVToRGB", cpu, kFloatTypes, convert_cpu<functors::HsvToRgb>);
RILL_KERNEL("AdjustHue", cpu, (TypeSet{float16, float32}), adjust_cpu<functors::AdjustHue>);
RILL_KERNEL("AdjustSaturation", cpu, (TypeSet{float16, float32}),
            adjust_cpu<functors::AdjustSaturation>);

}  // namespace
}  // namespace rill::cpu
