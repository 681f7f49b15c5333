// Normalisation of channels. Sums are taken over fixed blocks of rows and then
// over the blocks in double, so that their bits do not depend on the threads.
#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

// A tensor as [outer, channels, inner].
struct Channels {
  std::int64_t outer = 1, channels = 1, inner = 1;
  std::int64_t count() const { return outer * inner; }  // elements of a channel
};
Channels channels_of(const KernelContext& c, const TensorShape& s) {
  const int axis = c.string_attr("data_format").starts_with("NC") ? 1 : s.rank() - 1;
  Channels r;
  for (int i = 0; i < s.rank(); ++i)
    (i < axis ? r.outer : i == axis ? r.channels : r.inner) *= s.dim(i);
  return r;
}

// ---- what is summed over a channel: two numbers of element i of channel j
template <class T>
struct Pair {
  T a, b;
};
template <class T>
struct Plain {  // x
  const T* x;
  RILL_FORCE_INLINE Pair<T> operator()(std::int64_t i, std::int64_t) const { return {x[i], T(0)}; }
};
template <class T>
struct Spread {  // (x - mean)^2
  const T *x, *mean;
  RILL_FORCE_INLINE Pair<T> operator()(std::int64_t i, std::int64_t j) const {
    const T d = x[i] - mean[j];
    return {d * d, T(0)};
  }
};
template <class T>
struct Slopes {  // dy, dy * (x - mean)
  const T *dy, *x, *mean;
  RILL_FORCE_INLINE Pair<T> operator()(std::int64_t i, std::int64_t j) const {
    return {dy[i], dy[i] * (x[i] - mean[j])};
  }
};
// ---- what is written
template <class T>
struct Normal {
  const T *x, *mean, *factor, *offset;
  T* y;
  RILL_FORCE_INLINE void operator()(std::int64_t i, std::int64_t j) const {
    y[i] = (x[i] - mean[j]) * factor[j] + offset[j];
  }
};
template <class T>
struct Backward {
  const T *dy, *x, *mean, *factor, *shift, *tilt;
  T* dx;
  RILL_FORCE_INLINE void operator()(std::int64_t i, std::int64_t j) const {
    dx[i] = factor[j] * (dy[i] - shift[j] - (x[i] - mean[j]) * tilt[j]);
  }
};

constexpr int kLanes = 16;

#define RILL_CHANNEL_LOOPS(Name, target)                                                          \
  /* Adds rows [begin, end) of [rows, n] to a and b. */                                           \
  template <class T, class F>                                                                     \
  target void Name##_sum_rows(const F& f, std::int64_t begin, std::int64_t end, std::int64_t n,   \
                              T* a, T* b) {                                                       \
    for (std::int64_t r = begin; r < end; ++r)                                                    \
      _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) {                                  \
        const Pair<T> p = f(r * n + j, j);                                                        \
        a[j] += p.a;                                                                              \
        b[j] += p.b;                                                                              \
      }                                                                                           \
  }                                                                                               \
  /* The sums over a run of one channel. */                                                       \
  template <class T, class F>                                                                     \
  target Pair<T> Name##_sum_run(const F& f, std::int64_t at, std::int64_t n, std::int64_t j) {    \
    T a[kLanes] = {}, b[kLanes] = {};                                                             \
    std::int64_t i = 0;                                                                           \
    for (; i + kLanes <= n; i += kLanes) _Pragma("omp simd") for (int l = 0; l < kLanes; ++l) {   \
        const Pair<T> p = f(at + i + l, j);                                                       \
        a[l] += p.a;                                                                              \
        b[l] += p.b;                                                                              \
      }                                                                                           \
    for (int l = 0; i + l < n; ++l) {                                                             \
      const Pair<T> p = f(at + i + l, j);                                                         \
      a[l] += p.a;                                                                                \
      b[l] += p.b;                                                                                \
    }                                                                                             \
    Pair<T> sum{T(0), T(0)};                                                                      \
    for (int l = 0; l < kLanes; ++l) sum.a += a[l], sum.b += b[l];                                \
    return sum;                                                                                   \
  }                                                                                               \
  template <class F>                                                                              \
  target void Name##_map_rows(const F& f, std::int64_t begin, std::int64_t end, std::int64_t n) { \
    for (std::int64_t r = begin; r < end; ++r)                                                    \
      _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) f(r* n + j, j);                    \
  }                                                                                               \
  template <class F>                                                                              \
  target void Name##_map_run(const F& f, std::int64_t at, std::int64_t n, std::int64_t j) {       \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) f(at + i, j);                        \
  }
RILL_CHANNEL_LOOPS(plain, )
#if RILL_X86_VARIANTS
RILL_CHANNEL_LOOPS(avx2, RILL_TARGET_AVX2)
RILL_CHANNEL_LOOPS(avx512, RILL_TARGET_AVX512)
#endif

constexpr std::int64_t kGrain = 1 << 14;

