// What the LU decomposition with row exchanges gives: solutions, inverses,
// determinants.
#include <cmath>

#include "rill/kernels/cpu/linalg.h"

namespace rill::cpu {
namespace {

template <class T>
struct Lu {
  std::vector<T> a;                // l below the diagonal (of ones), u on and above it
  std::vector<std::int64_t> swap;  // row k was exchanged with row swap[k]
  bool odd = false, singular = false;
};

template <class T>
Lu<T> decompose(const T* matrix, std::int64_t n, bool adjoint) {
  Lu<T> lu;
  lu.a.assign(matrix, matrix + n * n);
  if (adjoint) write_adjoint(matrix, n, n, lu.a.data());
  lu.swap.resize(static_cast<std::size_t>(n));
  T* a = lu.a.data();
  std::vector<T> right;
  for (std::int64_t first = 0; first < n; first += kBlockSize) {
    const std::int64_t last = std::min(n, first + kBlockSize);
    for (std::int64_t k = first; k < last; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t i = k + 1; i < n; ++i)
        if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
      lu.swap[static_cast<std::size_t>(k)] = pivot;
      if (pivot != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n), lu.odd = !lu.odd;
      if (a[k * n + k] == T(0)) {
        lu.singular = true;
        continue;
      }
      for (std::int64_t i = k + 1; i < n; ++i) {
        const T f = a[i * n + k] /= a[k * n + k];
        subtract_row(a + i * n + k + 1, a + k * n + k + 1, f, last - k - 1);
      }
    }
    // The rows of u to the right of the block, then all below them.
    const std::int64_t rest = n - last, width = last - first;
    if (rest == 0) break;
    right.resize(static_cast<std::size_t>(width * rest));
    for (std::int64_t i = 0; i < width; ++i) {
      T* row = a + (first + i) * n + last;
      for (std::int64_t k = 0; k < i; ++k)
        subtract_row(row, a + (first + k) * n + last, a[(first + i) * n + first + k], rest);
      std::copy_n(row, rest, right.data() + i * rest);
    }
    subtract_product(a + last * n + last, n, a + last * n + first, n, right.data(), rest, width,
                     rest);
  }
  return lu;
}

// x [n, m] becomes the solution.
template <class T>
void solve(const Lu<T>& lu, std::int64_t n, T* x, std::int64_t m) {
  for (std::int64_t k = 0; k < n; ++k)
    if (const std::int64_t other = lu.swap[static_cast<std::size_t>(k)]; other != k)
      std::swap_ranges(x + k * m, x + (k + 1) * m, x + other * m);
  solve_lower(lu.a.data(), n, x, m, true);
  solve_upper(lu.a.data(), n, x, m);
}

void solve_cpu(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0)), b(c.in_shape(1));
  const bool adjoint = c.bool_attr("adjoint");
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, c.out().size ? a.count : 0, std::max(a.rows, b.cols), "is not invertible",
                    [&](std::int64_t i) {
                      const Lu<T> lu = decompose(c.in<T>(0) + i * a.size(), a.rows, adjoint);
                      std::copy_n(c.in<T>(1) + i * b.size(), b.size(), c.out<T>() + i * b.size());
                      if (!lu.singular) solve(lu, a.rows, c.out<T>() + i * b.size(), b.cols);
                      return !lu.singular;
                    });
  });
}
RILL_KERNEL("MatrixSolve", cpu, kMatrixTypes, solve_cpu);

void inverse_cpu(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  const bool adjoint = c.bool_attr("adjoint");
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, s.rows ? s.count : 0, s.rows, "is not invertible", [&](std::int64_t i) {
      const Lu<T> lu = decompose(c.in<T>(0) + i * s.size(), s.rows, adjoint);
      T* out = c.out<T>() + i * s.size();
      std::fill_n(out, s.size(), T(0));
      for (std::int64_t k = 0; k < s.rows; ++k) out[k * s.cols + k] = T(1);
      if (!lu.singular) solve(lu, s.rows, out, s.cols);
      return !lu.singular;
    });
  });
}
RILL_KERNEL("MatrixInverse", cpu, kMatrixTypes, inverse_cpu);

// One output: the determinant. Two: its sign and the logarithm of its size.
void determinant_cpu(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, s.count, s.rows, "", [&](std::int64_t i) {
      const Lu<T> lu = decompose(c.in<T>(0) + i * s.size(), s.rows, false);
      T product(lu.odd ? -1 : 1), sign = product;
      Real<T> log = 0;
      for (std::int64_t k = 0; k < s.rows; ++k) {
        const T d = lu.a[static_cast<std::size_t>(k * s.cols + k)];
        const Real<T> size = std::abs(d);
        product = times(product, d);
        sign = size == 0 ? T(0) : times(sign, d / size);
        log += std::log(size);
      }
      c.out<T>(0)[i] = c.num_outputs() == 1 ? product : sign;
      if (c.num_outputs() == 2) c.out<T>(1)[i] = T(log);
      return true;
    });
  });
}
RILL_KERNEL("MatrixDeterminant", cpu, kMatrixTypes, determinant_cpu);
RILL_KERNEL("LogMatrixDeterminant", cpu, kMatrixTypes, determinant_cpu);

}  // namespace
}  // namespace rill::cpu
