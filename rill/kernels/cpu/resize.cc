// Images of another size. Rows of the output are divided among threads; each
// is made from rows of the input in a fixed order, and a gradient gathers, so
// that no two threads meet. Values are those of float32 arithmetic.
#include <algorithm>
#include <cstring>
#include <vector>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/kernels/functors/resize_taps.h"

namespace rill::cpu {
namespace {

using namespace functors::resize;
using functors::resize::Index;  // not the index of a slice

constexpr Index kGrain = 1 << 14;
constexpr TypeSet kImageTypes = kFloatTypes | TypeSet{int8, uint8, int16, uint16, int32, int64};

// ---- loops over one row, compiled for each instruction set

// to[x] = between two pixels of a row.
template <Index known>
struct LerpColumns {
  RILL_FORCE_INLINE static void run(const float* from, const Taps& t, Index channels, float* to) {
    const Index c = known ? known : channels, n = t.size();
    const Index* index = t.index.data();
    const float* weight = t.weight.data();
    for (Index x = 0; x < n; ++x) {
      const float *a = from + index[2 * x] * c, *b = from + index[2 * x + 1] * c;
      const float w = weight[2 * x + 1];
      float* y = to + x * c;
      _Pragma("omp simd") for (Index j = 0; j < c; ++j) y[j] = a[j] + (b[j] - a[j]) * w;
    }
  }
};
struct LerpRows {
  RILL_FORCE_INLINE static void run(const float* a, const float* b, float w, float* y, Index n) {
    _Pragma("omp simd") for (Index i = 0; i < n; ++i) y[i] = a[i] + (b[i] - a[i]) * w;
  }
};
struct CubicRows {
  RILL_FORCE_INLINE static void run(const float* const* r, const float* w, float* y, Index n) {
    const float *a = r[0], *b = r[1], *c = r[2], *d = r[3];
    const float wa = w[0], wb = w[1], wc = w[2], wd = w[3];
    _Pragma("omp simd") for (Index i = 0; i < n; ++i) y[i] =
        a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
  }
};
template <Index known>
struct CubicColumns {
  RILL_FORCE_INLINE static void run(const float* from, const Taps& t, Index channels, float* to) {
    const Index c = known ? known : channels, n = t.size();
    for (Index x = 0; x < n; ++x) {
      const Index* i = t.index.data() + 4 * x;
      const float* w = t.weight.data() + 4 * x;
      const float *p = from + i[0] * c, *q = from + i[1] * c, *r = from + i[2] * c,
                  *s = from + i[3] * c;
      float* y = to + x * c;
      _Pragma("omp simd") for (Index j = 0; j < c; ++j) y[j] =
          p[j] * w[0] + q[j] * w[1] + r[j] * w[2] + s[j] * w[3];
    }
  }
};
struct AddRow {
  RILL_FORCE_INLINE static void run(const float* x, float w, float* y, Index n) {
    _Pragma("omp simd") for (Index i = 0; i < n; ++i) y[i] += x[i] * w;
  }
};
// to[x] = the weighted sum of the pixels of x.
template <Index known>
struct SumColumns {
  RILL_FORCE_INLINE static void run(const float* from, const Taps& t, Index channels, float* to) {
    const Index c = known ? known : channels, n = t.size();
    for (Index x = 0; x < n; ++x) {
      float* y = to + x * c;
      for (Index j = 0; j < c; ++j) y[j] = 0;
      for (Index k = t.begin[u(x)]; k < t.begin[u(x) + 1]; ++k) {
        const float* p = from + t.index[u(k)] * c;
        const float w = t.weight[u(k)];
        _Pragma("omp simd") for (Index j = 0; j < c; ++j) y[j] += p[j] * w;
      }
    }
  }
};
// f(j) for each channel; few channels are written out, so that their sums stay
// in registers.
template <Index known, class F>
RILL_FORCE_INLINE void for_channels(Index c, F f) {
  if constexpr (known == 1)
    f(Index{0});
  else if constexpr (known == 3)
    f(Index{0}), f(Index{1}), f(Index{2});
  else
    _Pragma("omp simd") for (Index j = 0; j < c; ++j) f(j);
}
// to[x] += weight * (sum over the pixels under x).
template <Index known>
struct AreaColumns {
  RILL_FORCE_INLINE static void run(const float* from, const Taps& t, Index channels, float weight,
                                    float* many, float* to) {
    const Index c = known ? known : channels, n = t.size();
    for (Index x = 0; x < n; ++x, to += c) {
      float few[known ? known : 1];
      float* sum = known ? few : many;
      for_channels<known>(
          c, [&](Index j) __attribute__((always_inline)) { sum[j] = 0; });
      for (Index k = t.begin[u(x)]; k < t.begin[u(x) + 1]; ++k) {
        const float* p = from + t.index[u(k)] * c;
        const float w = t.weight[u(k)];
        for_channels<known>(
            c, [&](Index j) __attribute__((always_inline)) { sum[j] += p[j] * w; });
      }
      for_channels<known>(
          c, [&](Index j) __attribute__((always_inline)) { to[j] += sum[j] * weight; });
    }
  }
};
// Adds a row of gradients to the row of pixels that made it, by inverse taps:
// products in the type of the weight, sums in that of the image.
template <Index known>
struct AddColumns {
  template <class G, class P, class T>
  RILL_FORCE_INLINE static void run(const G* grads, const Taps& t, Index channels, P weight,
                                    T* to) {
    const Index c = known ? known : channels, n = t.size();
    for (Index x = 0; x < n; ++x, to += c) {
      T few[known ? known : 1];
      T* sum = known ? few : to;
      if (known)
        for_channels<known>(
            c, [&](Index j) __attribute__((always_inline)) { few[j] = to[j]; });
      for (Index k = t.begin[u(x)]; k < t.begin[u(x) + 1]; ++k) {
        const G* g = grads + t.index[u(k)] * c;
        const P w = static_cast<P>(t.weight[u(k)]);
        for_channels<known>(
            c, [&](Index j) __attribute__((always_inline)) {
              sum[j] = static_cast<T>(sum[j] + static_cast<T>(static_cast<P>(g[j]) * weight * w));
            });
      }
      if (known)
        for_channels<known>(
            c, [&](Index j) __attribute__((always_inline)) { to[j] = few[j]; });
    }
  }
};

template <class F, class... A>
void plain(A... a) {
  F::run(a...);
}
#if RILL_X86_VARIANTS
template <class F, class... A>
RILL_TARGET_AVX2 void with_avx2(A... a) {
  F::run(a...);
}
template <class F, class... A>
RILL_TARGET_AVX512 void with_avx512(A... a) {
  F::run(a...);
}
#endif
template <class F, class... A>
void loop(A... a) {
#if RILL_X86_VARIANTS
  if (isa() == Isa::avx512) return with_avx512<F, A...>(a...);
  if (isa() == Isa::avx2) return with_avx2<F, A...>(a...);
#endif
  plain<F, A...>(a...);
}
// The same with the number of channels known where it is a usual one.
template <template <Index> class F, class From, class... A>
void columns(const From* from, const Taps& t, Index channels, A... a) {
  if (channels == 1)
    return loop<F<1>, const From*, const Taps&, Index, A...>(from, t, channels, a...);
  if (channels == 3)
    return loop<F<3>, const From*, const Taps&, Index, A...>(from, t, channels, a...);
  loop<F<0>, const From*, const Taps&, Index, A...>(from, t, channels, a...);
}

// ---- images

struct Images {
  explicit Images(const TensorShape& s) : count(s.dim(0)), h(s.dim(1)), w(s.dim(2)), c(s.dim(3)) {}
  Index count, h, w, c;
  Index row() const { return w * c; }
};

// Rows of the input as float32: in place, or converted and kept while the four
// latest serve.
class Rows {
 public:
  Rows(const TensorView& v, Index length) : view_(v), length_(length) {
    if (v.dtype != float32) kept_.resize(u(4 * length));
  }
  const float* get(Index row) {
    if (view_.dtype == float32) return static_cast<const float*>(view_.data) + row * length_;
    float* to = kept_.data() + (row & 3) * length_;
    if (tag_[row & 3] == row) return to;
    tag_[row & 3] = row;
    dispatch_types<std::uint8_t, double, half, bfloat16_t, std::int8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::int64_t>(view_.dtype, [&]<class T>() {
      unary_loop<functors::Convert<float>, T, float>(
          static_cast<const T*>(view_.data) + row * length_, to, length_);
    });
    return to;
  }

