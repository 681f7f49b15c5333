#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/functors/vector_math.h"

// Pieces of softmax over one row, vectorised for the machine they run on. A row
// is worked on by one thread; the order of its sums depends on its length alone.
namespace rill::cpu {

// What both softmax and cross entropy begin with. max is that of the row (any
// NaN shows later in the sum), sum that of exp(x - max).
template <class T>
struct RowPeak {
  T max, sum;
};

namespace detail {

// The sum of `peak` is lifted (functors::math::kExpLift).
#define RILL_SOFTMAX_ROWS(Name, target, A)                                                  \
  /* y = lifted exp(x - max) where y is given. */                                           \
  template <class T>                                                                        \
  target RowPeak<T> Name##_peak(const T* x, T* y, std::int64_t n) {                         \
    T max = -static_cast<T>(__builtin_inff());                                              \
    _Pragma("omp simd reduction(max : max)") for (std::int64_t i = 0; i < n; ++i) max =     \
        x[i] > max ? x[i] : max;                                                            \
    T sum = 0;                                                                              \
    if (y) {                                                                                \
      _Pragma("omp simd reduction(+ : sum)") for (std::int64_t i = 0; i < n; ++i) {         \
        const T e = functors::math::lifted_exp<A>(x[i] - max);                              \
        y[i] = e;                                                                           \
        sum += e;                                                                           \
      }                                                                                     \
    } else {                                                                                \
      _Pragma("omp simd reduction(+ : sum)") for (std::int64_t i = 0; i < n; ++i) sum +=    \
          functors::math::lifted_exp<A>(x[i] - max);                                        \
    }                                                                                       \
    return {max, sum};                                                                      \
  }                                                                                         \
  template <class T>                                                                        \
  target void Name##_scale(T* y, T factor, std::int64_t n) {                                \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] * factor;          \
  }                                                                                         \
  template <class T>                                                                        \
  target void Name##_shift(const T* x, T* y, T max, T log_sum, std::int64_t n) {            \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - log_sum; \
  }
RILL_SOFTMAX_ROWS(plain, , functors::math::Unfused)
#if RILL_X86_VARIANTS
RILL_SOFTMAX_ROWS(avx2, RILL_TARGET_AVX2, functors::math::Fused)
RILL_SOFTMAX_ROWS(avx512, RILL_TARGET_AVX512, functors::math::Fused)
#endif
#undef RILL_SOFTMAX_ROWS

}  // namespace detail

template <class T>
RowPeak<T> row_peak(const T* x, std::int64_t n) {
  const RowPeak<T> p = RILL_BY_ISA(detail::, peak<T>, x, nullptr, n);
  return {p.max, p.sum / functors::math::kExpLift<T>};
}
template <class T>
RowPeak<T> softmax_row(const T* x, T* y, std::int64_t n) {
  const RowPeak<T> p = RILL_BY_ISA(detail::, peak<T>, x, y, n);
  RILL_BY_ISA(detail::, scale<T>, y, T(1) / p.sum, n);
  return {p.max, p.sum / functors::math::kExpLift<T>};
}
template <class T>
void log_softmax_row(const T* x, T* y, std::int64_t n) {
  const RowPeak<T> p = row_peak(x, n);
  RILL_BY_ISA(detail::, shift<T>, x, y, p.max, std::log(p.sum), n);
}

}  // namespace rill::cpu
