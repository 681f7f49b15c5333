// Windows of images as vectors.
#include <algorithm>

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// Along one axis: window i begins at i * stride - before.
struct WindowAxis {
  std::int64_t in, out, size, stride, rate, before;
  WindowAxis(const KernelContext& c, int axis)
      : in(c.in_shape(0).dim(axis)),
        out(c.out_shape().dim(axis)),
        size(c.ints_attr("ksizes")[static_cast<std::size_t>(axis)]),
        stride(c.ints_attr("strides")[static_cast<std::size_t>(axis)]),
        rate(c.ints_attr("rates")[static_cast<std::size_t>(axis)]),
        before(0) {
    if (c.string_attr("padding") == "SAME")
      before = std::max<std::int64_t>((out - 1) * stride + (size - 1) * rate + 1 - in, 0) / 2;
  }
};

template <class T>
struct PatchBody {
  const T* in;
  T* out;
  WindowAxis y, x;
  std::int64_t channels;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t channel = i % channels, tap = i / channels, window = tap / (x.size * y.size),
                       place = tap % (x.size * y.size);
    const std::int64_t column = window % x.out, row = window / x.out % y.out,
                       image = window / x.out / y.out;
    const std::int64_t py = row * y.stride - y.before + place / x.size * y.rate,
                       px = column * x.stride - x.before + place % x.size * x.rate;
    out[i] = py < 0 || py >= y.in || px < 0 || px >= x.in
                 ? T{}
                 : in[((image * y.in + py) * x.in + px) * channels + channel];
  }
};
void extract_patches_cuda(KernelContext& c) noexcept {
  const WindowAxis y(c, 1), x(c, 2);
  by_width(c.in(0).dtype, [&]<class T>() {
    launch_elements(c, c.out().size,
                    PatchBody<T>{c.in<T>(0), c.out<T>(), y, x, c.in_shape(0).dim(3)});
  });
}
RILL_KERNEL("ExtractImagePatches", gpu, kPlainTypes, extract_patches_cuda);

}  // namespace
}  // namespace rill::cuda
