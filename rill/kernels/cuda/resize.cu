// Images of another size. The host works out which pixels make which, with what weights, as
// for the CPU; every filter and gradient is then one weighted sum.
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/resize_taps.h"

namespace rill::cuda {
namespace {

using namespace functors::resize;
using functors::resize::Index;  // not the index of a slice

constexpr TypeSet kImageTypes = kFloatTypes | TypeSet{int8, uint8, int16, uint16, int32, int64};

struct Images {
  explicit Images(const TensorShape& s) : count(s.dim(0)), h(s.dim(1)), w(s.dim(2)), c(s.dim(3)) {}
  Index count, h, w, c;
};

// Taps in memory of the device.
struct TapsView {
  const Index *begin = nullptr, *index = nullptr;
  const float* weight = nullptr;
};
bool upload(KernelContext& c, const Taps& t, TapsView& view) {
  const auto copy = [&]<class T>(const std::vector<T>& from, const T*& to) {
    T* p = c.scratch<T>(std::max<Index>(1, static_cast<Index>(from.size())));
    if (!p) return false;
    if (!from.empty()) gpu_of(c).copy_from_host(p, from.data(), from.size() * sizeof(T));
    to = p;
    return true;
  };
  try {
    return copy(t.begin, view.begin) && copy(t.index, view.index) && copy(t.weight, view.weight);
  } catch (const errors::Error& e) {
    c.fail(e.code(), std::string(e.message()));
    return false;
  }
}

// y = factor * sum over rows of weight * (sum over columns of weight * x); products in P.
template <class T, class P, class R>
struct SumBody {
  Images in, out;
  TapsView ys, xs;
  const T* x;
  R* y;
  P factor;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Index channel = i % out.c, column = i / out.c % out.w, row = i / out.c / out.w % out.h,
                image = i / out.c / out.w / out.h;
    P sum = P(0);
    for (Index a = ys.begin[row]; a < ys.begin[row + 1]; ++a) {
      const T* line = x + (image * in.h + ys.index[a]) * in.w * in.c + channel;
      P of_row = P(0);
      for (Index b = xs.begin[column]; b < xs.begin[column + 1]; ++b)
        of_row += static_cast<P>(static_cast<Computed<T>>(line[xs.index[b] * in.c])) *
                  static_cast<P>(xs.weight[b]);
      sum += of_row * static_cast<P>(ys.weight[a]);
    }
    y[i] = static_cast<R>(static_cast<Computed<R>>(sum * factor));
  }
};
template <class T, class P, class R>
void weighted_sum(KernelContext& c, const Taps& ys, const Taps& xs, P factor) {
  SumBody<T, P, R> body{
      Images(c.in_shape(0)), Images(c.out_shape()), {}, {}, c.in<T>(0), c.out<R>(), factor};
  if (upload(c, ys, body.ys) && upload(c, xs, body.xs)) launch_loops(c, c.out().size, body);
}
void to_float(KernelContext& c, const Taps& ys, const Taps& xs, float factor = 1) {
  dispatch_types<float, std::uint8_t, double, half, bfloat16_t, std::int8_t, std::int16_t,
                 std::uint16_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class T>() { weighted_sum<T, float, float>(c, ys, xs, factor); });
}

// The two that many images go through, in the CPU's order of operations: the same bits.
template <class T>
struct LerpBody {  // columns, then rows
  Images in, out;
  TapsView ys, xs;
  const T* x;
  float* y;
  __device__ __forceinline__ float at(Index line, Index column, Index channel) const {
    return static_cast<float>(static_cast<Computed<T>>(x[(line * in.w + column) * in.c + channel]));
  }
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Index channel = i % out.c, column = i / out.c % out.w, row = i / out.c / out.w % out.h,
                image = i / out.c / out.w / out.h;
    float ends[2];
    for (int k = 0; k < 2; ++k) {
      const Index line = image * in.h + ys.index[2 * row + k];
      const float a = at(line, xs.index[2 * column], channel),
                  b = at(line, xs.index[2 * column + 1], channel);
      ends[k] = a + (b - a) * xs.weight[2 * column + 1];
    }
    y[i] = ends[0] + (ends[1] - ends[0]) * ys.weight[2 * row + 1];
  }
};
template <class T>
struct CubicBody {  // rows, then columns
  Images in, out;
  TapsView ys, xs;
  const T* x;
  float* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Index channel = i % out.c, column = i / out.c % out.w, row = i / out.c / out.w % out.h,
                image = i / out.c / out.w / out.h;
    float sum = 0;
    for (int b = 0; b < 4; ++b) {
      float mixed = 0;
      for (int a = 0; a < 4; ++a) {
        const Index line = image * in.h + ys.index[4 * row + a];
        const float v = static_cast<float>(
            static_cast<Computed<T>>(x[(line * in.w + xs.index[4 * column + b]) * in.c + channel]));
        mixed = a == 0 ? v * ys.weight[4 * row] : mixed + v * ys.weight[4 * row + a];
      }
      sum = b == 0 ? mixed * xs.weight[4 * column] : sum + mixed * xs.weight[4 * column + b];
    }
    y[i] = sum;
  }
};
template <template <class> class Body, Taps (*taps)(const Scale&, Index, Index)>
void smooth_cuda(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners"), centers = c.bool_attr("half_pixel_centers");
  TapsView ys, xs;
  if (!upload(c, taps(Scale(in.h, out.h, align, centers), in.h, out.h), ys) ||
      !upload(c, taps(Scale(in.w, out.w, align, centers), in.w, out.w), xs))
    return;
  dispatch_types<float, std::uint8_t, double, half, bfloat16_t, std::int8_t, std::int16_t,
                 std::uint16_t, std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class T>() {
    launch_loops(c, c.out().size, Body<T>{in, out, ys, xs, c.in<T>(0), c.out<float>()});
  });
}
RILL_KERNEL("ResizeBilinear", gpu, kImageTypes, (smooth_cuda<LerpBody, linear_taps>));
RILL_KERNEL("ResizeBicubic", gpu, kImageTypes, (smooth_cuda<CubicBody, cubic_taps>));

