#pragma once
#include <algorithm>
#include <atomic>
#include <complex>
#include <new>
#include <vector>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/gemm.h"
#include "rill/kernels/functors/arithmetic.h"

// Decompositions of stacks of matrices, row-major. They work in blocks of
// kBlockSize columns, the rest of a large matrix by matrix products. Small
// matrices are split among threads; a matrix has the same bits at every width.
namespace rill::cpu {

inline constexpr TypeSet kMatrixTypes = kRealFloatTypes | kComplexTypes;
template <class F>
void dispatch_matrix(DType dtype, F&& body) {
  dispatch_types<float, double, std::complex<float>, std::complex<double>>(dtype, body);
}

// The last two axes, and how many matrices the others make.
struct Stack {
  explicit Stack(const TensorShape& s) : rows(s.dim(-2)), cols(s.dim(-1)) {
    for (int i = 0; i < s.rank() - 2; ++i) count *= s.dim(i);
  }
  std::int64_t size() const { return rows * cols; }
  std::int64_t rows, cols, count = 1;
};

inline constexpr std::int64_t kBlockSize = 64;

// Calls body(i) for each of n matrices of `side` rows or columns at most (what
// makes no products says kBlockSize at most). The first for which it says
// false is reported as "[op] matrix i of the input <what>".
template <class F>
void for_each_matrix(KernelContext& c, std::int64_t n, std::int64_t side, const char* what,
                     F body) {
  std::atomic<std::int64_t> bad{n};
  std::atomic<bool> no_memory{false};
  auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      try {
        if (body(i)) continue;
      } catch (const std::bad_alloc&) {
        no_memory = true;
      }
      for (std::int64_t least = bad; i < least && !bad.compare_exchange_weak(least, i);) {
      }
    }
  };
  if (side > kBlockSize)
    run(0, n);  // one after the other: their products use all threads
  else
    parallel_for(n, std::max<std::int64_t>(1, (1 << 15) / (side * side * side + 1)), run);
  if (no_memory)
    c.fail(Code::resource_exhausted,
           format("[{}] no memory for the matrices of shape {}", c.tag(), c.in_shape(0)));
  else if (bad < n)
    c.fail(Code::invalid_argument,
           format("[{}] matrix {} of the input {}", c.tag(), bad.load(), what));
}

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
T conjugate(T x) {
  if constexpr (functors::is_complex_v<T>)
    return std::conj(x);
  else
    return x;
}
template <class T>
T times(T a, T b) {
  return functors::Mul::apply<T>(a, b);
}
// y -= f x
template <class T>
void subtract_row(T* y, const T* x, T f, std::int64_t n) {
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) y[j] -= times(f, x[j]);
}
// to [cols, rows] = the adjoint of from [rows, cols].
template <class T>
void write_adjoint(const T* from, std::int64_t rows, std::int64_t cols, T* to) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) to[j * rows + i] = conjugate(from[i * cols + j]);
}

// x [rows, n] -= a [rows, k] (with row stride lda) y [k, n]; x has row stride ldx.
template <class T>
void subtract_product(T* x, std::int64_t ldx, const T* a, std::int64_t lda, const T* y,
                      std::int64_t rows, std::int64_t k, std::int64_t n) {
  if (rows == 0 || k == 0 || n == 0) return;
  std::vector<T> left(static_cast<std::size_t>(rows * k)),
      product(static_cast<std::size_t>(rows * n));
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(a + i * lda, k, left.data() + i * k);
  gemm<T>(false, false, rows, n, k, left.data(), y, product.data());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      x[i * ldx + j] -= product[static_cast<std::size_t>(i * n + j)];
}

// x [n, m] becomes the solution y of l y = x, of the lower triangle of l [n, n];
// a unit diagonal is not read.
template <class T>
void solve_lower(const T* l, std::int64_t n, T* x, std::int64_t m, bool unit) {
  for (std::int64_t first = 0; first < n; first += kBlockSize) {
    const std::int64_t last = std::min(n, first + kBlockSize);
    subtract_product(x + first * m, m, l + first * n, n, x, last - first, first, m);
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t k = first; k < i; ++k) subtract_row(x + i * m, x + k * m, l[i * n + k], m);
      if (!unit)
        for (std::int64_t j = 0; j < m; ++j) x[i * m + j] /= l[i * n + i];
    }
  }
}
// The same of the upper triangle.
template <class T>
void solve_upper(const T* u, std::int64_t n, T* x, std::int64_t m) {
  for (std::int64_t last = n; last > 0;) {
    const std::int64_t first = std::max<std::int64_t>(0, last - kBlockSize);
    subtract_product(x + first * m, m, u + first * n + last, n, x + last * m, last - first,
                     n - last, m);
    for (std::int64_t i = last; i-- > first;) {
      for (std::int64_t k = i + 1; k < last; ++k)
        subtract_row(x + i * m, x + k * m, u[i * n + k], m);
      for (std::int64_t j = 0; j < m; ++j) x[i * m + j] /= u[i * n + i];
    }
    last = first;
  }
}

}  // namespace rill::cpu
