// Cholesky decompositions and triangular equations.
#include <cmath>

#include "rill/kernels/cpu/linalg.h"

namespace rill::cpu {
namespace {

// The lower triangle of a [n, n] becomes l; the upper one is left as it is.
// False unless the matrix is positive definite.
template <class T>
bool cholesky(T* a, std::int64_t n) {
  std::vector<T> panel;
  for (std::int64_t first = 0; first < n; first += kBlockSize) {
    const std::int64_t last = std::min(n, first + kBlockSize);
    for (std::int64_t i = first; i < n; ++i)
      for (std::int64_t j = first; j < std::min(i + 1, last); ++j) {
        T sum = a[i * n + j];
        for (std::int64_t k = first; k < j; ++k)
          sum -= times(a[i * n + k], conjugate(a[j * n + k]));
        if (i != j) {
          a[i * n + j] = sum / a[j * n + j];
        } else {
          const Real<T> square = std::real(sum);
          if (!(square > 0)) return false;
          a[i * n + i] = std::sqrt(square);
        }
      }
    // What is left, less the product of the columns that are done.
    const std::int64_t rest = n - last, width = last - first;
    if (rest == 0) break;
    panel.resize(static_cast<std::size_t>(rest * width));
    for (std::int64_t i = 0; i < rest; ++i)
      for (std::int64_t k = 0; k < width; ++k)
        panel[static_cast<std::size_t>(k * rest + i)] = conjugate(a[(last + i) * n + first + k]);
    subtract_product(a + last * n + last, n, a + last * n + first, n, panel.data(), rest, width,
                     rest);
  }
  return true;
}

void cholesky_cpu(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, s.rows ? s.count : 0, s.rows, "is not positive definite",
                    [&](std::int64_t i) {
                      T* out = c.out<T>() + i * s.size();
                      std::copy_n(c.in<T>(0) + i * s.size(), s.size(), out);
                      if (!cholesky(out, s.rows)) return false;
                      for (std::int64_t r = 0; r < s.rows; ++r)
                        std::fill(out + r * s.cols + r + 1, out + (r + 1) * s.cols, T(0));
                      return true;
                    });
  });
}
RILL_KERNEL("Cholesky", cpu, kMatrixTypes, cholesky_cpu);

// Where matrix i of the output comes from in an input whose batch broadcasts.
std::int64_t source_of(const TensorShape& in, const TensorShape& out, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (int k = 3; k <= out.rank(); ++k) {
    const std::int64_t n = out.dim(-k), own = k <= in.rank() ? in.dim(-k) : 1;
    if (own != 1) at += i % n * step;
    step *= own;
    i /= n;
  }
  return at;
}

void triangular_solve_cpu(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0)), b(c.in_shape(1)), x(c.out_shape());
  const bool adjoint = c.bool_attr("adjoint"), lower = c.bool_attr("lower") != adjoint;
  if (c.out().size == 0) return;
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, x.count, std::max(a.rows, b.cols), "is not invertible", [&](std::int64_t i) {
      const T* m = c.in<T>(0) + source_of(c.in_shape(0), c.out_shape(), i) * a.size();
      T* out = c.out<T>() + i * x.size();
      std::copy_n(c.in<T>(1) + source_of(c.in_shape(1), c.out_shape(), i) * b.size(), b.size(),
                  out);
      for (std::int64_t k = 0; k < a.rows; ++k)
        if (m[k * a.cols + k] == T(0)) return false;
      std::vector<T> turned;
      if (adjoint) {
        turned.resize(static_cast<std::size_t>(a.size()));
        write_adjoint(m, a.rows, a.cols, turned.data());
        m = turned.data();
      }
      if (lower)
        solve_lower(m, a.rows, out, b.cols, false);
      else
        solve_upper(m, a.rows, out, b.cols);
      return true;
    });
  });
}
RILL_KERNEL("MatrixTriangularSolve", cpu, kMatrixTypes, triangular_solve_cpu);

}  // namespace
}  // namespace rill::cpu
