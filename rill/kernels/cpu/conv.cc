#include "rill/kernels/cpu/conv.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "rill/base/parallel.h"
#include "rill/core/observer.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/finish_rows.h"
#include "rill/kernels/cpu/gemm.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

// A place of the output, or a tap of the filter, as three coordinates.
struct Place {
  std::int64_t d, h, w;
  static Place of(std::int64_t i, std::int64_t h, std::int64_t w) {
    return {i / (h * w), i / w % h, i % w};
  }
};
// The pixel of the input under tap t when the window is at p; -1 in the padding.
std::int64_t pixel_under(const WindowGeometry& g, const Place& p, const Place& t) {
  auto at = [](const Window& w, std::int64_t place, std::int64_t tap) {
    return place * w.stride - w.before + tap * w.dilation;
  };
  const std::int64_t d = at(g.axes[0], p.d, t.d), h = at(g.axes[1], p.h, t.h),
                     w = at(g.axes[2], p.w, t.w);
  if (d < 0 || d >= g.axes[0].in || h < 0 || h >= g.axes[1].in || w < 0 || w >= g.axes[2].in)
    return -1;
  return (d * g.axes[1].in + h) * g.axes[2].in + w;
}
// f(tap, pixel) for each tap; pixel -1 in the padding.
template <class F>
void for_taps(const WindowGeometry& g, std::int64_t place, F f) {
  const Place p = Place::of(place, g.axes[1].out, g.axes[2].out);
  std::int64_t tap = 0;
  for (std::int64_t d = 0; d < g.axes[0].size; ++d)
    for (std::int64_t h = 0; h < g.axes[1].size; ++h)
      for (std::int64_t w = 0; w < g.axes[2].size; ++w) f(tap++, pixel_under(g, p, {d, h, w}));
}

// One image and its windows as a matrix [places, taps * channels], a part of the
// places at a time.
template <class T>
struct Columns {
  explicit Columns(const WindowGeometry& geometry)
      : g(geometry),
        row(g.taps() * g.in_channels),
        part(std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(1, row), 16,
                                      std::max<std::int64_t>(16, g.out_pixels()))),
        data(new (std::nothrow) T[static_cast<std::size_t>(part * row)]) {}
  const T* read(const T* image, std::int64_t begin, std::int64_t end) {
    const std::int64_t n = g.in_channels;
    parallel_for(end - begin, std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(1, row)),
                 [&](std::int64_t from, std::int64_t to) {
                   for (std::int64_t i = from; i < to; ++i)
                     for_taps(g, begin + i, [&](std::int64_t tap, std::int64_t pixel) {
                       T* to_column = data.get() + i * row + tap * n;
                       if (pixel < 0)
                         std::fill_n(to_column, n, T(0));
                       else
                         std::copy_n(image + pixel * n, n, to_column);
                     });
                 });
    return data.get();
  }
  void add_to(T* image, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n = g.in_channels;
    for (std::int64_t i = 0; i < end - begin; ++i)
      for_taps(g, begin + i, [&](std::int64_t tap, std::int64_t pixel) {
        const T* column = data.get() + i * row + tap * n;
        if (pixel >= 0)
          for (std::int64_t j = 0; j < n; ++j) image[pixel * n + j] += column[j];
      });
  }
  const WindowGeometry& g;
  std::int64_t row, part;
  std::unique_ptr<T[]> data;
};

// f(columns, begin, end) over the parts of one image.
template <class T, class F>
bool for_parts(const WindowGeometry& g, F f) {
  Columns<T> columns(g);
  if (!columns.data) return false;
  for (std::int64_t p = 0; p < g.out_pixels(); p += columns.part)
    f(columns, p, std::min(g.out_pixels(), p + columns.part));
  return true;
}

// One group: products of matrices. Channels last.
template <class T>
bool conv_by_gemm(ConvPass pass, const WindowGeometry& g, const ConvBuffers<T>& b) {
  const std::int64_t in = g.in_pixels() * g.in_channels, out = g.out_pixels() * g.out_channels,
                     n = g.out_channels, k = g.taps() * g.in_channels;
  std::atomic<bool> done = true;
  if (pass == ConvPass::filter) {
    // The sum over all images, in their order.
    bool first = true;
    for (std::int64_t i = 0; i < g.batch; ++i)
      done = done && for_parts<T>(g, [&](Columns<T>& c, std::int64_t begin, std::int64_t end) {
               gemm<T>(true, false, k, n, end - begin, c.read(b.input + i * in, begin, end),
                       b.output + i * out + begin * n, b.filter, first ? T(0) : T(1));
               first = false;
             });
    if (first) std::fill_n(b.filter, k * n, T(0));
    return done;
  }
  parallel_for(g.batch, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      T *image = b.input + i * in, *result = b.output + i * out;
      if (pass == ConvPass::input) std::fill_n(image, in, T(0));
      const bool ok = for_parts<T>(g, [&](Columns<T>& c, std::int64_t begin, std::int64_t end) {
        if (pass == ConvPass::output) {
          gemm<T>(false, false, end - begin, n, k, c.read(image, begin, end), b.filter,
                  result + begin * n);
        } else {
          gemm<T>(false, true, end - begin, k, n, result + begin * n, b.filter, c.data.get());
          c.add_to(image, begin, end);
        }
      });
      if (!ok) done = false;
    }
  });
  return done;
}

