// Normalisation of rows, and local response normalisation over the channels of a pixel.
#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

template <class T>
struct MomentsOf {
  const T* x;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    const auto v = static_cast<double>(static_cast<Computed<T>>(x[i]));
    return {v, v * v};
  }
};
// Sums to a row's mean and 1 / sqrt(variance + epsilon).
struct ToMoments {
  double n, epsilon;
  __device__ __forceinline__ Two operator()(Two s) const {
    const double mean = s.a / n, variance = s.b / n - mean * mean;
    return {mean, 1 / sqrt((variance < 0 ? 0 : variance) + epsilon)};
  }
};
template <class T>
Two* row_moments(KernelContext& c, const T* x, std::int64_t rows, std::int64_t n) {
  Two* m = c.scratch<Two>(std::max<std::int64_t>(1, rows));
  if (m)
    reduce<SumTwo, Two>(c, Lazy<MomentsOf<T>>{{x}}, m, Dims{rows, n}, {0, 1},
                        ToMoments{static_cast<double>(n), c.float_attr("epsilon")});
  return m;
}

template <class T>
struct ForwardBody {
  const T *x, *gamma, *beta;
  const Two* moments;
  T* y;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const std::int64_t j = i % n;
    const Two m = moments[i / n];
    y[i] = static_cast<T>((static_cast<W>(x[i]) - static_cast<W>(m.a)) * static_cast<W>(m.b) *
                              static_cast<W>(gamma[j]) +
                          static_cast<W>(beta[j]));
  }
};
template <class T>
void layer_norm(KernelContext& c) {
  const std::int64_t n = c.in(1).size;
  const Two* m = row_moments(c, c.in<T>(0), c.out().size / n, n);
  if (m)
    launch_elements(c, c.out().size,
                    ForwardBody<T>{c.in<T>(0), c.in<T>(1), c.in<T>(2), m, c.out<T>(), n});
}
void layer_norm_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  dispatch_floats(c.in(0).dtype, [&]<class T>() { layer_norm<T>(c); });
}
RILL_KERNEL("LayerNorm", gpu, kFloatTypes, layer_norm_cuda);

// z = (x - mean) r. Of a row: the sums of dy gamma and dy gamma z; of a column: dy z and dy.
template <class T>
struct Normal {
  const T *dy, *x, *gamma;
  const Two* moments;
  std::int64_t n;
  __device__ __forceinline__ double slope(std::int64_t i) const {
    return static_cast<double>(static_cast<Computed<T>>(dy[i]));
  }
  __device__ __forceinline__ double z(std::int64_t i) const {
    const Two m = moments[i / n];
    return (static_cast<double>(static_cast<Computed<T>>(x[i])) - m.a) * m.b;
  }
};
template <class T>
struct RowSumsOf {
  Normal<T> s;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    const double h = s.slope(i) * static_cast<double>(static_cast<Computed<T>>(s.gamma[i % s.n]));
    return {h, h * s.z(i)};
  }
};
template <class T>
struct ColumnSumsOf {
  Normal<T> s;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    return {s.slope(i) * s.z(i), s.slope(i)};
  }
};
template <class T>
struct BackwardBody {
  Normal<T> s;
  const Two* sums;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const Two sum = sums[i / s.n];
    const double h = s.slope(i) * static_cast<double>(static_cast<Computed<T>>(s.gamma[i % s.n]));
    dx[i] = static_cast<T>(static_cast<Computed<T>>(
        s.moments[i / s.n].b *
        (h - sum.a / static_cast<double>(s.n) - s.z(i) * sum.b / static_cast<double>(s.n))));
  }
};
template <class T>
struct StoreColumnsBody {
  const Two* sums;
  T *dgamma, *dbeta;
  __device__ __forceinline__ void operator()(std::int64_t j) const {
    dgamma[j] = static_cast<T>(static_cast<Computed<T>>(sums[j].a));
    dbeta[j] = static_cast<T>(static_cast<Computed<T>>(sums[j].b));
  }
};
template <class T>
void layer_norm_grad(KernelContext& c) {
  const std::int64_t n = c.in(2).size, rows = n ? c.in(1).size / n : 0;
  const Two* m = row_moments(c, c.in<T>(1), rows, n);
  Two *of_rows = c.scratch<Two>(std::max<std::int64_t>(1, rows)),
      *of_columns = c.scratch<Two>(std::max<std::int64_t>(1, n));
  if (!m || !of_rows || !of_columns) return;
  const Normal<T> s{c.in<T>(0), c.in<T>(1), c.in<T>(2), m, n};
  reduce<SumTwo, Two>(c, Lazy<RowSumsOf<T>>{{s}}, of_rows, Dims{rows, n}, {0, 1}, Same<Two>{});
  reduce<SumTwo, Two>(c, Lazy<ColumnSumsOf<T>>{{s}}, of_columns, Dims{rows, n}, {1, 0},
                      Same<Two>{});
  launch_elements(c, c.in(1).size, BackwardBody<T>{s, of_rows, c.out<T>(0)});
  launch_elements(c, n, StoreColumnsBody<T>{of_columns, c.out<T>(1), c.out<T>(2)});
}
void layer_norm_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() { layer_norm_grad<T>(c); });
}
RILL_KERNEL("LayerNormGrad", gpu, kFloatTypes, layer_norm_grad_cuda);

