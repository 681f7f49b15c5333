// LU, functions of matrices, eigenvalues of any matrix, matrices given by their diagonals.
#include "rill/ops/linalg_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr TypeSet kMatrices = kRealFloatTypes | kComplexTypes;
using Outputs = std::vector<Tensor>;

Outputs split_complex(const Outputs& out) {
  Outputs list;
  for (const Tensor& t : out) list.push_back(real(t)), list.push_back(imag(t));
  return list;
}
Tensor joined(const Outputs& in) { return complex(in[0], in[1]); }

// A matrix whose eigenvalues are real, positive and differ, and which needs exchanges of rows.
const std::vector<double> kPositive = {2, 0.5, -0.25, 1, 3, 0.5, 0.125, -0.5, 4},
                          kExchanged = {0.5, 2, 1, 3, 0.25, -1, 1, 1, 2},
                          kTurning = {0, 1, 0.5, -1, 0, 0.25, 0.125, 0.5, 2};

}  // namespace

RILL_ROWS(linalg_more) {
  row("Lu")
      .sample({x({3, 3}, kExchanged)})
      .sample({x({2, 2, 2}, {1, 2, 3, 4, 4, 3, 2, -1})})
      .sample({x({1, 1}, std::vector<double>{-2})}, {{"output_idx_type", int64}})
      .sample({x({2, 0, 0})})
      .sample({x({0, 2, 2})})
      .dtypes(kMatrices)
      .tolerance(4e-6)
      .sizes_must_be_known("its gradient needs the rank")
      .error({x({2, 2, 2}, {1, 2, 3, 4, 1, 2, 2, 4})}, {},
             "matrix 1 of the input is not invertible")
      .error({x({2, 3})}, {}, "input has shape \\[2, 3\\]; expected square matrices")
      .error({x({3})}, {}, "input must have rank 2 or more, got shape \\[3\\]");
  row("lu")
      .call([](const Outputs& in) {
        const auto [lu, p] = linalg::lu(in[0]);
        return Outputs{lu, p, linalg::lu_reconstruct(lu, p), linalg::lu_solve(lu, p, in[1]),
                       linalg::lu_matrix_inverse(lu, p)};
      })
      .tf("(lambda a, b: [a[0], a[1], tf.linalg.lu_reconstruct(*a), tf.linalg.lu_solve(*a, b), "
          "tf.linalg.lu_matrix_inverse(*a)])(tf.linalg.lu(x0), x1)")
      .sample({x({3, 3}, kExchanged), x({3, 2})})
      .sample({x({2, 2, 2}, {1, 2, 3, 4, 4, 3, 2, -1}), x({2, 2, 1})})
      .dtypes(kMatrices)
      .tolerance(1e-5)
      .sizes_must_be_known("the rank of the permutation says how many axes are batches")
      .error({x({2, 2}, {1, 2, 3, 4}), x({2, 2, 1})}, {}, "perm has shape \\[2\\]");
  row("lu_complex")
      .call([](const Outputs& in) {
        const auto [lu, p] = linalg::lu(joined(in));
        return split_complex({lu, linalg::lu_solve(lu, p, joined(in))});
      })
      .sample({x({3, 3}, kExchanged), x({3, 3})})
      .dtypes({float64})
      .first_order()
      .not_in_tensorflow("gradients of complex matrices; lu has the values");

  row("MatrixExponential")
      .tf("tf.linalg.expm(x0)")
      .sample({x({3, 3})})
      .sample({x({2, 2, 2}, -0.25, 0.25)})
      .sample({x({2, 2}, {0, 6, -9, 1})})
      .sample({x({1, 1}, std::vector<double>{-30})})
      .sample({x({3, 3}, {0, 1, 2, 0, 0, 3, 0, 0, 0})})
      .sample({x({2, 2}, {0, 0, 0, 0})})
      .dtypes(kMatrices)
      .tolerance(2e-5)
      .error({x({2, 3})}, {}, "input has shape \\[2, 3\\]; expected square matrices");
  // Both derivatives are of blocks of the same matrix, whose root has the form f([a e; 0 a]).
  row("MatrixSquareRoot")
      .sample({x({3, 3}, kPositive)})
      .sample({x({2, 2, 2}, {4, 1, 0, 9, 5, 1, 2, 3})})
      .sample({x({2, 2}, {0.5, -2, 2, 0.5})})
      .sample({x({1, 1}, std::vector<double>{9})})
      .sample({x({2, 0, 0})})
      .dtypes(kMatrices)
      .tolerance(1e-5)
      .error({x({2, 3})}, {}, "expected square matrices");
  row("MatrixLogarithm")
      .sample({x({3, 3}, kPositive)})
      .sample({x({2, 2, 2}, {4, 1, 0, 9, 5, 1, 2, 3})})
      .sample({x({2, 2}, {0.5, -2, 2, 0.5})})
      .sample({x({2, 2}, {-1, 0.5, 0.25, -3})})
      .sample({x({2, 2}, {1, 0, 0, 1})})
      .sample({x({2, 0, 0})})
      .dtypes(kComplexTypes)
      .tolerance(1e-5)
      .error({x({2, 3})}, {}, "expected square matrices");
  row("matrix_functions_complex")
      .call([](const Outputs& in) {
        const Tensor a = joined(in);
        return split_complex({linalg::expm(a), linalg::sqrtm(a), linalg::logm(a)});
      })
      .tf("(lambda a: [f(t) for t in [tf.linalg.expm(a), tf.linalg.sqrtm(a), tf.linalg.logm(a)] "
          "for f in (tf.math.real, tf.math.imag)])(tf.complex(x0, x1))")
      .sample({x({3, 3}, kPositive), x({3, 3}, -1, 1)})
      .tolerance(2e-5)
      .first_order();
  row("sqrtm_none")
      .call([](const Outputs& in) { return Outputs{linalg::sqrtm(in[0])}; })
      .sample({fixed(x({1, 1}, std::vector<double>{-4}))})
      .tf("tf.constant([[math.nan]], x0.dtype)")
      .no_gradient_check("there is no real root");

  // Orders and phases are free: see eig.
  row("Eig")
      .sample({fixed(x({3, 3}, kTurning))}, {{"Tout", complex64}})
      .sample({fixed(x({2, 0, 0}))}, {{"Tout", complex64}, {"compute_v", false}})
      .dtypes({float32, complex64})
      .not_in_tensorflow("the order of the values and the phases of the vectors are free")
      .error({x({2, 3})}, {{"Tout", complex64}}, "expected square matrices")
      .error({x({2, 2})}, {{"Tout", complex128}}, "Tout is complex128 for an input of float32");
  row("eig")
      .call([](const Outputs& in) {
        const auto [e, v] = linalg::eig(in[0]);
        const Tensor values = linalg::eigvals(in[0]);
        return Outputs{reduce_sum(values, -1),
                       reduce_sum(values * values, -1),
                       reduce_sum(values * values * values, -1),
                       sort(real(e)),
                       sort(abs(e)),
                       linalg::matmul(v * expand_dims(e, -2), linalg::inv(v)),
                       reduce_sum(square(abs(v)), -2)};
      })
      .tf("(lambda e, v, w: [tf.reduce_sum(w, -1), tf.reduce_sum(w**2, -1), tf.reduce_sum(w**3, "
          "-1), tf.sort(tf.math.real(e)), tf.sort(abs(e)), tf.matmul(v * e[..., None, :], "
          "tf.linalg.inv(v)), tf.reduce_sum(abs(v)**2, -2)])(*tf.linalg.eig(x0), "
          "tf.linalg.eigvals(x0))")
      .sample({x({3, 3}, kTurning)})
      .sample({x({2, 3, 3})})
      .sample({x({5, 5})})
      .sample({x({2, 2}, {2, 0, 0, 1})})
      .dtypes(kMatrices)
      .tolerance(2e-5)
      .no_gradient_check("eig_gradient has it");
  row("eig_gradient")
      .call([](const Outputs& in) {
        const Tensor a = joined(in);
        const auto [e, v] = linalg::eig(a);
        const auto [re, rv] = linalg::eig(in[0]);
        return Outputs{
            real(e),         imag(e),       square(abs(v)), real(linalg::eigvals(a)),
            square(abs(rv)), real(re * re), imag(re),       square(abs(rv(0, all) + rv(1, all)))};
      })
      .sample({x({3, 3}, kTurning), x({3, 3})})
      .sample({x({2, 2}, {1, 2, -3, 2}), x({2, 2})})
      .dtypes({float64})
      .not_in_tensorflow("the order of the values is free; eig has them");
  row("eigh_tridiagonal")
      .call([](const Outputs& in) {
        const auto [e, v] = linalg::eigh_tridiagonal(in[0], in[1], {.eigvals_only = false});
        return Outputs{
            linalg::eigh_tridiagonal(in[0], in[1]).e, e, square(v),
            linalg::eigh_tridiagonal(in[0], in[1], {.select = "i", .select_range = {1, 2}}).e,
            linalg::eigh_tridiagonal(in[0], in[1], {.select = "v", .select_range = {-1, 1.5}}).e};
      })
      .tf("(lambda a, b, e, v: [tf.linalg.eigh_tridiagonal(a, b), e, v**2, "
          "tf.linalg.eigh_tridiagonal(a, b, select='i', select_range=(1, 2)), "
          "tf.linalg.eigh_tridiagonal(a, b, select='v', select_range=(-1., "
          "1.5))])(x0, x1, *tf.linalg.eigh_tridiagonal(x0, x1, eigvals_only=False))")
      .sample({x({4}, {1, 2, -1, 0.5}), x({3}, {0.5, 1, -0.25})})
      .tolerance(2e-5)
      .no_gradient_check("TensorFlow has none here; eigh has it")
      .error({x({4}), x({4})}, {}, "alpha has shape \\[4\\], beta \\[4\\]");

  row("TridiagonalSolve")
      .sample({x({3, 4}, {1, 2, -1, 9, 4, 5, -6, 5, 9, 1, 2, 1}), x({4, 2})})
      .sample({x({3, 4}, {4, 2, -1, 9, 1, 0, 0.5, 5, 9, 3, 2, 1}), x({4, 1})})
      .sample({x({2, 3, 2}, {1, 9, 3, 4, 9, 1, -1, 9, 5, 4, 9, 2}), x({2, 2, 3})},
              {{"partial_pivoting", false}})
      .sample({x({3, 1}, {9, 2, 9}), x({1, 2})})
      .sample({x({3, 2}, {1, 9, 3, 4, 9, 1}), x({2, 0})})
      .dtypes(kMatrices)
      .tolerance(1e-5)
      .error({x({3, 2}, {1, 0, 1, 1, 0, 1}), x({2, 1})}, {}, "is not invertible")
      .error({x({2, 4}), x({4, 2})}, {}, "diagonals has shape \\[2, 4\\]; expected \\[.., 3, n\\]")
      .error({x({3, 4}), x({3, 2})}, {}, "diagonals has shape \\[3, 4\\], rhs \\[3, 2\\]")
      .error({x({3, 4}), x({4, 2})}, {{"perturb_singular", true}}, "not implemented on the CPU");
  row("TridiagonalMatMul")
      .sample({x({1, 4}), x({1, 4}), x({1, 4}), x({4, 2})})
      .sample({x({2, 1, 3}), x({2, 1, 3}), x({2, 1, 3}), x({2, 3, 2})})
      .sample({x({1, 1}), x({1, 1}), x({1, 1}), x({1, 2})})
      .dtypes(kMatrices)
      .error({x({1, 4}), x({1, 3}), x({1, 4}), x({4, 2})}, {},
             "maindiag has shape \\[1, 3\\], rhs \\[4, 2\\]");
  row("tridiagonal")
      .call([](const Outputs& in) {
        const Tensor &d = in[0], &b = in[1], up = d(0, all), mid = d(1, all), low = d(2, all);
        const TensorList three = {up, mid, low};
        const TensorList shorter = {up(slice(0, -1)), mid, low(slice(1, None))};
        const Tensor whole = linalg::diag(mid) + linalg::diag(up(slice(0, -1)), {.k = 1}) +
                             linalg::diag(low(slice(1, None)), {.k = -1});
        return Outputs{linalg::tridiagonal_solve(d, b),
                       linalg::tridiagonal_solve(three, b, {.diagonals_format = "sequence"}),
                       linalg::tridiagonal_solve(shorter, b, {.diagonals_format = "sequence"}),
                       linalg::tridiagonal_solve(whole, b, {.diagonals_format = "matrix"}),
                       linalg::tridiagonal_solve(d, b(all, 0)),
                       linalg::tridiagonal_solve(d, linalg::matrix_transpose(b),
                                                 {.transpose_rhs = true, .conjugate_rhs = true}),
                       linalg::tridiagonal_matmul(d, b),
                       linalg::tridiagonal_matmul(three, b, "sequence"),
                       linalg::tridiagonal_matmul(whole, b, "matrix")};
      })
      .tf("(lambda d, b, w: [tf.linalg.tridiagonal_solve(d, b), "
          "tf.linalg.tridiagonal_solve([d[0], d[1], d[2]], b, 'sequence'), "
          "tf.linalg.tridiagonal_solve([d[0, :-1], d[1], d[2, 1:]], b, 'sequence'), "
          "tf.linalg.tridiagonal_solve(w, b, 'matrix'), tf.linalg.tridiagonal_solve(d, b[:, 0]), "
          "tf.linalg.tridiagonal_solve(d, tf.transpose(b), transpose_rhs=True, "
          "conjugate_rhs=True), tf.linalg.tridiagonal_matmul(d, b), "
          "tf.linalg.tridiagonal_matmul([d[0], d[1], d[2]], b, 'sequence'), "
          "tf.linalg.tridiagonal_matmul(w, b, 'matrix')])(x0, x1, tf.linalg.diag(x0[1]) + "
          "tf.linalg.diag(x0[0, :-1], k=1) + tf.linalg.diag(x0[2, 1:], k=-1))")
      .sample({x({3, 4}, {1, 2, -1, 0, 4, 5, -6, 5, 0, 1, 2, 1}), x({4, 2})})
      .dtypes(kMatrices)
      .tolerance(1e-5)
      .error({x({3, 4}), x({3, 2})}, {}, "diagonals has shape");
  row("BandedTriangularSolve")
      .sample({x({2, 3}, {4, 5, 6, 9, 1, 2}), x({3, 2})})
      .sample({x({2, 3}, {1, 2, 9, 4, 5, 6}), x({3, 2})}, {{"lower", false}})
      .sample({x({3, 4}, {4, 5, 6, -3, 9, 1, 2, 0.5, 9, 9, -1, 2}), x({4, 1})}, {{"adjoint", true}})
      .sample({x({3, 4}, {-1, 2, 9, 9, 1, 2, 0.5, 9, 4, 5, 6, -3}), x({4, 1})},
              {{"lower", false}, {"adjoint", true}})
      .sample({x({1, 3}, {4, 5, 6}), x({3, 2})})
      .sample({x({2, 1, 2, 3}, {4, 5, 6, 9, 1, 2, 3, 4, 5, 9, -1, 1}), x({3, 3, 2})})
      .dtypes(kMatrices)
      .tolerance(1e-5)
      .sizes_must_be_known("its gradient needs the number of bands")
      .error({x({2, 3}, {4, 0, 6, 9, 1, 2}), x({3, 1})}, {}, "is not invertible")
      .error({x({2, 3}), x({2, 1})}, {}, "expected \\[.., bands, n\\] and \\[.., n, k\\]")
      .error({x({4, 3}), x({3, 1})}, {}, "expected 1 to n bands of n elements");

  row("matmul_adjoint")
      .call([](const Outputs& in) {
        const Tensor a = joined(in);
        return split_complex({matmul(a, a, {.adjoint_a = true}), matmul(a, a, {.adjoint_b = true}),
                              matmul(a, a, {.transpose_a = true, .adjoint_b = true}),
                              complex(matmul(in[0], in[1], {.adjoint_a = true}),
                                      matmul(in[0], in[1], {.adjoint_b = true}))});
      })
      .tf("(lambda a, x, y: [f(t) for t in [tf.matmul(a, a, adjoint_a=True), tf.matmul(a, a, "
          "adjoint_b=True), tf.matmul(a, a, transpose_a=True, adjoint_b=True), "
          "tf.complex(tf.matmul(x, y, adjoint_a=True), tf.matmul(x, y, adjoint_b=True))] for "
          "f in (tf.math.real, tf.math.imag)])(tf.complex(x0, x1), x0, x1)")
      .sample({x({3, 3}), x({3, 3})})
      .sample({x({2, 2, 2}), x({2, 2, 2})});
}

}  // namespace rill::conformance