 private:
  const TensorView& view_;
  Index length_;
  Index tag_[4] = {-1, -1, -1, -1};
  std::vector<float> kept_;
};

// body(begin, end) over the rows of all images of an output.
template <class F>
void for_rows(const Images& out, Index work, F body) {
  const Index cost = std::max<Index>(1, work);
  parallel_for(out.count * out.h, std::max<Index>(1, kGrain / cost), body);
}

void bilinear_cpu(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners"), half = c.bool_attr("half_pixel_centers");
  const Taps ys = linear_taps(Scale(in.h, out.h, align, half), in.h, out.h),
             xs = linear_taps(Scale(in.w, out.w, align, half), in.w, out.w);
  float* to = c.out<float>();
  for_rows(out, 4 * out.row(), [&](Index begin, Index end) {
    Rows rows(c.in(0), in.row());
    std::vector<float> wide(u(2 * out.row()));  // two rows already as wide as the output
    Index tag[2] = {-1, -1};
    auto widened_row = [&](Index row) {
      float* y = wide.data() + (row & 1) * out.row();
      if (tag[row & 1] != row) columns<LerpColumns>(rows.get(row), xs, in.c, y);
      tag[row & 1] = row;
      return y;
    };
    for (Index r = begin; r < end; ++r) {
      const Index base = r / out.h * in.h, y = r % out.h;
      const Index a = base + ys.index[u(2 * y)], b = base + ys.index[u(2 * y + 1)];
      const float *top = widened_row(a), *bottom = widened_row(b);
      loop<LerpRows>(top, bottom, ys.weight[u(2 * y + 1)], to + r * out.row(), out.row());
    }
  });
}
RILL_KERNEL("ResizeBilinear", cpu, kImageTypes, bilinear_cpu);

void bicubic_cpu(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners"), half = c.bool_attr("half_pixel_centers");
  const Taps ys = cubic_taps(Scale(in.h, out.h, align, half), in.h, out.h),
             xs = cubic_taps(Scale(in.w, out.w, align, half), in.w, out.w);
  float* to = c.out<float>();
  for_rows(out, 4 * (in.row() + out.row()), [&](Index begin, Index end) {
    Rows rows(c.in(0), in.row());
    std::vector<float> mixed(u(in.row()));
    for (Index r = begin; r < end; ++r) {
      const Index base = r / out.h * in.h, y = r % out.h;
      const float* from[4];
      for (Index k = 0; k < 4; ++k) from[k] = rows.get(base + ys.index[u(4 * y + k)]);
      loop<CubicRows, const float* const*>(from, ys.weight.data() + 4 * y, mixed.data(), in.row());
      columns<CubicColumns>(static_cast<const float*>(mixed.data()), xs, in.c, to + r * out.row());
    }
  });
}
RILL_KERNEL("ResizeBicubic", cpu, kImageTypes, bicubic_cpu);

void area_cpu(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners");
  const Scale sy(in.h, out.h, align, false), sx(in.w, out.w, align, false);
  const Taps ys = area_taps(sy, in.h, out.h), xs = area_taps(sx, in.w, out.w);
  const float scale = static_cast<float>(1.0 / static_cast<double>(sy.factor * sx.factor));
  float* to = c.out<float>();
  for_rows(out, in.row() * (in.h / out.h + 2) + out.row(), [&](Index begin, Index end) {
    Rows rows(c.in(0), in.row());
    std::vector<float> sum(u(in.c));
    for (Index r = begin; r < end; ++r) {
      const Index base = r / out.h * in.h, y = r % out.h;
      float* row = to + r * out.row();
      std::fill_n(row, out.row(), 0.f);
      for (Index k = ys.begin[u(y)]; k < ys.begin[u(y) + 1]; ++k)
        columns<AreaColumns>(rows.get(base + ys.index[u(k)]), xs, in.c, ys.weight[u(k)], sum.data(),
                             row);
      for (Index i = 0; i < out.row(); ++i) row[i] *= scale;
    }
  });
}
RILL_KERNEL("ResizeArea", cpu, kImageTypes, area_cpu);

// Rows, then columns, of the larger or of the smaller.
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
void scale_and_translate_cpu(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const FilterTaps t(c, in, out);
  if (c.failed()) return;
  float* to = c.out<float>();
  const Index taps = static_cast<Index>(t.ys.index.size()) / out.h + 1;
  for_rows(out, taps * (in.row() + out.row()), [&](Index begin, Index end) {
    Rows rows(c.in(0), in.row());
    std::vector<float> mixed(u(in.row()));
    for (Index r = begin; r < end; ++r) {
      const Index base = r / out.h * in.h, y = r % out.h;
      std::fill(mixed.begin(), mixed.end(), 0.f);
      for (Index k = t.ys.begin[u(y)]; k < t.ys.begin[u(y) + 1]; ++k)
        loop<AddRow>(rows.get(base + t.ys.index[u(k)]), t.ys.weight[u(k)], mixed.data(), in.row());
      columns<SumColumns>(static_cast<const float*>(mixed.data()), t.xs, in.c, to + r * out.row());
    }
  });
}
RILL_KERNEL("ScaleAndTranslate", cpu, kImageTypes, scale_and_translate_cpu);

void scale_and_translate_grad_cpu(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const FilterTaps t(c, image, grads);
  if (c.failed()) return;
  const Taps ys = t.ys.inverse(image.h), xs = t.xs.inverse(image.w);
  const float* from = c.in<float>(0);
  const Index taps = static_cast<Index>(ys.index.size()) / image.h + 1;
  for_rows(image, taps * (grads.row() + image.row()), [&](Index begin, Index end) {
    std::vector<float> mixed(u(grads.row()));
    for (Index r = begin; r < end; ++r) {
      const Index base = r / image.h * grads.h, y = r % image.h;
      std::fill(mixed.begin(), mixed.end(), 0.f);
      for (Index k = ys.begin[u(y)]; k < ys.begin[u(y) + 1]; ++k)
        loop<AddRow>(from + (base + ys.index[u(k)]) * grads.row(), ys.weight[u(k)], mixed.data(),
                     grads.row());
      columns<SumColumns>(static_cast<const float*>(mixed.data()), xs, image.c,
                          c.out<float>() + r * image.row());
    }
  });
}
RILL_KERNEL("ScaleAndTranslateGrad", cpu, TypeSet{float32}, scale_and_translate_grad_cpu);

// Copies pixels of `bytes` bytes.
template <class Pixel>
void pick(const char* from, const Taps& t, char* to) {
  const auto* p = reinterpret_cast<const Pixel*>(from);
  auto* y = reinterpret_cast<Pixel*>(to);
  for (Index x = 0; x < t.size(); ++x) y[x] = p[t.index[u(x)]];
}
template <std::size_t bytes>
struct Block {
  char b[bytes];
};
void pick_columns(const char* from, const Taps& t, std::size_t bytes, char* to) {
  switch (bytes) {
    case 1:
      return pick<Block<1>>(from, t, to);
    case 2:
      return pick<Block<2>>(from, t, to);
    case 3:
      return pick<Block<3>>(from, t, to);
    case 4:
      return pick<Block<4>>(from, t, to);
    case 8:
      return pick<Block<8>>(from, t, to);
    case 12:
      return pick<Block<12>>(from, t, to);
    case 16:
      return pick<Block<16>>(from, t, to);
  }
  for (Index x = 0; x < t.size(); ++x)
    std::memcpy(to + u(x) * bytes, from + u(t.index[u(x)]) * bytes, bytes);
}
void nearest_cpu(KernelContext& c) noexcept {
  const Images in(c.in_shape(0)), out(c.out_shape());
  const bool align = c.bool_attr("align_corners"), half = c.bool_attr("half_pixel_centers");
  const Taps ys = nearest_taps(align, half, in.h, out.h),
             xs = nearest_taps(align, half, in.w, out.w);
  const std::size_t item = c.out().dtype.itemsize(), row = u(out.row()) * item;
  for_rows(out, out.row(), [&](Index begin, Index end) {
    Index last = -1;
    for (Index r = begin; r < end; ++r) {
      const Index from = r / out.h * in.h + ys.index[u(r % out.h)];
      char* to = static_cast<char*>(c.out().data) + u(r) * row;
      if (from == last)
        std::memcpy(to, to - row, row);
      else
        pick_columns(static_cast<const char*>(c.in(0).data) + u(from * in.row()) * item, xs,
                     u(in.c) * item, to);
      last = from;
    }
  });
}
RILL_KERNEL("ResizeNearestNeighbor", cpu, kImageTypes, nearest_cpu);

// The gradient of a resize with these taps. Each row of the image sums over the
// rows of gradients that it helped to make; products are of type P.
template <class P, class G, class T>
void gather_gradients(const Images& grads, const Images& image, const Taps& ys, const Taps& xs,
                      const G* from, T* to) {
  const Taps by_row = ys.inverse(image.h), by_column = xs.inverse(image.w);
  const Index work = static_cast<Index>(xs.index.size()) * image.c *
                     (static_cast<Index>(ys.index.size()) / image.h + 1);
  for_rows(image, work, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Index base = r / image.h * grads.h, y = r % image.h;
      T* row = to + r * image.row();
      std::fill_n(row, image.row(), T(0));
      for (Index k = by_row.begin[u(y)]; k < by_row.begin[u(y) + 1]; ++k)
        columns<AddColumns>(from + (base + by_row.index[u(k)]) * grads.row(), by_column, image.c,
                            static_cast<P>(by_row.weight[u(k)]), row);
    }
  });
}
template <Taps (*taps)(const Scale&, Index, Index), bool exact>
void smooth_grad_cpu(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const bool align = c.bool_attr("align_corners"), half = c.bool_attr("half_pixel_centers");
  const Taps ys = taps(Scale(image.h, grads.h, align, half), image.h, grads.h),
             xs = taps(Scale(image.w, grads.w, align, half), image.w, grads.w);
  dispatch_floats(c.out().dtype, [&]<class T>() {
    Wide<T>* y = wide_output<T>(c, 0);
    if (!y) return;
    gather_gradients<std::conditional_t<exact, Wide<T>, float>>(grads, image, ys, xs,
                                                                c.in<float>(0), y);
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("ResizeBilinearGrad", cpu, kFloatTypes, (smooth_grad_cpu<linear_taps, false>));
RILL_KERNEL("ResizeBicubicGrad", cpu, kRealFloatTypes, (smooth_grad_cpu<cubic_taps, true>));

void nearest_grad_cpu(KernelContext& c) noexcept {
  const Images grads(c.in_shape(0)), image(c.out_shape());
  const bool align = c.bool_attr("align_corners"), centers = c.bool_attr("half_pixel_centers");
  const Taps ys = nearest_taps(align, centers, image.h, grads.h),
             xs = nearest_taps(align, centers, image.w, grads.w);
  dispatch_types<float, double, half, bfloat16_t, std::int32_t, std::uint8_t, std::int8_t>(
      c.out().dtype, [&]<class T>() {
        using W = Wide<T>;
        const W* g = widened<T>(c, 0);
        W* y = wide_output<T>(c, 0);
        if (!g || !y) return;
        gather_gradients<W>(grads, image, ys, xs, g, y);
        narrow_output<T>(c, 0, y);
      });
}
RILL_KERNEL("ResizeNearestNeighborGrad", cpu, (kFloatTypes | TypeSet{int32, uint8, int8}),
            nearest_grad_cpu);

}  // namespace
}  // namespace rill::cpu
