// Pooling. What several windows write is collected by the pixel, in the order of the windows:
// the same bits from run to run.
#include <limits>

#include "rill/kernels/cuda/launch.h"
#include "rill/ops/nn/windows.h"

namespace rill::cuda {
namespace {

// An image whose channels stand last: with channels first, each is an image of its own.
struct Images {
  explicit Images(const WindowGeometry& g)
      : d(g.axes[0]),
        h(g.axes[1]),
        w(g.axes[2]),
        count(g.layout.channels_first ? g.batch * g.in_channels : g.batch),
        n(g.layout.channels_first ? 1 : g.in_channels) {}
  Window d, h, w;
  std::int64_t count, n;  // images, channels
  RILL_HOST_DEVICE std::int64_t in_pixels() const { return d.in * h.in * w.in; }
  RILL_HOST_DEVICE std::int64_t out_pixels() const { return d.out * h.out * w.out; }
  std::int64_t in_size() const { return count * in_pixels() * n; }
  std::int64_t out_size() const { return count * out_pixels() * n; }
};

// The pixels [begin, end) of an axis under the window at a place.
struct Span {
  std::int64_t begin, end;
  RILL_HOST_DEVICE std::int64_t size() const { return end > begin ? end - begin : 0; }
};
RILL_FORCE_INLINE Span under(const Window& w, std::int64_t place) {
  const std::int64_t start = place * w.stride - w.before;
  return {start > 0 ? start : 0, start + w.size < w.in ? start + w.size : w.in};
}
// The windows [begin, end) of an axis that cover a pixel.
RILL_FORCE_INLINE Span over(const Window& w, std::int64_t pixel) {
  const std::int64_t at = pixel + w.before, first = at - w.size + 1, end = at / w.stride + 1;
  return {first > 0 ? (first + w.stride - 1) / w.stride : 0, end < w.out ? end : w.out};
}

// A window: the image it stands in, its channel and the pixels below it.
struct Place {
  std::int64_t image, channel;
  Span d, h, w;
  RILL_FORCE_INLINE Place(const Images& s, std::int64_t at)
      : image(at / s.n / s.out_pixels()),
        channel(at % s.n),
        d(under(s.d, at / s.n / s.w.out / s.h.out % s.d.out)),
        h(under(s.h, at / s.n / s.w.out % s.h.out)),
        w(under(s.w, at / s.n % s.w.out)) {}
  RILL_HOST_DEVICE std::int64_t taps() const { return d.size() * h.size() * w.size(); }
  // f(element of the input) for the pixels in their order.
  template <class F>
  RILL_FORCE_INLINE void each(const Images& s, F f) const {
    for (std::int64_t i = d.begin; i < d.end; ++i)
      for (std::int64_t j = h.begin; j < h.end; ++j)
        for (std::int64_t k = w.begin; k < w.end; ++k)
          f((((image * s.d.in + i) * s.h.in + j) * s.w.in + k) * s.n + channel);
  }
};

// The element that is largest, the first of equals; -1: the window covers none.
template <class T>
RILL_FORCE_INLINE std::int64_t largest(const Images& s, const Place& p, const T* x) {
  using W = Computed<T>;
  std::int64_t best = -1;
  W value{};
  p.each(s, [&](std::int64_t at) {
    const W v = static_cast<W>(x[at]);
    if (best < 0 || v > value) best = at, value = v;
  });
  return best;
}

template <class T>
struct MaxBody {
  Images s;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    // Below everything; a NaN is never larger.
    W best = std::numeric_limits<W>::has_infinity ? -std::numeric_limits<W>::infinity()
                                                  : std::numeric_limits<W>::lowest();
    Place(s, i).each(s, [&](std::int64_t at) {
      const W v = static_cast<W>(x[at]);
      best = v > best ? v : best;
    });
    y[i] = static_cast<T>(best);
  }
};
template <class T>
struct PickBody {  // the elements of an image where another has its largest
  Images s;
  const T *x, *from;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t at = largest(s, Place(s, i), x);
    y[i] = at < 0 ? static_cast<T>(0) : from[at];
  }
};
template <class T>
struct FindBody {  // where each window has its largest
  Images s;
  const T* x;
  std::int64_t* place;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    place[i] = largest(s, Place(s, i), x);
  }
};
template <class T, class I>
struct ArgmaxBody {
  Images s;
  const T* x;
  T* y;
  I* place;
  bool whole;  // the batch is part of the place
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Place p(s, i);
    const std::int64_t at = largest(s, p, x);
    y[i] = x[at];
    place[i] = static_cast<I>(whole ? at : at - p.image * s.in_pixels() * s.n);
  }
};