// ---- local response

template <class T>
struct Response {
  using W = Computed<T>;
  explicit Response(const KernelContext& c)
      : n(c.in_shape(0).dim(-1)),
        radius(std::min<std::int64_t>(c.int_attr("depth_radius"), n)),
        bias(static_cast<W>(c.float_attr("bias"))),
        alpha(static_cast<W>(c.float_attr("alpha"))),
        beta(static_cast<W>(c.float_attr("beta"))) {}
  std::int64_t n, radius;
  W bias, alpha, beta;
  RILL_HOST_DEVICE std::int64_t first(std::int64_t j) const { return j > radius ? j - radius : 0; }
  RILL_HOST_DEVICE std::int64_t end(std::int64_t j) const {
    return j + radius + 1 < n ? j + radius + 1 : n;
  }
  // bias + alpha * sum of squares around channel j.
  __device__ __forceinline__ W norm(const T* x, std::int64_t j) const {
    W sum = W(0);
    for (std::int64_t k = first(j); k < end(j); ++k)
      sum += static_cast<W>(x[k]) * static_cast<W>(x[k]);
    return bias + alpha * sum;
  }
};
template <class T>
struct LrnBody {
  Response<T> f;
  const T* x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const std::int64_t j = i % f.n;
    y[i] = static_cast<T>(static_cast<W>(x[i]) * std::pow(f.norm(x + (i - j), j), -f.beta));
  }
};
void lrn_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_loops(c, c.out().size, LrnBody<T>{Response<T>(c), c.in<T>(0), c.out<T>()});
  });
}
RILL_KERNEL("LRN", gpu, kFloatTypes, lrn_cuda);

// dx_k = dy_k n_k^-beta - 2 alpha beta x_k sum over j near k of dy_j y_j / n_j
template <class T>
struct LrnGradBody {
  Response<T> f;
  const T *dy, *x, *y;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const std::int64_t k = i % f.n, row = i - k;
    W sum = W(0);
    for (std::int64_t j = f.first(k); j < f.end(k); ++j)
      sum += static_cast<W>(dy[row + j]) * static_cast<W>(y[row + j]) / f.norm(x + row, j);
    dx[i] = static_cast<T>(static_cast<W>(dy[i]) * std::pow(f.norm(x + row, k), -f.beta) -
                           W(2) * f.alpha * f.beta * static_cast<W>(x[i]) * sum);
  }
};
void lrn_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_loops(c, c.out().size,
                 LrnGradBody<T>{Response<T>(c), c.in<T>(0), c.in<T>(1), c.in<T>(2), c.out<T>()});
  });
}
RILL_KERNEL("LRNGrad", gpu, kFloatTypes, lrn_grad_cuda);

}  // namespace
}  // namespace rill::cuda
