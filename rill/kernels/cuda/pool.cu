// Pooling. What several windows write is collected by the pixel, in the order of the windows:
// the same bits from run to run.
#include <limits>

#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/cuda/pack.h"
#include "rill/ops/nn/windows.h"

namespace rill::cuda {
namespace {

// Places are of type I: 32 bits where they suffice, since divisions of 64 are slow. A body
// handles N channels of a pixel.
template <class I>
struct Axis {
  explicit Axis(const Window& w)
      : in(static_cast<I>(w.in)),
        size(static_cast<I>(w.size)),
        stride(static_cast<I>(w.stride)),
        before(static_cast<I>(w.before)),
        out(static_cast<I>(w.out)) {}
  I in, size, stride, before, out;
};
// An image whose channels are last: with channels first, each is its own image.
template <class I>
struct Images {
  explicit Images(const WindowGeometry& g)
      : d(g.axes[0]),
        h(g.axes[1]),
        w(g.axes[2]),
        count(static_cast<I>(g.layout.channels_first ? g.batch * g.in_channels : g.batch)),
        n(static_cast<I>(g.layout.channels_first ? 1 : g.in_channels)) {}
  Axis<I> d, h, w;
  I count, n;  // images, channels
  RILL_HOST_DEVICE I in_pixels() const { return d.in * h.in * w.in; }
  RILL_HOST_DEVICE I out_pixels() const { return d.out * h.out * w.out; }
  std::int64_t in_size() const { return std::int64_t{count} * in_pixels() * n; }
  std::int64_t out_size() const { return std::int64_t{count} * out_pixels() * n; }
};

// Calls run.operator()<N>(Images) with the type of places and the channels of a body.
template <class T, class F>
void for_images(const WindowGeometry& g, std::initializer_list<const void*> sides, F run) {
  const Images<std::int64_t> s(g);
  constexpr std::int64_t kMost = INT32_MAX / 2;  // sums of places fit too
  if (s.in_size() > kMost || s.out_size() > kMost)
    run.template operator()<1>(s);
  else if (s.n % kPack<T> == 0 && aligned(sides))
    run.template operator()<kPack<T>>(Images<std::int32_t>(g));
  else
    run.template operator()<1>(Images<std::int32_t>(g));
}

// The pixels [begin, end) of an axis under the window at a place.
template <class I>
struct Span {
  I begin, end;
  RILL_HOST_DEVICE I size() const { return end > begin ? end - begin : 0; }
};
template <class I>
RILL_FORCE_INLINE Span<I> under(const Axis<I>& w, I place) {
  const I start = place * w.stride - w.before;
  return {start > 0 ? start : 0, start + w.size < w.in ? start + w.size : w.in};
}
// The windows [begin, end) of an axis that cover a pixel.
template <class I>
RILL_FORCE_INLINE Span<I> over(const Axis<I>& w, I pixel) {
  const I at = pixel + w.before, first = at - w.size + 1, end = at / w.stride + 1;
  return {first > 0 ? (first + w.stride - 1) / w.stride : 0, end < w.out ? end : w.out};
}

// A window: the image it is in, its channel and the pixels below it.
template <class I>
struct Place {
  I image, channel;
  Span<I> d, h, w;
  RILL_FORCE_INLINE Place(const Images<I>& s, I at) {
    I rest = at / s.n;
    channel = at - rest * s.n;
    const auto next = [&rest](const Axis<I>& axis) {
      const I all = rest / axis.out, place = rest - all * axis.out;
      rest = all;
      return under(axis, place);
    };
    w = next(s.w);
    h = next(s.h);
    d = next(s.d);
    image = rest;
  }
  RILL_HOST_DEVICE I taps() const { return d.size() * h.size() * w.size(); }
  // f(element of the input) for the pixels in their order.
  template <class F>
  RILL_FORCE_INLINE void each(const Images<I>& s, F f) const {
    for (I i = d.begin; i < d.end; ++i)
      for (I j = h.begin; j < h.end; ++j) {
        const I row = ((image * s.d.in + i) * s.h.in + j) * s.w.in;
        for (I k = w.begin; k < w.end; ++k) f((row + k) * s.n + channel);
      }
  }
};

// The elements that are largest, the first of equals; -1: the window covers none.
template <int N, class I, class T>
RILL_FORCE_INLINE Pack<I, N> largest(const Images<I>& s, const Place<I>& p, const T* x) {
  using W = Computed<T>;
  Pack<I, N> best;
  W value[N];
#pragma unroll
  for (int k = 0; k < N; ++k) best.v[k] = -1, value[k] = W(0);
  p.each(s, [&](I at) {
    const Pack<T, N> in = *reinterpret_cast<const Pack<T, N>*>(x + at);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const W v = static_cast<W>(in.v[k]);
      if (best.v[k] < 0 || v > value[k]) best.v[k] = at + k, value[k] = v;
    }
  });
  return best;
}

template <int N, class I, class T>
struct MaxBody {
  Images<I> s;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const I at = static_cast<I>(i) * N;
    W best[N];
    // Below everything; a NaN is never larger.
#pragma unroll
    for (int k = 0; k < N; ++k)
      best[k] = std::numeric_limits<W>::has_infinity ? -std::numeric_limits<W>::infinity()
                                                     : std::numeric_limits<W>::lowest();
    Place<I>(s, at).each(s, [&](I from) {
      const auto in = load_pack<N>(x + from);
#pragma unroll
      for (int k = 0; k < N; ++k) {
        const W v = static_cast<W>(in.v[k]);
        best[k] = v > best[k] ? v : best[k];
      }
    });
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; ++k) out.v[k] = static_cast<T>(best[k]);
    store_pack(y + at, out);
  }
};
template <int N, class I, class T>
struct PickBody {  // the elements of an image where another has its largest
  Images<I> s;
  const T *x, *from;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const I at = static_cast<I>(i) * N;
    const auto best = largest<N>(s, Place<I>(s, at), x);
#pragma unroll
    for (int k = 0; k < N; ++k) y[at + k] = best.v[k] < 0 ? static_cast<T>(0) : from[best.v[k]];
  }
};
template <int N, class I, class T>
struct FindBody {  // where each window has its largest
  Images<I> s;
  const T* x;
  I* place;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const I at = static_cast<I>(i) * N;
    store_pack(place + at, largest<N>(s, Place<I>(s, at), x));
  }
};
template <class T, class I>
struct ArgmaxBody {
  Images<std::int64_t> s;
  const T* x;
  T* y;
  I* place;
  bool whole;  // the batch is part of the place
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Place<std::int64_t> p(s, i);
    const std::int64_t at = largest<1>(s, p, x).v[0];
    y[i] = x[at];
    place[i] = static_cast<I>(whole ? at : at - p.image * s.in_pixels() * s.n);
  }
};

