// Pooling, vectorised over the channels of a pixel. Rows of the output are
// divided among threads; what is written by several windows is divided so that
// no two threads meet, and each pixel is summed in the order of its windows.
#include <algorithm>
#include <limits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/ops/nn/windows.h"

namespace rill::cpu {
namespace {

// An image whose channels are last: with channels first, each is an image of
// its own.
struct Images {
  explicit Images(const WindowGeometry& g)
      : d(g.axes[0]),
        h(g.axes[1]),
        w(g.axes[2]),
        count(g.layout.channels_first ? g.batch * g.in_channels : g.batch),
        n(g.layout.channels_first ? 1 : g.in_channels) {}
  Window d, h, w;
  std::int64_t count, n;  // images, channels
  std::int64_t in_size() const { return d.in * h.in * w.in * n; }
  std::int64_t out_size() const { return d.out * h.out * w.out * n; }
};

// The pixels [begin, end) of an axis under the window at a place.
struct Span {
  std::int64_t begin, end;
  RILL_FORCE_INLINE std::int64_t size() const { return std::max<std::int64_t>(0, end - begin); }
};
RILL_FORCE_INLINE Span under(const Window& w, std::int64_t place) {
  const std::int64_t start = place * w.stride - w.before;
  return {std::max<std::int64_t>(0, start), std::min(w.in, start + w.size)};
}

// f(offset of a pixel's first channel) for the pixels under a window.
template <class F>
RILL_FORCE_INLINE void for_pixels(const Images& s, const Span& d, const Span& h, const Span& w,
                                  F f) {
  for (std::int64_t i = d.begin; i < d.end; ++i)
    for (std::int64_t j = h.begin; j < h.end; ++j)
      for (std::int64_t k = w.begin; k < w.end; ++k) f(((i * s.h.in + j) * s.w.in + k) * s.n);
}

constexpr std::int64_t kChunk = 64;  // channels at a time, where their places are kept

// Numbers of pixels under a window, as wide as T so that both fit the same vectors.
template <class T>
using Tap = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

// The number of the largest pixel for each of m channels from c on: the first of equals.
template <class T>
RILL_FORCE_INLINE void find_largest(const Images& s, const T* image, const Span& d, const Span& h,
                                    const Span& w, std::int64_t c, std::int64_t m, T* best,
                                    Tap<T>* tap) {
  Tap<T> t = 0;
  for_pixels(
      s, d, h, w, [&](std::int64_t at) __attribute__((always_inline)) {
        const T* x = image + at + c;
        if (t == 0) {
          _Pragma("omp simd") for (std::int64_t j = 0; j < m; ++j) best[j] = x[j], tap[j] = 0;
        } else {
          _Pragma("omp simd") for (std::int64_t j = 0; j < m; ++j) {
            const bool larger = x[j] > best[j];
            best[j] = larger ? x[j] : best[j];
            tap[j] = larger ? t : tap[j];
          }
        }
        ++t;
      });
}

// What is done with one row of the output, [w.out, n]; i and o are images.
struct Max {
  template <class T>
  RILL_FORCE_INLINE static void row(const Images& s, const T* i, const T*, T* to, std::int64_t pd,
                                    std::int64_t ph) {
    const Span d = under(s.d, pd), h = under(s.h, ph);
    T* y = to + (pd * s.h.out + ph) * s.w.out * s.n;
    for (std::int64_t pw = 0; pw < s.w.out; ++pw, y += s.n) {
      // Below everything; a NaN is never larger.
      const T low = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::lowest();
      _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) y[j] = low;
      for_pixels(
          s, d, h, under(s.w, pw), [&](std::int64_t at) __attribute__((always_inline)) {
            const T* x = i + at;
            _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) y[j] =
                x[j] > y[j] ? x[j] : y[j];
          });
    }
  }
};
struct MaxGrad {  // adds to an image
  template <class T>
  RILL_FORCE_INLINE static void row(const Images& s, const T* i, const T* dy, T* dx,
                                    std::int64_t pd, std::int64_t ph) {
    const Span d = under(s.d, pd), h = under(s.h, ph);
    const T* g = dy + (pd * s.h.out + ph) * s.w.out * s.n;
    T best[kChunk];
    Tap<T> tap[kChunk];
    for (std::int64_t pw = 0; pw < s.w.out; ++pw, g += s.n) {
      const Span w = under(s.w, pw);
      for (std::int64_t c = 0; c < s.n; c += kChunk) {
        const std::int64_t m = std::min(kChunk, s.n - c);
        find_largest(s, i, d, h, w, c, m, best, tap);
        Tap<T> t = 0;
        for_pixels(
            s, d, h, w, [&](std::int64_t at) __attribute__((always_inline)) {
              T* x = dx + at + c;
              const T* from = g + c;
              _Pragma("omp simd") for (std::int64_t j = 0; j < m; ++j) x[j] +=
                  tap[j] == t ? from[j] : T(0);
              ++t;
            });
      }
    }
  }
};
struct MaxPick {  // the elements of an image where another has its largest
  template <class T>
  RILL_FORCE_INLINE static void row(const Images& s, const T* i, const T* from, T* to,
                                    std::int64_t pd, std::int64_t ph) {
    const Span d = under(s.d, pd), h = under(s.h, ph);
    T* y = to + (pd * s.h.out + ph) * s.w.out * s.n;
    T best[kChunk];
    Tap<T> tap[kChunk];
    for (std::int64_t pw = 0; pw < s.w.out; ++pw, y += s.n) {
      const Span w = under(s.w, pw);
      for (std::int64_t c = 0; c < s.n; c += kChunk) {
        const std::int64_t m = std::min(kChunk, s.n - c);
        find_largest(s, i, d, h, w, c, m, best, tap);
        std::fill_n(y + c, m, T(0));  // stays where the window lies in the padding
        Tap<T> t = 0;
        for_pixels(
            s, d, h, w, [&](std::int64_t at) __attribute__((always_inline)) {
              for (std::int64_t j = 0; j < m; ++j)
                if (tap[j] == t) y[c + j] = from[at + c + j];
              ++t;
            });
      }
    }
  }
};
struct Avg {
  template <class T>
  RILL_FORCE_INLINE static void row(const Images& s, const T* i, const T*, T* to, std::int64_t pd,
                                    std::int64_t ph) {
    const Span d = under(s.d, pd), h = under(s.h, ph);
    T* y = to + (pd * s.h.out + ph) * s.w.out * s.n;
    for (std::int64_t pw = 0; pw < s.w.out; ++pw, y += s.n) {
      const Span w = under(s.w, pw);
      _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) y[j] = T(0);
      for_pixels(
          s, d, h, w, [&](std::int64_t at) __attribute__((always_inline)) {
            const T* x = i + at;
            _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) y[j] += x[j];
          });
      const T count = static_cast<T>(d.size() * h.size() * w.size());
      _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) y[j] /= count;
    }
  }
};
struct AvgGrad {  // adds to an image
  template <class T>
  RILL_FORCE_INLINE static void row(const Images& s, const T*, const T* dy, T* dx, std::int64_t pd,
                                    std::int64_t ph) {
    const Span d = under(s.d, pd), h = under(s.h, ph);
    const T* g = dy + (pd * s.h.out + ph) * s.w.out * s.n;
    for (std::int64_t pw = 0; pw < s.w.out; ++pw, g += s.n) {
      const Span w = under(s.w, pw);
      const T count = static_cast<T>(d.size() * h.size() * w.size());
      for_pixels(
          s, d, h, w, [&](std::int64_t at) __attribute__((always_inline)) {
            T* x = dx + at;
            _Pragma("omp simd") for (std::int64_t j = 0; j < s.n; ++j) x[j] += g[j] / count;
          });
    }
  }
};

