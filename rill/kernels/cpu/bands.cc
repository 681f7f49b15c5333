// Equations and products of matrices that are given by a few diagonals.
#include "rill/kernels/cpu/linalg.h"

namespace rill::cpu {
namespace {

// x [n, m] becomes the solution; up, mid and low are the rows of the diagonals, with low[i] in row
// i, and are overwritten. Elimination with exchanges of neighbours fills a second diagonal above.
template <class T>
bool solve_tridiagonal(T* up, T* mid, T* low, T* x, std::int64_t n, std::int64_t m, bool exchange) {
  std::vector<T> second(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    T* below = x + (i + 1) * m;
    if (exchange && std::abs(low[i + 1]) > std::abs(mid[i])) {
      std::swap(mid[i], low[i + 1]), std::swap(up[i], mid[i + 1]);
      if (i + 2 < n) std::swap(second[static_cast<std::size_t>(i)], up[i + 1]);
      std::swap_ranges(x + i * m, x + (i + 1) * m, below);
    }
    if (mid[i] == T(0)) return false;
    const T f = low[i + 1] / mid[i];
    mid[i + 1] -= times(f, up[i]);
    if (i + 2 < n) up[i + 1] -= times(f, second[static_cast<std::size_t>(i)]);
    subtract_row(below, x + i * m, f, m);
  }
  if (n > 0 && mid[n - 1] == T(0)) return false;
  for (std::int64_t i = n; i-- > 0;) {
    if (i + 1 < n) subtract_row(x + i * m, x + (i + 1) * m, up[i], m);
    if (i + 2 < n) subtract_row(x + i * m, x + (i + 2) * m, second[static_cast<std::size_t>(i)], m);
    for (std::int64_t j = 0; j < m; ++j) x[i * m + j] /= mid[i];
  }
  return true;
}
void tridiagonal_solve_cpu(KernelContext& c) noexcept {
  const Stack d(c.in_shape(0)), b(c.in_shape(1));
  const bool exchange = c.bool_attr("partial_pivoting");
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(
        c, c.out().size ? b.count : 0, kBlockSize, "is not invertible", [&](std::int64_t i) {
          const T* in = c.in<T>(0) + i * d.size();
          std::vector<T> diagonals(in, in + d.size());
          T *up = diagonals.data(), *x = c.out<T>() + i * b.size();
          std::copy_n(c.in<T>(1) + i * b.size(), b.size(), x);
          return solve_tridiagonal(up, up + d.cols, up + 2 * d.cols, x, b.rows, b.cols, exchange);
        });
  });
}
RILL_KERNEL("TridiagonalSolve", cpu, kMatrixTypes, tridiagonal_solve_cpu);

void tridiagonal_product_cpu(KernelContext& c) noexcept {
  const Stack b(c.in_shape(3));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, c.out().size ? b.count : 0, kBlockSize, "", [&](std::int64_t i) {
      const T *up = c.in<T>(0) + i * b.rows, *mid = c.in<T>(1) + i * b.rows,
              *low = c.in<T>(2) + i * b.rows, *x = c.in<T>(3) + i * b.size();
      T* y = c.out<T>() + i * b.size();
      for (std::int64_t r = 0; r < b.rows; ++r)
        for (std::int64_t j = 0; j < b.cols; ++j) {
          T sum = times(mid[r], x[r * b.cols + j]);
          if (r > 0) sum += times(low[r], x[(r - 1) * b.cols + j]);
          if (r + 1 < b.rows) sum += times(up[r], x[(r + 1) * b.cols + j]);
          y[r * b.cols + j] = sum;
        }
      return true;
    });
  });
}
RILL_KERNEL("TridiagonalMatMul", cpu, kMatrixTypes, tridiagonal_product_cpu);

// Which matrix of a stack goes with matrix i of the stack that it is broadcast to.
std::int64_t broadcast_matrix(const TensorShape& from, const TensorShape& to, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (int axis = -3; axis >= -to.rank(); --axis) {
    const std::int64_t here = i % to.dim(axis);
    i /= to.dim(axis);
    if (axis < -from.rank()) continue;
    if (from.dim(axis) > 1) at += here * step;
    step *= from.dim(axis);
  }
  return at;
}
// Row k of the bands is diagonal k below the main one or, of an upper triangle, bands - 1 - k
// above.
void banded_solve_cpu(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0)), b(c.in_shape(1)), out(c.out_shape());
  const bool lower = c.bool_attr("lower"), adjoint = c.bool_attr("adjoint");
  const std::int64_t n = out.rows, m = out.cols;
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(
        c, c.out().size ? out.count : 0, kBlockSize, "is not invertible", [&](std::int64_t i) {
          const T* bands =
              c.in<T>(0) + broadcast_matrix(c.in_shape(0), c.out_shape(), i) * a.size();
          T* x = c.out<T>() + i * out.size();
          std::copy_n(c.in<T>(1) + broadcast_matrix(c.in_shape(1), c.out_shape(), i) * b.size(),
                      b.size(), x);
          // Element (r, r -+ k) of the matrix.
          const auto at = [&](std::int64_t r, std::int64_t k) {
            return bands[(lower ? k : a.rows - 1 - k) * n + r];
          };
          const bool forwards = lower != adjoint;
          for (std::int64_t step = 0; step < n; ++step) {
            const std::int64_t r = forwards ? step : n - 1 - step;
            for (std::int64_t k = 1; k < a.rows; ++k) {
              const std::int64_t other = forwards ? r - k : r + k;
              if (other < 0 || other >= n) break;
              subtract_row(x + r * m, x + other * m, adjoint ? conjugate(at(other, k)) : at(r, k),
                           m);
            }
            const T d = adjoint ? conjugate(at(r, 0)) : at(r, 0);
            if (d == T(0)) return false;
            for (std::int64_t j = 0; j < m; ++j) x[r * m + j] /= d;
          }
          return true;
        });
  });
}
RILL_KERNEL("BandedTriangularSolve", cpu, kMatrixTypes, banded_solve_cpu);

}  // namespace
}  // namespace rill::cpu
