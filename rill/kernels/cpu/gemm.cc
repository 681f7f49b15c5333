#include "rill/kernels/cpu/gemm.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "rill/base/parallel.h"
#include "rill/base/waiting.h"
#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/cpu/onednn.h"

namespace rill::cpu {
namespace {

// The product of any type, by blocks that fit the caches; the inner loop runs
// along rows of b and c and vectorises. Rows of c are split among threads; the
// order of the sums depends on k alone.
constexpr std::int64_t kRows = 4, kInner = 256, kCols = 512;

#define RILL_GEMM_BLOCK(Name, target)                                                           \
  template <class T>                                                                            \
  target void Name(const T* a, std::int64_t a_row, std::int64_t a_col, const T* b,              \
                   std::int64_t ldb, T* c, std::int64_t ldc, std::int64_t rows, std::int64_t n, \
                   std::int64_t k) {                                                            \
    if (rows == kRows) {                                                                        \
      T *c0 = c, *c1 = c + ldc, *c2 = c + 2 * ldc, *c3 = c + 3 * ldc;                           \
      for (std::int64_t p = 0; p < k; ++p) {                                                    \
        const T *bp = b + p * ldb, *ap = a + p * a_col;                                         \
        const T a0 = ap[0], a1 = ap[a_row], a2 = ap[2 * a_row], a3 = ap[3 * a_row];             \
        _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) {                              \
          const T bj = bp[j];                                                                   \
          c0[j] += a0 * bj;                                                                     \
          c1[j] += a1 * bj;                                                                     \
          c2[j] += a2 * bj;                                                                     \
          c3[j] += a3 * bj;                                                                     \
        }                                                                                       \
      }                                                                                         \
      return;                                                                                   \
    }                                                                                           \
    for (std::int64_t i = 0; i < rows; ++i)                                                     \
      for (std::int64_t p = 0; p < k; ++p) {                                                    \
        const T x = a[i * a_row + p * a_col];                                                   \
        const T* bp = b + p * ldb;                                                              \
        T* ci = c + i * ldc;                                                                    \
        _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) ci[j] += x * bp[j];            \
      }                                                                                         \
  }
RILL_GEMM_BLOCK(block_plain, )
#if RILL_X86_VARIANTS
RILL_GEMM_BLOCK(block_avx2, RILL_TARGET_AVX2)
RILL_GEMM_BLOCK(block_avx512, RILL_TARGET_AVX512)
#endif

template <class T>
auto block_for_this_machine() {
#if RILL_X86_VARIANTS
  if constexpr (std::is_floating_point_v<T>) {
    if (isa() == Isa::avx512) return block_avx512<T>;
  }
  if (isa() != Isa::plain) return block_avx2<T>;
#endif
  return block_plain<T>;
}

template <class T>
void plain_gemm(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                const T* b, T* c, T beta, RowSteps steps) {
  std::vector<T> bt;  // rows of b must be contiguous
  if (tb) {
    bt.resize(static_cast<std::size_t>(k * n));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t p = 0; p < k; ++p)
        bt[static_cast<std::size_t>(p * n + j)] = b[j * steps.b + p];
    b = bt.data();
    steps.b = n;
  }
  const std::int64_t a_row = ta ? 1 : steps.a, a_col = ta ? steps.a : 1;
  const auto block = block_for_this_machine<T>();
  const std::int64_t grain =
      std::max<std::int64_t>(kRows, (1 << 16) / std::max<std::int64_t>(1, n * k) / kRows * kRows);
  parallel_for(m, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = i * steps.c; j < i * steps.c + n; ++j)
        c[j] = beta == T(0) ? T(0) : c[j] * beta;
    for (std::int64_t p = 0; p < k; p += kInner)
      for (std::int64_t j = 0; j < n; j += kCols)
        for (std::int64_t i = begin; i < end; i += kRows)
          block(a + i * a_row + p * a_col, a_row, a_col, b + p * steps.b + j, steps.b,
                c + i * steps.c + j, steps.c, std::min(kRows, end - i), std::min(kCols, n - j),
                std::min(kInner, k - p));
  });
}

}  // namespace

template <class T>
void gemm(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b,
          T* c, T beta, RowSteps steps) {
  if (m == 0 || n == 0) return;
  plain_gemm(ta, tb, m, n, k, a, b, c, beta, steps);
}

#if RILL_WITH_ONEDNN
template <>
void gemm<float>(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                 const float* b, float* c, float beta, RowSteps steps) {
  if (m == 0 || n == 0) return;
  if (k == 0) return plain_gemm(ta, tb, m, n, k, a, b, c, beta, steps);
  const int width = compute_width();
  // Below about a million operations a second thread costs more than it gives.
  const bool narrow = width > 1 && m * n * k < (1 << 19);
  if (narrow) set_compute_width(1);
  onednn::limits();
  if (width > 1 && !narrow) adapt_waiting(width);
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.f, a, steps.a, b, steps.b, beta, c,
             steps.c);
  if (narrow) set_compute_width(width);
}
#else
template void gemm<float>(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*,
                          const float*, float*, float, RowSteps);
#endif
#define RILL_INSTANTIATE(T)                                                                       \
  template void gemm<T>(bool, bool, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, \
                        T*, T, RowSteps);
RILL_INSTANTIATE(double)
RILL_INSTANTIATE(std::int32_t)
RILL_INSTANTIATE(std::int64_t)
RILL_INSTANTIATE(std::complex<float>)
RILL_INSTANTIATE(std::complex<double>)

}  // namespace rill::cpu
