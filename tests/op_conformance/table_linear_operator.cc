#include "rill/ops/linear_operators.h"
#include "row.h"

namespace rill::conformance {
namespace {

using List = std::vector<Tensor>;

// What square operators do, as the Python below asks TensorFlow's.
List everything(const linalg::LinearOperator& op, const Tensor& x) {
  return {op.matmul(x),
          op.matmul(x, {.adjoint = true}),
          op.solve(x),
          op.solve(x, {.adjoint = true}),
          op.matvec(x(ellipsis, 0)),
          op.solvevec(x(ellipsis, 0), true),
          op.matmul(linalg::matrix_transpose(x), {.adjoint_arg = true}),
          op.determinant(),
          op.log_abs_determinant(),
          op.to_dense(),
          op.diag_part(),
          op.trace(),
          op.add_to_tensor(op.to_dense()),
          op.adjoint().to_dense(),
          op.inverse().to_dense()};
}
// The same of TensorFlow's operator that `made` makes.
std::string everything_of(const std::string& made, const std::string& x) {
  return "(lambda op, x: [op.matmul(x), op.matmul(x, adjoint=True), op.solve(x), op.solve(x, "
         "adjoint=True), op.matvec(x[..., 0]), op.solvevec(x[..., 0], adjoint=True), "
         "op.matmul(tf.linalg.matrix_transpose(x), adjoint_arg=True), op.determinant(), "
         "op.log_abs_determinant(), op.to_dense(), op.diag_part(), op.trace(), "
         "op.add_to_tensor(op.to_dense()), op.adjoint().to_dense(), "
         "op.inverse().to_dense()])(tf.linalg.LinearOperator" +
         made + ", " + x + ")";
}
template <class F>
Row& operator_row(const std::string& kind, const std::string& made, int arguments, F make) {
  return row("linalg.LinearOperator" + kind)
      .call([=](const List& in) {
        return everything(make(in), in[static_cast<std::size_t>(arguments)]);
      })
      .tf(everything_of(made, "x" + std::to_string(arguments)))
      .tolerance(1e-5)
      .sizes_must_be_known("an operator knows its sizes");
}

}  // namespace

RILL_ROWS(linear_operator) {
  using namespace linalg;
  const auto matrix = [] { return x({3, 3}, {4, 1, -1, 0.5, 3, 2, 1, -2, 5}); };
  operator_row("Diag", "Diag(x0)", 1, [](const List& in) { return LinearOperatorDiag(in[0]); })
      .sample({x({3}, {1, -2, 0.5}), x({3, 2})})
      .sample({x({2, 3}, {1, -2, 0.5, 3, 2, -1}), x({2, 3, 2})})
      .error({x({3}), x({2, 2})}, {}, "expected 3 rows");
  operator_row("ScaledIdentity", "ScaledIdentity(3, x0)", 1,
               [](const List& in) { return LinearOperatorScaledIdentity(3, in[0]); })
      .sample({x({}, {2.5}), x({3, 2})})
      .sample({x({2}, {2.5, -1}), x({2, 3, 2})});
  operator_row("Identity", "Identity(3, dtype=x0.dtype)", 0, [](const List& in) {
    return LinearOperatorIdentity(3, {.dtype = in[0].dtype()});
  }).sample({x({3, 2})});
  operator_row("FullMatrix", "FullMatrix(x0)", 1,
               [](const List& in) { return LinearOperatorFullMatrix(in[0]); })
      .sample({matrix(), x({3, 2})})
      .error({x({2, 3}), x({3, 1})}, {}, "expected 2 rows");
  operator_row("LowerTriangular", "LowerTriangular(x0)", 1,
               [](const List& in) { return LinearOperatorLowerTriangular(in[0]); })
      .sample({matrix(), x({3, 2})})
      .error({x({2, 3}), x({3, 1})}, {}, "this one has shape \\[2, 3\\]");
  operator_row("Tridiag", "Tridiag(x0)", 1,
               [](const List& in) { return LinearOperatorTridiag(in[0]); })
      .sample({x({3, 4}, {1, 2, -1, 0, 4, 5, -6, 5, 0, 1, 2, 1}), x({4, 2})})
      .error({x({2, 4}), x({4, 2})}, {}, "expected \\[.., 3, n\\]");
  operator_row("Toeplitz", "Toeplitz(x0, x1)", 2, [](const List& in) {
    return LinearOperatorToeplitz(in[0], in[1]);
  }).sample({x({3}, {4, 1, -1}), x({3}, {4, 0.5, 2}), x({3, 2})});
  operator_row("Householder", "Householder(x0)", 1, [](const List& in) {
    return LinearOperatorHouseholder(in[0]);
  }).sample({x({3}, {1, -2, 0.5}), x({3, 2})});
  operator_row("Permutation", "Permutation(x0, dtype=x1.dtype)", 1, [](const List& in) {
    return LinearOperatorPermutation(in[0], in[1].dtype());
  }).sample({i32({2, 0, 3, 1}), x({4, 2})});
  operator_row("Circulant", "Circulant(x0, input_output_dtype=x0.dtype)", 1, [](const List& in) {
    return LinearOperatorCirculant(in[0], in[0].dtype());
  }).sample({x({4}, {4, 1, 2, 1}), x({4, 2})});
  operator_row("Composition",
               "Composition([tf.linalg.LinearOperatorDiag(x0), tf.linalg.LinearOperatorFullMatrix("
               "x1)])",
               2,
               [](const List& in) {
                 return LinearOperatorComposition(
                     {LinearOperatorDiag(in[0]), LinearOperatorFullMatrix(in[1])});
               })
      .sample({x({3}, {1, -2, 0.5}), matrix(), x({3, 2})})
      .error({x({2}), matrix(), x({2, 2})}, {}, "as many rows as it has columns");
  operator_row("BlockDiag",
               "BlockDiag([tf.linalg.LinearOperatorDiag(x0), tf.linalg.LinearOperatorFullMatrix("
               "x1)])",
               2,
               [](const List& in) {
                 return LinearOperatorBlockDiag(
                     {LinearOperatorDiag(in[0]), LinearOperatorFullMatrix(in[1])});
               })
      .sample({x({2}, {1, -2}), matrix(), x({5, 2})});
  operator_row("Kronecker",
               "Kronecker([tf.linalg.LinearOperatorFullMatrix(x0), tf.linalg."
               "LinearOperatorFullMatrix(x1)])",
               2,
               [](const List& in) {
                 return LinearOperatorKronecker(
                     {LinearOperatorFullMatrix(in[0]), LinearOperatorFullMatrix(in[1])});
               })
      .sample({x({2, 2}, {1, -2, 0.5, 3}), matrix(), x({6, 2})})
      .tolerance(2e-5);
  operator_row("LowRankUpdate", "LowRankUpdate(tf.linalg.LinearOperatorDiag(x0), x1, x2, x3)", 4,
               [](const List& in) {
                 return LinearOperatorLowRankUpdate(LinearOperatorDiag(in[0]), in[1], in[2], in[3]);
               })
      .sample({x({4}, {3, 2, 4, 5}), x({4, 2}), x({2}, {1, 0.5}), x({4, 2}, -1, 1), x({4, 2})})
      .tolerance(3e-5)
      .error({x({4}), x({3, 2}), x({2}), x({4, 2}), x({4, 2})}, {}, "expected \\[.., m, n\\]");
  operator_row(
      "Inversion", "Inversion(tf.linalg.LinearOperatorFullMatrix(x0))", 1,
      [](const List& in) { return LinearOperatorInversion(LinearOperatorFullMatrix(in[0])); })
      .sample({matrix(), x({3, 2})});
  operator_row("Adjoint", "Adjoint(tf.linalg.LinearOperatorFullMatrix(x0))", 1, [](const List& in) {
    return LinearOperatorAdjoint(LinearOperatorFullMatrix(in[0]));
  }).sample({matrix(), x({3, 2})});
  row("linalg.LinearOperatorZeros")
      .call([](const List& in) {
        const LinearOperatorZeros op(2, 3, {.dtype = in[0].dtype()});
        return List{op.matmul(in[0]), op.to_dense(), op.adjoint().to_dense(),
                    op.add_to_tensor(in[1])};
      })
      .tf("(lambda op, x, y: [op.matmul(x), op.to_dense(), tf.transpose(op.to_dense()), "
          "op.add_to_tensor(y)])(tf.linalg.LinearOperatorZeros(2, 3, is_square=False, "
          "is_self_adjoint=False, dtype=x0.dtype), x0, x1)")
      .sample({x({3, 2}), x({2, 3})})
      .sizes_must_be_known("an operator knows its sizes");
  // Complex operators, and those that are made for positive definite ones.
  row("linalg.LinearOperator.complex")
      .call([](const List& in) {
        const Tensor a = complex(in[0], in[1]);
        const LinearOperatorFullMatrix full(a);
        const LinearOperatorDiag diagonal(a(0, all));
        const auto both = LinearOperatorKronecker({diagonal, full}).adjoint().to_dense();
        const Tensor turned =
            LinearOperatorCirculant(a(0, all), a.dtype()).matmul(a, {.adjoint = true});
        List out;
        for (const Tensor& t :
             {full.matmul(a, {.adjoint = true}), diagonal.solve(a, {.adjoint = true}), both, turned,
              LinearOperatorHouseholder(a(0, all)).matmul(a)})
          out.push_back(real(t)), out.push_back(imag(t));
        return out;
      })
      .tf("(lambda a: [p(t) for t in [tf.linalg.LinearOperatorFullMatrix(a).matmul(a, "
          "adjoint=True), tf.linalg.LinearOperatorDiag(a[0]).solve(a, adjoint=True), "
          "tf.linalg.adjoint(tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorDiag(a[0]),"
          " tf.linalg.LinearOperatorFullMatrix(a)]).to_dense()), "
          "tf.linalg.LinearOperatorCirculant(a[0], input_output_dtype=a.dtype).matmul(a, "
          "adjoint=True), tf.linalg.LinearOperatorHouseholder(a[0]).matmul(a)] for p in "
          "[tf.math.real, tf.math.imag]])(tf.complex(x0, x1))")
      .sample({x({3, 3}), x({3, 3}, 0.5, 2)})
      .tolerance(1e-5)
      .sizes_must_be_known("an operator knows its sizes");
  row("linalg.LinearOperator.cholesky")
      .call([](const List& in) {
        const OperatorHints sure{.is_self_adjoint = true, .is_positive_definite = true};
        const Tensor a =
            matmul(in[0], in[0], {.transpose_b = true}) + 3 * cast(eye(3), in[0].dtype());
        const LinearOperatorFullMatrix full(a, sure);
        const LinearOperatorDiag diagonal(linalg::diag_part(a), sure);
        const LinearOperatorBlockDiag blocks({full, diagonal});
        return List{full.cholesky().to_dense(),
                    diagonal.cholesky().to_dense(),
                    blocks.cholesky().to_dense(),
                    full.solve(in[0]),
                    full.cond(),
                    diagonal.cond(),
                    full.eigvals()};
      })
      .tf("(lambda f, d, x: [f.cholesky().to_dense(), d.cholesky().to_dense(), "
          "tf.linalg.LinearOperatorBlockDiag([f, d]).cholesky().to_dense(), f.solve(x), f.cond(), "
          "d.cond(), f.eigvals()])((lambda a, s: tf.linalg.LinearOperatorFullMatrix(a, **s))(tf."
          "matmul(x0, x0, transpose_b=True) + 3 * tf.eye(3, dtype=x0.dtype), "
          "dict(is_self_adjoint=True, is_positive_definite=True)), (lambda a, s: tf.linalg."
          "LinearOperatorDiag(tf.linalg.diag_part(a), **s))(tf.matmul(x0, x0, transpose_b=True) + "
          "3 * tf.eye(3, dtype=x0.dtype), dict(is_self_adjoint=True, is_positive_definite=True)), "
          "x0)")
      .sample({x({3, 3}, {4, 1, -1, 0.5, 3, 2, 1, -2, 5})})
      .tolerance(1e-5)
      .sizes_must_be_known("an operator knows its sizes");
}

}  // namespace rill::conformance
