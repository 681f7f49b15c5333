// Colours of pixels. Half types are computed in float.
#include "rill/kernels/functors/colors.h"

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// A pixel a thread. `amount`: on the device; null where F has none.
template <class F, class T, class W>
struct ColorBody {
  const T* in;
  T* out;
  const float* amount;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    F f{};
    if constexpr (requires { F{0.f}; }) f = F{*amount};
    const functors::Color<W> to = f(functors::Color<W>{
        static_cast<W>(in[3 * i]), static_cast<W>(in[3 * i + 1]), static_cast<W>(in[3 * i + 2])});
    out[3 * i] = static_cast<T>(to.a);
    out[3 * i + 1] = static_cast<T>(to.b);
    out[3 * i + 2] = static_cast<T>(to.c);
  }
};
template <class F>
void convert_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    launch_elements(c, c.in(0).size / 3,
                    ColorBody<F, T, Computed<T>>{c.in<T>(0), c.out<T>(), nullptr});
  });
}
template <class F>
void adjust_cuda(KernelContext& c) noexcept {
  dispatch_types<float, half>(c.in(0).dtype, [&]<class T>() {
    launch_elements(c, c.in(0).size / 3,
                    ColorBody<F, T, float>{c.in<T>(0), c.out<T>(), c.in<float>(1)});
  });
}
RILL_KERNEL("RGBToHSV", gpu, kFloatTypes, convert_cuda<functors::RgbToHsv>);
RILL_KERNEL("HSVToRGB", gpu, kFloatTypes, convert_cuda<functors::HsvToRgb>);
RILL_KERNEL("AdjustHue", gpu, (TypeSet{float16, float32}), adjust_cuda<functors::AdjustHue>);
RILL_KERNEL("AdjustSaturation", gpu, (TypeSet{float16, float32}),
            adjust_cuda<functors::AdjustSaturation>);

}  // namespace
}  // namespace rill::cuda