// Groups: f(input element, filter element, output element) for all products of
// one image, and one tap (or -1: all). Channels last.
template <class T, class F>
void for_products(const WindowGeometry& g, const ConvBuffers<T>& b, std::int64_t image,
                  std::int64_t only_tap, F f) {
  const std::int64_t gi = g.in_channels / g.groups, go = g.out_channels / g.groups;
  T* in = b.input + image * g.in_pixels() * g.in_channels;
  T* out = b.output + image * g.out_pixels() * g.out_channels;
  for (std::int64_t p = 0; p < g.out_pixels(); ++p)
    for_taps(g, p, [&](std::int64_t tap, std::int64_t pixel) {
      if (pixel < 0 || (only_tap >= 0 && tap != only_tap)) return;
      T *x = in + pixel * g.in_channels, *w = b.filter + tap * gi * g.out_channels,
        *y = out + p * g.out_channels;
      if (gi == 1 && go == 1) {
        for (std::int64_t j = 0; j < g.groups; ++j) f(x[j], w[j], y[j]);
        return;
      }
      for (std::int64_t group = 0; group < g.groups; ++group)
        for (std::int64_t i = 0; i < gi; ++i)
          for (std::int64_t o = 0; o < go; ++o)
            f(x[group * gi + i], w[i * g.out_channels + group * go + o], y[group * go + o]);
    });
}
template <class T>
void conv_of_groups(ConvPass pass, const WindowGeometry& g, const ConvBuffers<T>& b) {
  const std::int64_t in = g.in_pixels() * g.in_channels, out = g.out_pixels() * g.out_channels;
  if (pass == ConvPass::filter) {
    const std::int64_t a_tap = g.in_channels / g.groups * g.out_channels;
    parallel_for(g.taps(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tap = begin; tap < end; ++tap) {
        std::fill_n(b.filter + tap * a_tap, a_tap, T(0));
        for (std::int64_t i = 0; i < g.batch; ++i)
          for_products(g, b, i, tap, [](T& x, T& w, T& y) { w += x * y; });
      }
    });
    return;
  }
  parallel_for(g.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (pass == ConvPass::output) {
        std::fill_n(b.output + i * out, out, T(0));
        for_products(g, b, i, -1, [](T& x, T& w, T& y) { y += x * w; });
      } else {
        std::fill_n(b.input + i * in, in, T(0));
        for_products(g, b, i, -1, [](T& x, T& w, T& y) { x += y * w; });
      }
    }
  });
}

// [batch, channels, pixels] -> [batch, pixels, channels], or back.
template <class T>
void swap_channels(const T* from, T* to, std::int64_t batch, std::int64_t rows,
                   std::int64_t columns) {
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        to[(b * columns + c) * rows + r] = from[(b * rows + r) * columns + c];
}

}  // namespace

template <class T>
void plain_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g,
                const ConvBuffers<T>& given) {
  ConvBuffers<T> b = given;
  if (g.layout.channels_first) {
    b.input = c.scratch<T>(g.batch * g.in_pixels() * g.in_channels);
    b.output = c.scratch<T>(g.batch * g.out_pixels() * g.out_channels);
    if (!b.input || !b.output) return;
    if (pass != ConvPass::input)
      swap_channels(given.input, b.input, g.batch, g.in_channels, g.in_pixels());
    if (pass != ConvPass::output)
      swap_channels(given.output, b.output, g.batch, g.out_channels, g.out_pixels());
  }
  if (g.groups > 1)
    conv_of_groups(pass, g, b);
  else if (!conv_by_gemm(pass, g, b))
    return c.fail(Code::resource_exhausted,
                  format("[{}] out of memory for the columns of one image", c.tag()));
  if (g.layout.channels_first) {
    if (pass == ConvPass::input)
      swap_channels(b.input, given.input, g.batch, g.in_pixels(), g.in_channels);
    if (pass == ConvPass::output)
      swap_channels(b.output, given.output, g.batch, g.out_pixels(), g.out_channels);
  }
}
template void plain_conv<float>(KernelContext&, ConvPass, const WindowGeometry&,
                                const ConvBuffers<float>&);