#define RILL_POOL_ROW(Name, target)                                                               \
  template <class F, class T>                                                                     \
  target void Name##_row(const Images& s, const T* image, const T* other, T* to, std::int64_t pd, \
                         std::int64_t ph) {                                                       \
    F::row(s, image, other, to, pd, ph);                                                          \
  }
RILL_POOL_ROW(plain, )
#if RILL_X86_VARIANTS
RILL_POOL_ROW(avx2, RILL_TARGET_AVX2)
RILL_POOL_ROW(avx512, RILL_TARGET_AVX512)
#endif
template <class F, class T>
auto row_for_this_machine() {
#if RILL_X86_VARIANTS
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (isa() == Isa::avx512) return avx512_row<F, T>;
    if (isa() == Isa::avx2) return avx2_row<F, T>;
  }
#endif
  return plain_row<F, T>;
}

constexpr std::int64_t kGrain = 1 << 14;

// Runs F on all rows of all images. `other` and `to` have the size of an image of
// the input or of the output each; `adds`: rows write where others do.
template <class F, bool adds, class T>
void run(const Images& s, const T* image, const T* other, std::int64_t other_size, T* to,
         std::int64_t to_size) {
  if (s.count * s.n == 0) return;
  const auto row = row_for_this_machine<F, T>();
  const bool apart =
      !adds || (s.h.stride >= s.h.size && s.d.stride >= s.d.size);  // windows do not overlap
  const std::int64_t rows = s.d.out * s.h.out, pieces = apart ? rows : 1;
  if (adds) std::fill_n(to, s.count * to_size, T(0));
  const std::int64_t work = std::max<std::int64_t>(
      1, s.out_size() * s.d.size * s.h.size * s.w.size / std::max<std::int64_t>(1, pieces));
  parallel_for(s.count * pieces, std::max<std::int64_t>(1, kGrain / work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p) {
                   const std::int64_t i = p / std::max<std::int64_t>(1, pieces),
                                      first = apart ? p % pieces : 0;
                   for (std::int64_t r = first; r < (apart ? first + 1 : rows); ++r)
                     row(s, image ? image + i * s.in_size() : nullptr,
                         other ? other + i * other_size : nullptr, to + i * to_size, r / s.h.out,
                         r % s.h.out);
                 }
               });
}

