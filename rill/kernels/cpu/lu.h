#pragma once
#include <cmath>

#include "rill/kernels/cpu/linalg.h"

// The LU decomposition with row exchanges.
namespace rill::cpu {

template <class T>
struct LuFactors {
  std::vector<T> a;                // l below the diagonal (of ones), u on and above it
  std::vector<std::int64_t> swap;  // row k was exchanged with row swap[k]
  bool odd = false, singular = false;
};

template <class T>
LuFactors<T> lu_decompose(const T* matrix, std::int64_t n, bool adjoint = false) {
  LuFactors<T> lu;
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
void lu_solve(const LuFactors<T>& lu, std::int64_t n, T* x, std::int64_t m) {
  for (std::int64_t k = 0; k < n; ++k)
    if (const std::int64_t other = lu.swap[static_cast<std::size_t>(k)]; other != k)
      std::swap_ranges(x + k * m, x + (k + 1) * m, x + other * m);
  solve_lower(lu.a.data(), n, x, m, true);
  solve_upper(lu.a.data(), n, x, m);
}

}  // namespace rill::cpu
