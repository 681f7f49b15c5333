// Convolutions: by cuDNN where it can, else by plain loops, one thread an element. Plain loops
// take any dtype, padding, layout and number of groups.
#include "rill/kernels/cuda/conv.h"

#include "rill/kernels/cuda/finish_rows.h"
#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// Where elements lie, by the layout.
struct ConvShape {
  explicit ConvShape(const WindowGeometry& g)
      : batch(g.batch),
        in_channels(g.in_channels),
        out_channels(g.out_channels),
        group_in(g.in_channels / g.groups),
        group_out(g.out_channels / g.groups),
        in_pixels(g.in_pixels()),
        out_pixels(g.out_pixels()),
        first(g.layout.channels_first) {
    for (int i = 0; i < 3; ++i) axes[i] = g.axes[i];
  }
  Window axes[3];
  std::int64_t batch, in_channels, out_channels, group_in, group_out, in_pixels, out_pixels;
  bool first;  // channels before pixels

  RILL_HOST_DEVICE std::int64_t taps() const { return axes[0].size * axes[1].size * axes[2].size; }
  RILL_FORCE_INLINE std::int64_t input(std::int64_t b, std::int64_t pixel, std::int64_t k) const {
    return first ? (b * in_channels + k) * in_pixels + pixel
                 : (b * in_pixels + pixel) * in_channels + k;
  }
  RILL_FORCE_INLINE std::int64_t output(std::int64_t b, std::int64_t pixel, std::int64_t k) const {
    return first ? (b * out_channels + k) * out_pixels + pixel
                 : (b * out_pixels + pixel) * out_channels + k;
  }
  RILL_FORCE_INLINE std::int64_t filter(std::int64_t tap, std::int64_t in, std::int64_t out) const {
    return (tap * group_in + in) * out_channels + out;
  }
  // The pixel of the input under a tap when the window is at `place`; -1 in the padding.
  RILL_FORCE_INLINE std::int64_t pixel_under(std::int64_t place, std::int64_t tap) const {
    std::int64_t at = 0, step = 1;
    for (int d = 3; d-- > 0;) {
      const Window& w = axes[d];
      const std::int64_t i = place % w.out * w.stride - w.before + tap % w.size * w.dilation;
      if (i < 0 || i >= w.in) return -1;
      at += i * step;
      step *= w.in;
      place /= w.out;
      tap /= w.size;
    }
    return at;
  }
  // The place where the tap is on the pixel; -1: nowhere.
  RILL_FORCE_INLINE std::int64_t place_over(std::int64_t pixel, std::int64_t tap) const {
    std::int64_t at = 0, step = 1;
    for (int d = 3; d-- > 0;) {
      const Window& w = axes[d];
      const std::int64_t i = pixel % w.in + w.before - tap % w.size * w.dilation;
      if (i < 0 || i % w.stride != 0 || i / w.stride >= w.out) return -1;
      at += i / w.stride * step;
      step *= w.out;
      pixel /= w.in;
      tap /= w.size;
    }
    return at;
  }
  // Element i of a tensor of images, as batch, pixel and channel.
  struct Element {
    std::int64_t batch, pixel, channel;
  };
  RILL_FORCE_INLINE Element element(std::int64_t i, std::int64_t pixels,
                                    std::int64_t channels) const {
    return first ? Element{i / pixels / channels, i % pixels, i / pixels % channels}
                 : Element{i / channels / pixels, i / channels % pixels, i % channels};
  }
};

template <class T>
struct OutputBody {
  ConvShape s;
  const T *x, *w;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const auto e = s.element(i, s.out_pixels, s.out_channels);
    const std::int64_t from = e.channel / s.group_out * s.group_in;
    A sum = A(0);
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      const std::int64_t pixel = s.pixel_under(e.pixel, tap);
      if (pixel < 0) continue;
      for (std::int64_t k = 0; k < s.group_in; ++k)
        sum += static_cast<A>(x[s.input(e.batch, pixel, from + k)]) *
               static_cast<A>(w[s.filter(tap, k, e.channel)]);
    }
    y[i] = static_cast<T>(sum);
  }
};
template <class T>
struct InputBody {
  ConvShape s;
  const T *w, *y;
  T* x;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const auto e = s.element(i, s.in_pixels, s.in_channels);
    const std::int64_t group = e.channel / s.group_in, k = e.channel % s.group_in;
    A sum = A(0);
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      const std::int64_t place = s.place_over(e.pixel, tap);
      if (place < 0) continue;
      for (std::int64_t o = group * s.group_out; o < (group + 1) * s.group_out; ++o)
        sum +=
            static_cast<A>(y[s.output(e.batch, place, o)]) * static_cast<A>(w[s.filter(tap, k, o)]);
    }
    x[i] = static_cast<T>(sum);
  }
};
// The sums over some of the images; parts are added up afterwards in their order.
template <class T>
struct FilterPartBody {
  ConvShape s;
  const T *x, *y;
  Computed<T>* part;
  std::int64_t size, images;  // of a filter; of a part
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using A = Computed<T>;
    const std::int64_t f = i % size, o = f % s.out_channels, k = f / s.out_channels % s.group_in,
                       tap = f / s.out_channels / s.group_in, first = i / size * images;
    const std::int64_t channel = o / s.group_out * s.group_in + k;
    A sum = A(0);
    for (std::int64_t b = first; b < first + images && b < s.batch; ++b)
      for (std::int64_t place = 0; place < s.out_pixels; ++place) {
        const std::int64_t pixel = s.pixel_under(place, tap);
        if (pixel >= 0)
          sum += static_cast<A>(x[s.input(b, pixel, channel)]) *
                 static_cast<A>(y[s.output(b, place, o)]);
      }
    part[i] = sum;
  }
};
template <class T>
struct AddPartsBody {
  const Computed<T>* part;
  T* to;
  std::int64_t size, parts;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    Computed<T> sum = part[i];
    for (std::int64_t p = 1; p < parts; ++p) sum += part[p * size + i];
    to[i] = static_cast<T>(sum);
  }
};

