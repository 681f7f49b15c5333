#pragma once
#include <cmath>

#include "rill/kernels/cpu/linalg.h"

// Reflections h = 1 - tau v v' that make a vector a real multiple of the first
// unit vector, and rotations of two rows.
namespace rill::cpu {

// x [n] (with a stride) becomes v; its first element is 1 and not stored.
// Gives tau, and in *beta the real number that x turns into.
template <class T>
T make_reflection(T* x, std::int64_t n, std::int64_t stride, Real<T>* beta) {
  using R = Real<T>;
  R scale = 0, sum = 0;
  for (std::int64_t i = 1; i < n; ++i) scale = std::max(scale, std::abs(x[i * stride]));
  const T head = x[0];
  if (scale == 0 && std::imag(head) == 0) {
    *beta = std::real(head);
    return T(0);
  }
  scale = std::max(scale, std::abs(head));
  for (std::int64_t i = 0; i < n; ++i) sum += std::norm(x[i * stride] / scale);
  R size = scale * std::sqrt(sum);
  if (std::real(head) >= 0) size = -size;  // away from the head: nothing cancels
  for (std::int64_t i = 1; i < n; ++i) x[i * stride] /= head - size;
  *beta = size;
  return conjugate((T(size) - head) / T(size));
}

// a [n, cols] (row stride lda) = (1 - tau v v') a.
template <class T>
void reflect_rows(T* a, std::int64_t lda, std::int64_t cols, const T* v, std::int64_t n,
                  std::int64_t stride, T tau, T* scratch) {
  if (tau == T(0)) return;
  std::copy_n(a, cols, scratch);
  for (std::int64_t i = 1; i < n; ++i)
    subtract_row(scratch, a + i * lda, -conjugate(v[i * stride]), cols);
  subtract_row(a, scratch, tau, cols);
  for (std::int64_t i = 1; i < n; ++i)
    subtract_row(a + i * lda, scratch, times(tau, v[i * stride]), cols);
}

// q [m, cols] = h0' h1' .. times the unit matrix. Vector k starts at
// v + k * (step), its elements have a stride.
template <class T>
void write_q(T* q, std::int64_t m, std::int64_t cols, const T* v, std::int64_t step,
             std::int64_t stride, const std::vector<T>& taus, std::int64_t offset, T* scratch) {
  std::fill_n(q, m * cols, T(0));
  for (std::int64_t i = 0; i < std::min(m, cols); ++i) q[i * cols + i] = T(1);
  for (std::int64_t k = static_cast<std::int64_t>(taus.size()); k-- > 0;) {
    const std::int64_t at = k + offset;
    reflect_rows(q + at * cols, cols, cols, v + k * step, m - at, stride,
                 conjugate(taus[static_cast<std::size_t>(k)]), scratch);
  }
}

// a [m, n] becomes r above the diagonal and the vectors below it.
template <class T>
std::vector<T> qr_in_place(T* a, std::int64_t m, std::int64_t n) {
  std::vector<T> taus, scratch(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    Real<T> beta;
    T* x = a + k * n + k;
    taus.push_back(make_reflection(x, m - k, n, &beta));
    reflect_rows(x + 1, n, n - k - 1, x, m - k, n, taus.back(), scratch.data());
    *x = beta;
  }
  return taus;
}

// Rows i and k of a matrix (columns of u or v, which lie turned) rotated.
template <class T>
void rotate(std::vector<T>& rows, std::int64_t width, std::int64_t i, std::int64_t k, double cs,
            double sn) {
  if (rows.empty()) return;
  T *a = rows.data() + i * width, *b = rows.data() + k * width;
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    const T x = a[j], y = b[j];
    a[j] = cs * x + sn * y;
    b[j] = cs * y - sn * x;
  }
}

// The transpose.
template <class T>
std::vector<T> turned(const std::vector<T>& a, std::int64_t rows, std::int64_t cols) {
  std::vector<T> out(a.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      out[static_cast<std::size_t>(j * rows + i)] = a[static_cast<std::size_t>(i * cols + j)];
  return out;
}

}  // namespace rill::cpu