// f(window) for the windows over pixel i, in their order.
template <class I, class F>
RILL_FORCE_INLINE void for_windows(const Images<I>& s, I i, F f) {
  I rest = i / s.n;
  const I channel = i - rest * s.n;
  const auto next = [&rest](const Axis<I>& axis) {
    const I all = rest / axis.in, pixel = rest - all * axis.in;
    rest = all;
    return over(axis, pixel);
  };
  const Span<I> w = next(s.w), h = next(s.h), d = next(s.d);
  for (I a = d.begin; a < d.end; ++a)
    for (I b = h.begin; b < h.end; ++b)
      for (I e = w.begin; e < w.end; ++e)
        f((((rest * s.d.out + a) * s.h.out + b) * s.w.out + e) * s.n + channel);
}
// Writes N sums, rounded once.
template <int N, class T, class W>
__device__ __forceinline__ void store_sums(T* to, const W (&sum)[N]) {
  Pack<T, N> out;
#pragma unroll
  for (int k = 0; k < N; ++k) out.v[k] = static_cast<T>(sum[k]);
  store_pack(to, out);
}
template <int N, class I, class T>
struct MaxGradBody {
  Images<I> s;
  const I* place;
  const T* dy;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const I at = static_cast<I>(i) * N;
    W sum[N] = {};
    for_windows(s, at, [&](I o) {
      const auto from = load_pack<N>(place + o);
      const auto grad = load_pack<N>(dy + o);
#pragma unroll
      for (int k = 0; k < N; ++k)
        if (from.v[k] == at + k) sum[k] += static_cast<W>(grad.v[k]);
    });
    store_sums(dx + at, sum);
  }
};
template <int N, class I, class T>
struct AvgBody {
  Images<I> s;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const I at = static_cast<I>(i) * N;
    const Place<I> p(s, at);
    W sum[N] = {};
    p.each(s, [&](I from) {
      const auto in = load_pack<N>(x + from);
#pragma unroll
      for (int k = 0; k < N; ++k) sum[k] += static_cast<W>(in.v[k]);
    });
#pragma unroll
    for (int k = 0; k < N; ++k) sum[k] = sum[k] / static_cast<W>(p.taps());
    store_sums(y + at, sum);
  }
};
template <int N, class I, class T>
struct AvgGradBody {
  Images<I> s;
  const T* dy;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const I at = static_cast<I>(i) * N;
    W sum[N] = {};
    for_windows(s, at, [&](I o) {
      const auto taps = static_cast<W>(Place<I>(s, o).taps());
      const auto grad = load_pack<N>(dy + o);
#pragma unroll
      for (int k = 0; k < N; ++k) sum[k] += static_cast<W>(grad.v[k]) / taps;
    });
    store_sums(dx + at, sum);
  }
};