template <int spatial>
void max_pool_cpu(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* x = widened<T>(c, 0);
    W* y = wide_output<T>(c, 0);
    if (!x || !y) return;
    run<Max, false, W>(s, x, nullptr, 0, y, s.out_size());
    narrow_output<T>(c, 0, y);
  });
}
// The first and the third input matter: places are found again.
template <int spatial, bool back>
void max_pool_grad_cpu(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  if (c.in(0).dtype != c.out().dtype)
    return c.fail(Code::unimplemented, format("[{}] orig_input is {}, grad {}; expected one dtype",
                                              c.tag(), c.in(0).dtype, c.out().dtype));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *x = widened<T>(c, 0), *g = widened<T>(c, 2);
    W* y = wide_output<T>(c, 0);
    if (!x || !g || !y) return;
    if constexpr (back)
      run<MaxPick, false, W>(s, x, g, s.in_size(), y, s.out_size());
    else
      run<MaxGrad, true, W>(s, x, g, s.out_size(), y, s.in_size());
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("MaxPool", cpu, kRealTypes, max_pool_cpu<2>);
RILL_KERNEL("MaxPoolGrad", cpu, kRealTypes, (max_pool_grad_cpu<2, false>));
RILL_KERNEL("MaxPoolGradGrad", cpu, kRealTypes, (max_pool_grad_cpu<2, true>));
RILL_KERNEL("MaxPool3D", cpu, kFloatTypes, max_pool_cpu<3>);
RILL_KERNEL("MaxPool3DGrad", cpu, kFloatTypes, (max_pool_grad_cpu<3, false>));
RILL_KERNEL("MaxPool3DGradGrad", cpu, kFloatTypes, (max_pool_grad_cpu<3, true>));

template <int spatial>
void avg_pool_cpu(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.in_shape(0)));
  dispatch_floats(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* x = widened<T>(c, 0);
    W* y = wide_output<T>(c, 0);
    if (!x || !y) return;
    run<Avg, false, W>(s, x, nullptr, 0, y, s.out_size());
    narrow_output<T>(c, 0, y);
  });
}
template <int spatial>
void avg_pool_grad_cpu(KernelContext& c) noexcept {
  const Images s(pool_geometry(c, spatial, c.out_shape()));
  dispatch_floats(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* g = widened<T>(c, 1);
    W* y = wide_output<T>(c, 0);
    if (!g || !y) return;
    run<AvgGrad, true, W>(s, nullptr, g, s.out_size(), y, s.in_size());
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("AvgPool", cpu, kFloatTypes, avg_pool_cpu<2>);
RILL_KERNEL("AvgPoolGrad", cpu, kFloatTypes, avg_pool_grad_cpu<2>);
RILL_KERNEL("AvgPool3D", cpu, kFloatTypes, avg_pool_cpu<3>);
RILL_KERNEL("AvgPool3DGrad", cpu, kFloatTypes, avg_pool_grad_cpu<3>);

void argmax_cpu(KernelContext& c) noexcept {
  // As max_pool, which has a data_format.
  const Attr attrs[] = {{"ksize", c.ints_attr("ksize")},
                        {"strides", c.ints_attr("strides")},
                        {"padding", c.string_attr("padding")}};
  const Images s(pool_geometry(AttrReader(find_op("MaxPool"), attrs), 2, c.in_shape(0)));
  const bool whole = c.bool_attr("include_batch_in_index"), narrow = c.out(1).dtype == int32;
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* x = widened<T>(c, 0);
    W* y = wide_output<T>(c, 0);
    if (!x || !y) return;
    parallel_for(s.count * s.h.out, 1, [&](std::int64_t begin, std::int64_t end) {
      W best[kChunk];
      Tap<W> tap[kChunk];
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t base = r / s.h.out * s.in_size();
        const Span d = under(s.d, 0), h = under(s.h, r % s.h.out);
        for (std::int64_t pw = 0; pw < s.w.out; ++pw)
          for (std::int64_t from = 0; from < s.n; from += kChunk) {
            const std::int64_t m = std::min(kChunk, s.n - from),
                               to = (r * s.w.out + pw) * s.n + from;
            find_largest(s, x + base, d, h, under(s.w, pw), from, m, best, tap);
            std::copy_n(best, m, y + to);
            Tap<W> t = 0;
            for_pixels(s, d, h, under(s.w, pw), [&](std::int64_t at) {
              for (std::int64_t j = 0; j < m; ++j) {
                if (tap[j] != t) continue;
                const std::int64_t p = (whole ? base : 0) + at + from + j;
                if (narrow)
                  c.out<std::int32_t>(1)[to + j] = static_cast<std::int32_t>(p);
                else
                  c.out<std::int64_t>(1)[to + j] = p;
              }
              ++t;
            });
          }
      }
    });
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("MaxPoolWithArgmax", cpu, kRealTypes, argmax_cpu);

}  // namespace
}  // namespace rill::cpu
