// Windows of images as vectors.
#include <algorithm>
#include <cstring>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// Along one axis: window i begins at i * stride - before.
struct WindowAxis {
  std::int64_t in, out, size, stride, rate, before;
};
WindowAxis window_axis(const KernelContext& c, int axis) {
  const auto k = static_cast<std::size_t>(axis);
  WindowAxis a{c.in_shape(0).dim(axis),   c.out_shape().dim(axis), c.ints_attr("ksizes")[k],
               c.ints_attr("strides")[k], c.ints_attr("rates")[k], 0};
  if (c.string_attr("padding") == "SAME") {
    const std::int64_t reach = (a.size - 1) * a.rate + 1;
    a.before = std::max<std::int64_t>((a.out - 1) * a.stride + reach - a.in, 0) / 2;
  }
  return a;
}
void extract_patches_cpu(KernelContext& c) noexcept {
  const WindowAxis y = window_axis(c, 1), x = window_axis(c, 2);
  const std::int64_t channels = c.in_shape(0).dim(3), patch = y.size * x.size * channels,
                     patches = patch ? c.out().size / patch : 0;
  if (patches == 0) return;
  dispatch_width(c.in(0).dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    parallel_for(patches, std::max<std::int64_t>((1 << 13) / patch, 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t column = i % x.out, row = i / x.out % y.out,
                                        image = i / x.out / y.out;
                     T* to = out + i * patch;
                     for (std::int64_t r = 0; r < y.size; ++r) {
                       const std::int64_t py = row * y.stride - y.before + r * y.rate;
                       for (std::int64_t s = 0; s < x.size; ++s, to += channels) {
                         const std::int64_t px = column * x.stride - x.before + s * x.rate;
                         if (py < 0 || py >= y.in || px < 0 || px >= x.in)
                           std::fill_n(to, channels, T{});
                         else
                           std::copy_n(in + ((image * y.in + py) * x.in + px) * channels, channels,
                                       to);
                       }
                     }
                   }
                 });
  });
}
RILL_KERNEL("ExtractImagePatches", cpu, kPlainTypes, extract_patches_cpu);

}  // namespace
}  // namespace rill::cpu