// The sums of f over each channel.
template <class T, class F>
bool channel_sums(KernelContext& c, const Channels& s, const F& f, double* a, double* b) {
  const std::int64_t n = s.channels, row = n * s.inner;
  const std::int64_t rows = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, row));
  const std::int64_t blocks = (s.outer + rows - 1) / rows;
  std::fill_n(a, n, 0.0);
  std::fill_n(b, n, 0.0);
  if (blocks == 0 || row == 0) return true;
  T* part = c.scratch<T>(blocks * 2 * n);
  if (!part) return false;
  parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      T *pa = part + k * 2 * n, *pb = pa + n;
      const std::int64_t last = std::min(s.outer, (k + 1) * rows);
      std::fill_n(pa, 2 * n, T(0));
      if (s.inner == 1) {
        RILL_BY_ISA(, sum_rows, f, k * rows, last, n, pa, pb);
      } else {
        for (std::int64_t r = k * rows; r < last; ++r)
          for (std::int64_t j = 0; j < n; ++j) {
            const Pair<T> p = RILL_BY_ISA(, sum_run<T>, f, (r * n + j) * s.inner, s.inner, j);
            pa[j] += p.a;
            pb[j] += p.b;
          }
      }
    }
  });
  for (std::int64_t k = 0; k < blocks; ++k)
    for (std::int64_t j = 0; j < n; ++j) {
      a[j] += static_cast<double>(part[k * 2 * n + j]);
      b[j] += static_cast<double>(part[k * 2 * n + n + j]);
    }
  return true;
}

template <class F>
void map_channels(const Channels& s, const F& f) {
  const std::int64_t n = s.channels, row = n * s.inner;
  if (row == 0) return;
  parallel_for(s.outer, std::max<std::int64_t>(1, kGrain / row),
               [&](std::int64_t begin, std::int64_t end) {
                 if (s.inner == 1) {
                   RILL_BY_ISA(, map_rows, f, begin, end, n);
                 } else {
                   for (std::int64_t k = begin * n; k < end * n; ++k)
                     RILL_BY_ISA(, map_run, f, k * s.inner, s.inner, k % n);
                 }
               });
}

// An input or output of U (float32 or float64) as doubles.
template <class F>
void each_double(const TensorView& v, F f) {
  for (std::int64_t j = 0; j < v.size; ++j)
    f(j, v.dtype == float64 ? static_cast<const double*>(v.data)[j]
                            : static_cast<double>(static_cast<const float*>(v.data)[j]));
}
void store(const TensorView& v, std::int64_t j, double value) {
  if (v.dtype == float64)
    static_cast<double*>(v.data)[j] = value;
  else
    static_cast<float*>(v.data)[j] = static_cast<float>(value);
}

template <class T>
void batch_norm(KernelContext& c) {
  using W = Wide<T>;
  const Channels s = channels_of(c, c.in_shape(0));
  const std::int64_t n = s.channels;
  const double epsilon = c.float_attr("epsilon"), weight = c.float_attr("exponential_avg_factor");
  const bool training = c.bool_attr("is_training");
  const W* x = widened<T>(c, 0);
  W* y = wide_output<T>(c, 0);
  double* d = c.scratch<double>(6 * n);
  W* w = c.scratch<W>(3 * n);
  if (!x || !y || !d || !w) return;
  double *mean = d, *variance = d + n, *scale = d + 2 * n, *offset = d + 3 * n,
         *old_mean = d + 4 * n, *old_variance = d + 5 * n;
  W *wmean = w, *factor = w + n, *woffset = w + 2 * n;
  std::fill_n(old_mean, 2 * n, 0.0);
  each_double(c.in(1), [&](std::int64_t j, double v) { scale[j] = v; });
  each_double(c.in(2), [&](std::int64_t j, double v) { offset[j] = v; });
  each_double(c.in(3), [&](std::int64_t j, double v) { old_mean[j] = v; });
  each_double(c.in(4), [&](std::int64_t j, double v) { old_variance[j] = v; });
  const double count = static_cast<double>(s.count());
  if (training) {
    if (!channel_sums<W>(c, s, Plain<W>{x}, mean, variance)) return;
    for (std::int64_t j = 0; j < n; ++j)
      wmean[j] = static_cast<W>(mean[j] = mean[j] / std::max(1.0, count));
    double* unused = c.scratch<double>(n);
    if (!unused || !channel_sums<W>(c, s, Spread<W>{x, wmean}, variance, unused)) return;
    for (std::int64_t j = 0; j < n; ++j) variance[j] /= std::max(1.0, count);
  } else {
    std::copy_n(old_mean, 2 * n, mean);
  }
  // The variance that is given out estimates that of the whole: N - 1.
  const double unbiased = count / std::max(1.0, count - 1);
  for (std::int64_t j = 0; j < n; ++j) {
    wmean[j] = static_cast<W>(mean[j]);
    factor[j] = static_cast<W>(scale[j] / std::sqrt(variance[j] + epsilon));
    woffset[j] = static_cast<W>(offset[j]);
    if (training) {
      const bool fresh = weight == 1;
      store(c.out(1), j, fresh ? mean[j] : (1 - weight) * old_mean[j] + weight * mean[j]);
      store(c.out(2), j,
            fresh ? variance[j] * unbiased
                  : (1 - weight) * old_variance[j] + weight * variance[j] * unbiased);
    } else {
      store(c.out(1), j, mean[j]);
      store(c.out(2), j, variance[j]);
    }
    store(c.out(3), j, mean[j]);
    store(c.out(4), j, variance[j]);
  }
  if (c.out(5).size > 0) store(c.out(5), 0, 0);
  map_channels(s, Normal<W>{x, wmean, factor, woffset, y});
  narrow_output<T>(c, 0, y);
}
void batch_norm_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() { batch_norm<T>(c); });
}
RILL_KERNEL("FusedBatchNormV3", cpu, kFloatTypes, batch_norm_cpu);