template <class T>
void plain_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, const ConvBuffers& b) {
  const ConvShape s(g);
  T *x = static_cast<T*>(b.input), *w = static_cast<T*>(b.filter), *y = static_cast<T*>(b.output);
  const std::int64_t n = c.out().size;
  if (pass == ConvPass::output) return launch_loops(c, n, OutputBody<T>{s, x, w, y});
  if (pass == ConvPass::input) return launch_loops(c, n, InputBody<T>{s, w, y, x});
  const std::int64_t parts = std::min<std::int64_t>(s.batch, 64),
                     images = (s.batch + parts - 1) / parts;
  auto* part = c.scratch<Computed<T>>(parts * n);
  if (!part) return;
  launch_loops(c, parts * n, FilterPartBody<T>{s, x, y, part, n, images});
  launch_elements(c, n, AddPartsBody<T>{part, w, n, parts});
}

template <int spatial, bool depthwise, ConvPass pass>
void conv_cuda(KernelContext& c) noexcept {
  const TensorShape& input = pass == ConvPass::input ? c.out_shape() : c.in_shape(0);
  const TensorShape& filter = pass == ConvPass::filter ? c.out_shape() : c.in_shape(1);
  const WindowGeometry g = conv_geometry(c, spatial, depthwise, input, filter);
  if (c.in(0).size == 0 || c.in(1).size == 0 || g.batch == 0 || g.in_channels == 0 ||
      g.out_channels == 0 || g.out_pixels() == 0 || g.in_pixels() == 0) {
    // Sums of nothing; zero is all bits zero in every dtype.
    cudaMemsetAsync(c.out().data, 0,
                    static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                    gpu_of(c).stream());
    return check_launch(c);
  }
  const int written = pass == ConvPass::output ? 2 : pass == ConvPass::input ? 0 : 1;
  void* tensors[3];
  for (int i = 0; i < 3; ++i) tensors[i] = i == written ? c.out().data : c.in(i).data;
  const ConvBuffers b{tensors[0], tensors[1], tensors[2]};
  const DType dtype = c.out().dtype;
  if (pass == ConvPass::filter && (narrow_filter_gradient(c, g, dtype, b) || c.failed())) return;
  if (dtype.is_floating() && (cudnn_conv(c, pass, g, dtype, b) || c.failed())) return;
  dispatch_types<float, double, half, bfloat16_t, std::int32_t>(
      dtype, [&]<class T>() { plain_conv<T>(c, pass, g, b); });
}
constexpr TypeSet kConvTypes = kFloatTypes | TypeSet{int32};
RILL_KERNEL("Conv2D", gpu, kConvTypes, (conv_cuda<2, false, ConvPass::output>));
// Bias and activation are one pass more over the result.
void fused_conv_cuda(KernelContext& c) noexcept {
  conv_cuda<2, false, ConvPass::output>(c);
  const auto ops = c.attr("fused_ops").as_strings();
  if (!c.failed()) finish_rows(c, true, ops.size() > 1 ? ops[1] : std::string());
}
RILL_KERNEL("_FusedConv2D", gpu, kRealFloatTypes, fused_conv_cuda);
RILL_KERNEL("Conv2DBackpropInput", gpu, kConvTypes, (conv_cuda<2, false, ConvPass::input>));
RILL_KERNEL("Conv2DBackpropFilter", gpu, kConvTypes, (conv_cuda<2, false, ConvPass::filter>));
RILL_KERNEL("Conv3D", gpu, kFloatTypes, (conv_cuda<3, false, ConvPass::output>));
RILL_KERNEL("Conv3DBackpropInputV2", gpu, kFloatTypes, (conv_cuda<3, false, ConvPass::input>));
RILL_KERNEL("Conv3DBackpropFilterV2", gpu, kFloatTypes, (conv_cuda<3, false, ConvPass::filter>));
RILL_KERNEL("DepthwiseConv2dNative", gpu, kFloatTypes, (conv_cuda<2, true, ConvPass::output>));
RILL_KERNEL("DepthwiseConv2dNativeBackpropInput", gpu, kFloatTypes,
            (conv_cuda<2, true, ConvPass::input>));
RILL_KERNEL("DepthwiseConv2dNativeBackpropFilter", gpu, kFloatTypes,
            (conv_cuda<2, true, ConvPass::filter>));

}  // namespace
}  // namespace rill::cuda
