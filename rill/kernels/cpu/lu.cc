// What the LU decomposition with row exchanges gives: solutions, inverses,
// determinants.
#include "rill/kernels/cpu/lu.h"

namespace rill::cpu {
namespace {

void solve_cpu(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0)), b(c.in_shape(1));
  const bool adjoint = c.bool_attr("adjoint");
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, c.out().size ? a.count : 0, std::max(a.rows, b.cols), "is not invertible",
                    [&](std::int64_t i) {
                      const LuFactors<T> lu =
                          lu_decompose(c.in<T>(0) + i * a.size(), a.rows, adjoint);
                      std::copy_n(c.in<T>(1) + i * b.size(), b.size(), c.out<T>() + i * b.size());
                      if (!lu.singular) lu_solve(lu, a.rows, c.out<T>() + i * b.size(), b.cols);
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
      const LuFactors<T> lu = lu_decompose(c.in<T>(0) + i * s.size(), s.rows, adjoint);
      T* out = c.out<T>() + i * s.size();
      std::fill_n(out, s.size(), T(0));
      for (std::int64_t k = 0; k < s.rows; ++k) out[k * s.cols + k] = T(1);
      if (!lu.singular) lu_solve(lu, s.rows, out, s.cols);
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
      const LuFactors<T> lu = lu_decompose(c.in<T>(0) + i * s.size(), s.rows, false);
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

// Output 1: which row of the input each row of l u is.
void lu_cpu(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    dispatch_types<std::int32_t, std::int64_t>(c.out(1).dtype, [&]<class I>() {
      for_each_matrix(c, s.count, s.rows, "is not invertible", [&](std::int64_t i) {
        const LuFactors<T> lu = lu_decompose(c.in<T>(0) + i * s.size(), s.rows);
        std::copy_n(lu.a.data(), s.size(), c.out<T>(0) + i * s.size());
        I* p = c.out<I>(1) + i * s.rows;
        for (std::int64_t k = 0; k < s.rows; ++k) p[k] = static_cast<I>(k);
        for (std::int64_t k = 0; k < s.rows; ++k)
          std::swap(p[k], p[lu.swap[static_cast<std::size_t>(k)]]);
        return !lu.singular;
      });
    });
  });
}
RILL_KERNEL("Lu", cpu, kMatrixTypes, lu_cpu);

}  // namespace
}  // namespace rill::cpu