// f(window) for the windows over pixel i, in their order.
template <class F>
RILL_FORCE_INLINE void for_windows(const Images& s, std::int64_t i, F f) {
  const std::int64_t channel = i % s.n, image = i / s.n / s.in_pixels();
  const Span d = over(s.d, i / s.n / s.w.in / s.h.in % s.d.in),
             h = over(s.h, i / s.n / s.w.in % s.h.in), w = over(s.w, i / s.n % s.w.in);
  for (std::int64_t a = d.begin; a < d.end; ++a)
    for (std::int64_t b = h.begin; b < h.end; ++b)
      for (std::int64_t e = w.begin; e < w.end; ++e)
        f((((image * s.d.out + a) * s.h.out + b) * s.w.out + e) * s.n + channel);
}
template <class T>
struct MaxGradBody {
  Images s;
  const std::int64_t* place;
  const T* dy;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    W sum = W(0);
    for_windows(s, i, [&](std::int64_t o) {
      if (place[o] == i) sum += static_cast<W>(dy[o]);
    });
    dx[i] = static_cast<T>(sum);
  }
};
template <class T>
struct AvgBody {
  Images s;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const Place p(s, i);
    W sum = W(0);
    p.each(s, [&](std::int64_t at) { sum += static_cast<W>(x[at]); });
    y[i] = static_cast<T>(sum / static_cast<W>(p.taps()));
  }
};
template <class T>
struct AvgGradBody {
  Images s;
  const T* dy;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    W sum = W(0);
    for_windows(s, i, [&](std::int64_t o) {
      sum += static_cast<W>(dy[o]) / static_cast<W>(Place(s, o).taps());
    });
    dx[i] = static_cast<T>(sum);
  }
};

template <int spatial>
void max_pool_cuda(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    launch_loops(c, s.out_size(), MaxBody<T>{s, c.in<T>(0), c.out<T>()});
  });
}
// The first and the third input matter: places are found again.
template <int spatial, bool back>
void max_pool_grad_cuda(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  if (c.in(0).dtype != c.out().dtype)
    return c.fail(Code::unimplemented, format("[{}] orig_input is {}, grad {}; expected one dtype",
                                              c.tag(), c.in(0).dtype, c.out().dtype));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    if constexpr (back) {
      launch_loops(c, s.out_size(), PickBody<T>{s, c.in<T>(0), c.in<T>(2), c.out<T>()});
    } else {
      auto* place = c.scratch<std::int64_t>(std::max<std::int64_t>(1, s.out_size()));
      if (!place) return;
      launch_loops(c, s.out_size(), FindBody<T>{s, c.in<T>(0), place});
      launch_loops(c, s.in_size(), MaxGradBody<T>{s, place, c.in<T>(2), c.out<T>()});
    }
  });
}
RILL_KERNEL("MaxPool", gpu, kRealTypes, max_pool_cuda<2>);
RILL_KERNEL("MaxPoolGrad", gpu, kRealTypes, (max_pool_grad_cuda<2, false>));
RILL_KERNEL("MaxPoolGradGrad", gpu, kRealTypes, (max_pool_grad_cuda<2, true>));
RILL_KERNEL("MaxPool3D", gpu, kFloatTypes, max_pool_cuda<3>);
RILL_KERNEL("MaxPool3DGrad", gpu, kFloatTypes, (max_pool_grad_cuda<3, false>));
RILL_KERNEL("MaxPool3DGradGrad", gpu, kFloatTypes, (max_pool_grad_cuda<3, true>));

template <int spatial>
void avg_pool_cuda(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_loops(c, s.out_size(), AvgBody<T>{s, c.in<T>(0), c.out<T>()});
  });
}
template <int spatial>
void avg_pool_grad_cuda(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.out_shape()));
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_loops(c, s.in_size(), AvgGradBody<T>{s, c.in<T>(1), c.out<T>()});
  });
}
RILL_KERNEL("AvgPool", gpu, kFloatTypes, avg_pool_cuda<2>);
RILL_KERNEL("AvgPoolGrad", gpu, kFloatTypes, avg_pool_grad_cuda<2>);
RILL_KERNEL("AvgPool3D", gpu, kFloatTypes, avg_pool_cuda<3>);
RILL_KERNEL("AvgPool3DGrad", gpu, kFloatTypes, avg_pool_grad_cuda<3>);

void argmax_cuda(KernelContext& c) noexcept {
  // This op has no data_format, but pooling asks for one.
  const Attr attrs[] = {{"ksize", c.ints_attr("ksize")},
                        {"strides", c.ints_attr("strides")},
                        {"padding", c.string_attr("padding")},
                        {"data_format", std::string_view("NHWC")}};
  const Images s(pool_geometry(AttrReader(c.op(), attrs), 2, c.in_shape(0)));
  const bool whole = c.bool_attr("include_batch_in_index");
  dispatch_types<std::int32_t, std::int64_t>(c.out(1).dtype, [&]<class I>() {
    dispatch_reals(c.in(0).dtype, [&]<class T>() {
      launch_loops(c, s.out_size(),
                   ArgmaxBody<T, I>{s, c.in<T>(0), c.out<T>(0), c.out<I>(1), whole});
    });
  });
}
RILL_KERNEL("MaxPoolWithArgmax", gpu, kRealTypes, argmax_cuda);

}  // namespace
}  // namespace rill::cuda