// The same, plus a side, through relu. Graphs have it where a GPU runs them; here it is whole,
// not fast. A group of 8 elements has a byte of signs.
template <class T>
void add_and_relu(const TensorView& out, const T* side, std::uint8_t* signs) {
  using W = Wide<T>;
  T* y = static_cast<T*>(out.data);
  const std::int64_t n = out.size;
  parallel_for((n + 7) / 8, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      unsigned bits = 0;
      for (std::int64_t k = 8 * i; k < std::min(n, 8 * i + 8); ++k) {
        if (side) y[k] = static_cast<T>(static_cast<W>(y[k]) + static_cast<W>(side[k]));
        if (static_cast<W>(y[k]) <= W(0)) y[k] = static_cast<T>(W(0));
        if (static_cast<W>(y[k]) > W(0)) bits |= 1u << (k - 8 * i);
      }
      if (signs) signs[i] = static_cast<std::uint8_t>(bits);
    }
  });
}
void batch_norm_relu_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    batch_norm<T>(c);
    if (!c.failed())
      add_and_relu<T>(c.out(0), c.num_inputs() > 5 ? c.in<T>(5) : nullptr,
                      c.bool_attr("signs") ? c.out<std::uint8_t>(5) : nullptr);
  });
}
RILL_KERNEL("_BatchNormRelu", cpu, kFloatTypes, batch_norm_relu_cpu);

// dx = scale r (dy - mean(dy) - (x - mean) r^2 mean(dy (x - mean))); without
// training the means over dy do not come in.
template <class T>
void batch_norm_grad(KernelContext& c, const Wide<T>* dy) {
  using W = Wide<T>;
  const Channels s = channels_of(c, c.in_shape(1));
  const std::int64_t n = s.channels;
  const double epsilon = c.float_attr("epsilon"),
               count = std::max(1.0, static_cast<double>(s.count()));
  const W* x = widened<T>(c, 1);
  W* dx = wide_output<T>(c, 0);
  double* d = c.scratch<double>(5 * n);
  W* w = c.scratch<W>(4 * n);
  if (!x || !dy || !dx || !d || !w) return;
  double *scale = d, *mean = d + n, *variance = d + 2 * n, *sum = d + 3 * n, *tilted = d + 4 * n;
  W *wmean = w, *factor = w + n, *shift = w + 2 * n, *tilt = w + 3 * n;
  each_double(c.in(2), [&](std::int64_t j, double v) { scale[j] = v; });
  each_double(c.in(3), [&](std::int64_t j, double v) { wmean[j] = static_cast<W>(mean[j] = v); });
  each_double(c.in(4), [&](std::int64_t j, double v) { variance[j] = v; });
  if (!channel_sums<W>(c, s, Slopes<W>{dy, x, wmean}, sum, tilted)) return;
  const bool training = c.bool_attr("is_training");
  for (std::int64_t j = 0; j < n; ++j) {
    const double r = 1 / std::sqrt(variance[j] + epsilon);
    factor[j] = static_cast<W>(scale[j] * r);
    shift[j] = training ? static_cast<W>(sum[j] / count) : W(0);
    tilt[j] = training ? static_cast<W>(tilted[j] / count * r * r) : W(0);
    store(c.out(1), j, tilted[j] * r);
    store(c.out(2), j, sum[j]);
  }
  map_channels(s, Backward<W>{dy, x, wmean, factor, shift, tilt, dx});
  narrow_output<T>(c, 0, dx);
}
void batch_norm_grad_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() { batch_norm_grad<T>(c, widened<T>(c, 0)); });
}
RILL_KERNEL("FusedBatchNormGradV3", cpu, kFloatTypes, batch_norm_grad_cpu);

void batch_norm_relu_grad_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() {
    const T* dy = c.in<T>(0);
    const std::uint8_t* signs = c.in<std::uint8_t>(5);
    Wide<T>* kept = c.scratch<Wide<T>>(std::max<std::int64_t>(1, c.in(0).size));
    if (!kept) return;
    for (std::int64_t i = 0; i < c.in(0).size; ++i)
      kept[i] = signs[i / 8] >> (i % 8) & 1 ? static_cast<Wide<T>>(dy[i]) : Wide<T>(0);
    batch_norm_grad<T>(c, kept);
  });
}
RILL_KERNEL("_BatchNormReluGrad", cpu, kFloatTypes, batch_norm_relu_grad_cpu);

}  // namespace
}  // namespace rill::cpu