namespace {

// Where the result stands among input, filter and output; the other two are operands.
int written_by(ConvPass pass) {
  return pass == ConvPass::output ? 2 : pass == ConvPass::input ? 0 : 1;
}

// Why a convolution of float32 runs as plain loops.
#if RILL_WITH_ONEDNN
constexpr const char* kRefused = "oneDNN has only reference loops for this geometry";
#else
constexpr const char* kRefused = "this build has no oneDNN";
#endif

template <class T>
void conv(KernelContext& c, ConvPass pass, const WindowGeometry& g) {
  using W = Wide<T>;
  const int written = written_by(pass);
  W* tensors[3];
  for (int i = 0; i < 3; ++i) {
    if (i == written)
      tensors[i] = wide_output<T>(c, 0);
    else
      tensors[i] = const_cast<W*>(widened<T>(c, i));
    if (!tensors[i]) return;
  }
  const ConvBuffers<W> b{tensors[0], tensors[1], tensors[2]};
  bool done = false;
  if constexpr (std::is_same_v<W, float>)
    done = onednn_conv(c, pass, g, float32, {b.input, b.filter, b.output});
  if (!done && !c.failed()) {
    note_refused(std::is_same_v<W, float> ? kRefused
                                          : "oneDNN convolves float32 and bfloat16 alone");
    plain_conv<W>(c, pass, g, b);
  }
  if (!c.failed()) narrow_output<T>(c, 0, tensors[written]);
}

// bfloat16 where oneDNN multiplies it as it is, several times as fast as float32.
bool conv_bfloat16(KernelContext& c, ConvPass pass, const WindowGeometry& g) {
  void* tensors[3];
  float* filter = nullptr;
  for (int i = 0; i < 3; ++i) tensors[i] = i == written_by(pass) ? c.out().data : c.in(i).data;
  if (pass == ConvPass::filter) {
    tensors[1] = filter = c.scratch<float>(c.out().size);
    if (!filter) return false;
  }
  if (!onednn_conv(c, pass, g, bfloat16, {tensors[0], tensors[1], tensors[2]})) return false;
  if (filter) narrow_output<bfloat16_t>(c, 0, filter);
  return true;
}

bool is_empty(const KernelContext& c, const WindowGeometry& g) {
  return c.in(0).size == 0 || c.in(1).size == 0 || g.batch == 0 || g.in_channels == 0 ||
         g.out_channels == 0 || g.out_pixels() == 0 || g.in_pixels() == 0;
}

template <int spatial, bool depthwise, ConvPass pass>
void conv_cpu(KernelContext& c) noexcept {
  const TensorShape& input = pass == ConvPass::input ? c.out_shape() : c.in_shape(0);
  const TensorShape& filter = pass == ConvPass::filter ? c.out_shape() : c.in_shape(1);
  const WindowGeometry g = conv_geometry(c, spatial, depthwise, input, filter);
  if (is_empty(c, g)) {
    // Sums of nothing; zero is all bits zero in every dtype.
    std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
    return;
  }
  if (c.out().dtype == bfloat16 && (conv_bfloat16(c, pass, g) || c.failed())) return;
  dispatch_types<float, double, half, bfloat16_t, std::int32_t>(
      c.out().dtype, [&]<class T>() { conv<T>(c, pass, g); });
}
constexpr TypeSet kConvTypes = kFloatTypes | TypeSet{int32};
RILL_KERNEL("Conv2D", cpu, kConvTypes, (conv_cpu<2, false, ConvPass::output>));
// A bias alone goes into the primitive. With an activation the result is gone over once more
// anyway: oneDNN has activations too, but its relu makes 0 of NaN.
void fused_conv_cpu(KernelContext& c) noexcept {
  if (c.out().dtype == float32 && c.attr("fused_ops").as_strings().size() == 1) {
    const WindowGeometry g = conv_geometry(c, 2, false, c.in_shape(0), c.in_shape(1));
    if (!is_empty(c, g) && (onednn_conv(c, ConvPass::output, g, float32,
                                        {c.in(0).data, c.in(1).data, c.out().data}, c.in(2).data) ||
                            c.failed()))
      return;
  }
  conv_cpu<2, false, ConvPass::output>(c);
  if (!c.failed()) finish_rows(c);
}
RILL_KERNEL("_FusedConv2D", cpu, kRealFloatTypes, fused_conv_cpu);
RILL_KERNEL("Conv2DBackpropInput", cpu, kConvTypes, (conv_cpu<2, false, ConvPass::input>));
RILL_KERNEL("Conv2DBackpropFilter", cpu, kConvTypes, (conv_cpu<2, false, ConvPass::filter>));
RILL_KERNEL("Conv3D", cpu, kFloatTypes, (conv_cpu<3, false, ConvPass::output>));
RILL_KERNEL("Conv3DBackpropInputV2", cpu, kFloatTypes, (conv_cpu<3, false, ConvPass::input>));
RILL_KERNEL("Conv3DBackpropFilterV2", cpu, kFloatTypes, (conv_cpu<3, false, ConvPass::filter>));
RILL_KERNEL("DepthwiseConv2dNative", cpu, kFloatTypes, (conv_cpu<2, true, ConvPass::output>));
RILL_KERNEL("DepthwiseConv2dNativeBackpropInput", cpu, kFloatTypes,
            (conv_cpu<2, true, ConvPass::input>));
RILL_KERNEL("DepthwiseConv2dNativeBackpropFilter", cpu, kFloatTypes,
            (conv_cpu<2, true, ConvPass::filter>));

}  // namespace
}  // namespace rill::cpu