template <int spatial>
void max_pool_cuda(KernelContext& c) noexcept {
  const WindowGeometry g = pool_geometry(c, spatial, c.in_shape(0));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    for_images<T>(g, {x, y}, [&]<int N, class I>(const Images<I>& s) {
      launch_loops(c, s.out_size() / N, MaxBody<N, I, T>{s, x, y});
    });
  });
}
// The first and the third input matter: places are found again.
template <int spatial, bool back>
void max_pool_grad_cuda(KernelContext& c) noexcept {
  const WindowGeometry g = pool_geometry(c, spatial, c.in_shape(0));
  if (c.in(0).dtype != c.out().dtype)
    return c.fail(Code::unimplemented, format("[{}] orig_input is {}, grad {}; expected one dtype",
                                              c.tag(), c.in(0).dtype, c.out().dtype));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    const T *x = c.in<T>(0), *grad = c.in<T>(2);
    T* y = c.out<T>();
    for_images<T>(g, {x, grad, y}, [&]<int N, class I>(const Images<I>& s) {
      if constexpr (back) {
        launch_loops(c, s.out_size() / N, PickBody<N, I, T>{s, x, grad, y});
      } else {
        auto* place = c.scratch<I>(std::max<std::int64_t>(1, s.out_size()));
        if (!place) return;
        launch_loops(c, s.out_size() / N, FindBody<N, I, T>{s, x, place});
        launch_loops(c, s.in_size() / N, MaxGradBody<N, I, T>{s, place, grad, y});
      }
    });
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
  const WindowGeometry g = pool_geometry(c, spatial, c.in_shape(0));
  dispatch_floats(c.out().dtype, [&]<class T>() {
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    for_images<T>(g, {x, y}, [&]<int N, class I>(const Images<I>& s) {
      launch_loops(c, s.out_size() / N, AvgBody<N, I, T>{s, x, y});
    });
  });
}
template <int spatial>
void avg_pool_grad_cuda(KernelContext& c) noexcept {
  const WindowGeometry g = pool_geometry(c, spatial, c.out_shape());
  dispatch_floats(c.out().dtype, [&]<class T>() {
    const T* dy = c.in<T>(1);
    T* dx = c.out<T>();
    for_images<T>(g, {dy, dx}, [&]<int N, class I>(const Images<I>& s) {
      launch_loops(c, s.in_size() / N, AvgGradBody<N, I, T>{s, dy, dx});
    });
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
  const Images<std::int64_t> s(pool_geometry(AttrReader(c.op(), attrs), 2, c.in_shape(0)));
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
