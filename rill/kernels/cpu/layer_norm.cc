// Normalisation of rows. A row is worked on by one thread; sums over rows are
// taken over fixed blocks.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/past_cache.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

template <class T>
struct RowMoments {
  T mean, r;  // r = 1 / sqrt(variance + epsilon)
};

constexpr int kLanes = 64;

#define RILL_LAYER_NORM_ROWS(Name, target, A)                                                      \
  template <class T>                                                                               \
  target RowMoments<T> Name##_moments(const T* x, std::int64_t n, T epsilon) {                     \
    /* Several sums at a time: one would wait for each addition. */                                \
    T a[kLanes] = {}, b[kLanes] = {}, sum = 0, squares = 0;                                        \
    const std::int64_t whole = n / kLanes * kLanes;                                                \
    for (std::int64_t i = 0; i < whole; i += kLanes)                                               \
      _Pragma("omp simd") for (int l = 0; l < kLanes; ++l) a[l] += x[i + l];                       \
    for (std::int64_t i = whole; i < n; ++i) a[i - whole] += x[i];                                 \
    _Pragma("omp simd reduction(+ : sum)") for (int l = 0; l < kLanes; ++l) sum += a[l];           \
    const T mean = sum / static_cast<T>(n);                                                        \
    for (std::int64_t i = 0; i < whole; i += kLanes)                                               \
      _Pragma("omp simd") for (int l = 0; l < kLanes; ++l) b[l] =                                  \
          A::fma(x[i + l] - mean, x[i + l] - mean, b[l]);                                          \
    for (std::int64_t i = whole; i < n; ++i)                                                       \
      b[i - whole] = A::fma(x[i] - mean, x[i] - mean, b[i - whole]);                               \
    _Pragma("omp simd reduction(+ : squares)") for (int l = 0; l < kLanes; ++l) squares += b[l];   \
    return {mean, T(1) / std::sqrt(squares / static_cast<T>(n) + epsilon)};                        \
  }                                                                                                \
  template <class T>                                                                               \
  target void Name##_forward(const T* x, const T* gamma, const T* beta, T* y, std::int64_t n,      \
                             T mean, T r) {                                                        \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) y[i] =                                \
        (x[i] - mean) * r * gamma[i] + beta[i];                                                    \
  }                                                                                                \
  template <class T>                                                                               \
  target void Name##_backward(const T* dy, const T* x, const T* gamma, T* dx, T* dgamma, T* dbeta, \
                              std::int64_t n, T mean, T r) {                                       \
    T sum = 0, tilted = 0;                                                                         \
    _Pragma("omp simd reduction(+ : sum, tilted)") for (std::int64_t i = 0; i < n; ++i) {          \
      const T z = (x[i] - mean) * r, h = dy[i] * gamma[i];                                         \
      sum += h;                                                                                    \
      tilted += h * z;                                                                             \
      dgamma[i] += dy[i] * z;                                                                      \
      dbeta[i] += dy[i];                                                                           \
    }                                                                                              \
    sum /= static_cast<T>(n);                                                                      \
    tilted /= static_cast<T>(n);                                                                   \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) dx[i] =                               \
        r * (dy[i] * gamma[i] - sum - (x[i] - mean) * r * tilted);                                 \
  }
RILL_LAYER_NORM_ROWS(plain, , functors::math::Unfused)
#if RILL_X86_VARIANTS
RILL_LAYER_NORM_ROWS(avx2, RILL_TARGET_AVX2, functors::math::Fused)
RILL_LAYER_NORM_ROWS(avx512, RILL_TARGET_AVX512, functors::math::Fused)
#endif
#undef RILL_LAYER_NORM_ROWS

template <class T>
void forward_past_cache(const T* x, const T* gamma, const T* beta, T* y, std::int64_t n,
                        RowMoments<T> m) {
  constexpr std::int64_t kPart = 256;
  alignas(64) T part[kPart];
  for (std::int64_t i = 0; i < n; i += kPart) {
    const std::int64_t count = std::min(kPart, n - i);
    RILL_BY_ISA(, forward<T>, x + i, gamma + i, beta + i, part, count, m.mean, m.r);
    copy_past_cache(part, y + i, count);
  }
}

void layer_norm_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(1).size;
  if (c.out().size == 0) return;
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *x = widened<T>(c, 0), *gamma = widened<T>(c, 1), *beta = widened<T>(c, 2);
    W* y = wide_output<T>(c, 0);
    if (!x || !gamma || !beta || !y) return;
    const W epsilon = static_cast<W>(c.float_attr("epsilon"));
    // What is still to be narrowed is read again at once.
    const bool past = std::is_same_v<T, W> && goes_past_cache(y, n, c.out().size);
    parallel_for(c.out().size / n, std::max<std::int64_t>(1, (1 << 14) / n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const W* xi = x + i * n;
                     const RowMoments<W> m = RILL_BY_ISA(, moments<W>, xi, n, epsilon);
                     if (past)
                       forward_past_cache(xi, gamma, beta, y + i * n, n, m);
                     else
                       RILL_BY_ISA(, forward<W>, xi, gamma, beta, y + i * n, n, m.mean, m.r);
                   }
                   if (past) past_cache_fence();
                 });
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("LayerNorm", cpu, kFloatTypes, layer_norm_cpu);

void layer_norm_grad_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(2).size, rows = n ? c.in(1).size / n : 0;
  dispatch_floats(c.in(1).dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *dy = widened<T>(c, 0), *x = widened<T>(c, 1), *gamma = widened<T>(c, 2);
    W *dx = wide_output<T>(c, 0), *dgamma = wide_output<T>(c, 1), *dbeta = wide_output<T>(c, 2);
    if (!dy || !x || !gamma || !dx || !dgamma || !dbeta) return;
    const W epsilon = static_cast<W>(c.float_attr("epsilon"));
    // At most 64 blocks: as many threads find work, and the sums stay small.
    const std::int64_t a_block =
        std::max({std::int64_t{1}, (rows + 63) / 64, (1 << 14) / std::max<std::int64_t>(1, n)});
    const std::int64_t blocks = (rows + a_block - 1) / a_block;
    W* part = c.scratch<W>(blocks * 2 * n);
    if (!part) return;
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        W *pg = part + k * 2 * n, *pb = pg + n;
        std::fill_n(pg, 2 * n, W(0));
        for (std::int64_t i = k * a_block; i < std::min(rows, (k + 1) * a_block); ++i) {
          const RowMoments<W> m = RILL_BY_ISA(, moments<W>, x + i * n, n, epsilon);
          RILL_BY_ISA(, backward<W>, dy + i * n, x + i * n, gamma, dx + i * n, pg, pb, n, m.mean,
                      m.r);
        }
      }
    });
    for (std::int64_t j = 0; j < n; ++j) {
      W g = 0, b = 0;
      for (std::int64_t k = 0; k < blocks; ++k)
        g += part[k * 2 * n + j], b += part[k * 2 * n + n + j];
      dgamma[j] = g;
      dbeta[j] = b;
    }
    narrow_output<T>(c, 0, dx);
    narrow_output<T>(c, 1, dgamma);
    narrow_output<T>(c, 2, dbeta);
  });
}
RILL_KERNEL("LayerNormGrad", cpu, kFloatTypes, layer_norm_grad_cpu);

}  // namespace
}  // namespace rill::cpu