void area_cuda(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners");
  const Scale sy(in.h, out.h, align, false), sx(in.w, out.w, align, false);
  to_float(c, area_taps(sy, in.h, out.h), area_taps(sx, in.w, out.w),
           static_cast<float>(1.0 / static_cast<double>(sy.factor * sx.factor)));
}
RILL_KERNEL("ResizeArea", gpu, kImageTypes, area_cuda);

// Rows and columns of the larger or of the smaller.
struct FilterTaps {
  FilterTaps(KernelContext& c, const Images& from, const Images& to) {
    const Filter f(c.string_attr("kernel_type"));
    const float *scale = c.in<float>(2), *move = c.in<float>(3);
    const bool antialias = c.bool_attr("antialias");
    if (!(scale[0] > 0 && scale[1] > 0)) {
      c.fail(Code::invalid_argument,
             format("[{}] scale is [{}, {}]; expected more than 0", c.tag(), scale[0], scale[1]));
      return;
    }
    ys = filter_taps(f, scale[0], move[0], antialias, from.h, to.h);
    xs = filter_taps(f, scale[1], move[1], antialias, from.w, to.w);
  }
  Taps ys, xs;
};
void scale_and_translate_cuda(KernelContext& c) noexcept {
  const FilterTaps t(c, Images(c.in_shape(0)), Images(c.out_shape()));
  if (!c.failed()) to_float(c, t.ys, t.xs);
}
RILL_KERNEL("ScaleAndTranslate", gpu, kImageTypes, scale_and_translate_cuda);
void scale_and_translate_grad_cuda(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const FilterTaps t(c, image, grads);
  if (!c.failed())
    weighted_sum<float, float, float>(c, t.ys.inverse(image.h), t.xs.inverse(image.w), 1.f);
}
RILL_KERNEL("ScaleAndTranslateGrad", gpu, TypeSet{float32}, scale_and_translate_grad_cuda);

template <class T>
struct PickBody {
  Images in, out;
  TapsView ys, xs;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Index channel = i % out.c, column = i / out.c % out.w, row = i / out.c / out.w % out.h,
                image = i / out.c / out.w / out.h;
    y[i] = x[((image * in.h + ys.index[row]) * in.w + xs.index[column]) * in.c + channel];
  }
};
void nearest_cuda(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners"), centers = c.bool_attr("half_pixel_centers");
  TapsView ys, xs;
  if (!upload(c, nearest_taps(align, centers, in.h, out.h), ys) ||
      !upload(c, nearest_taps(align, centers, in.w, out.w), xs))
    return;
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, PickBody<T>{in, out, ys, xs, c.in<T>(0), c.out<T>()});
  });
}
RILL_KERNEL("ResizeNearestNeighbor", gpu, kImageTypes, nearest_cuda);

template <Taps (*taps)(const Scale&, Index, Index)>
void smooth_grad_cuda(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const bool align = c.bool_attr("align_corners"), centers = c.bool_attr("half_pixel_centers");
  const Taps ys = taps(Scale(image.h, grads.h, align, centers), image.h, grads.h).inverse(image.h),
             xs = taps(Scale(image.w, grads.w, align, centers), image.w, grads.w).inverse(image.w);
  dispatch_floats(c.out().dtype, [&]<class T>() {
    weighted_sum<float, Computed<T>, T>(c, ys, xs, Computed<T>(1));
  });
}
RILL_KERNEL("ResizeBilinearGrad", gpu, kFloatTypes, smooth_grad_cuda<linear_taps>);
RILL_KERNEL("ResizeBicubicGrad", gpu, kRealFloatTypes, smooth_grad_cuda<cubic_taps>);

void nearest_grad_cuda(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const bool align = c.bool_attr("align_corners"), centers = c.bool_attr("half_pixel_centers");
  const Taps ys = nearest_taps(align, centers, image.h, grads.h).inverse(image.h),
             xs = nearest_taps(align, centers, image.w, grads.w).inverse(image.w);
  dispatch_types<float, double, half, bfloat16_t, std::int32_t, std::uint8_t, std::int8_t>(
      c.out().dtype, [&]<class T>() {
        using P = std::conditional_t<std::is_integral_v<T>, std::int32_t, Computed<T>>;
        weighted_sum<T, P, T>(c, ys, xs, P(1));
      });
}
RILL_KERNEL("ResizeNearestNeighborGrad", gpu, (kFloatTypes | TypeSet{int32, uint8, int8}),
            nearest_grad_cuda);

}  // namespace
}  // namespace rill::cuda
