#include "rill/ops/linalg_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr TypeSet kTypes = kRealFloatTypes | kComplexTypes;
using List = std::vector<Tensor>;

// Positive definite matrices, made of any.
Tensor definite(const Tensor& a) {
  return linalg::matmul(a, linalg::adjoint(a)) + 2 * eye(shape(a)[-2], a.dtype());
}
const char* const kDefinite =
    "(lambda a: tf.matmul(a, a, adjoint_b=True) + 2 * tf.eye(a.shape[-2], dtype=a.dtype))(x0)";
// A square matrix with a large diagonal.
Input square(const TensorShape& batch, int n) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < batch.size(); ++i) count *= batch.dim(static_cast<int>(i));
  std::vector<double> v;
  for (std::int64_t i = 0; i < count * n * n; ++i)
    v.push_back((i / n % n == i % n ? 3 : 0) + static_cast<double>((i * i * 5 + i * 3) % 17) / 8 -
                1);
  TensorShape s = batch;
  s.push_back(n), s.push_back(n);
  return x(s, v);
}
// Complex matrices from their parts, for gradients by finite differences.
Tensor complex_of(const List& in) { return complex(in[0], in[1]); }
List parts(const List& out) {
  List list;
  for (const Tensor& t : out) list.push_back(real(t)), list.push_back(imag(t));
  return list;
}

// Everything on matrices larger than a block; the sums of rows and of columns.
List large(const List& in) {
  const Tensor i = cast(range(150), in[0].dtype());
  const Tensor a =
      sin(expand_dims(i, 1) * 0.375 + expand_dims(i, 0) * expand_dims(i, 0) * 0.125 + in[0]) +
      12 * eye(150, in[0].dtype());
  const Tensor s = linalg::matmul(a, a, {.transpose_b = true}) / 100, l = linalg::cholesky(s),
               thin = a(all, slice(0, 90));
  const auto [q, r] = linalg::qr(a);
  const auto [values, u, v] = linalg::svd(thin);
  List sums{l(all, 0), linalg::slogdet(a).log_abs_determinant, values};
  for (const Tensor& m :
       {linalg::inv(a), linalg::solve(a, s), linalg::solve(a, s, {.adjoint = true}), l,
        linalg::matmul(q, r), linalg::triangular_solve(l, a),
        linalg::triangular_solve(l, a, {.adjoint = true}),
        linalg::triangular_solve(a, a, {.lower = false}),
        linalg::matmul(u * values, v, {.transpose_b = true})})
    sums.push_back(reduce_sum(m, 0)), sums.push_back(reduce_sum(m, 1));
  return sums;
}

}  // namespace

RILL_ROWS(linalg) {
  const TensorShape none = TensorShape::scalar();
  row("Cross")
      .sample({x({3}), x({3})})
      .sample({x({2, 2, 3}), x({2, 2, 3})})
      .sample({x({0, 3}), x({0, 3})})
      .dtypes(kRealTypes)
      .error({x({3}), x({2, 3})}, {}, "a has shape \\[3\\], b \\[2, 3\\]; expected equal shapes")
      .error({x({2}), x({2})}, {}, "expected a last axis of size 3");
  row("linalg.shaping")
      .call([](const List& in) {
        return List{linalg::matrix_transpose(in[0]),
                    linalg::adjoint(in[0]),
                    linalg::trace(in[0]),
                    linalg::matvec(in[0], in[1]),
                    linalg::matvec(in[0], in[2], {.transpose_a = true}),
                    linalg::matvec(in[0], in[2], {.adjoint_a = true})};
      })
      .tf("[tf.linalg.matrix_transpose(x0), tf.linalg.adjoint(x0), tf.linalg.trace(x0), "
          "tf.linalg.matvec(x0, x1), tf.linalg.matvec(x0, x2, transpose_a=True), "
          "tf.linalg.matvec(x0, x2, adjoint_a=True)]")
      .sample({x({2, 3, 4}), x({2, 4}), x({2, 3})})
      .sample({x({2, 3}), x({3}), x({2})})
      .dtypes(kTypes)
      .tolerance(4e-6)
      .error({x({3}), x({3}), x({3})}, {}, "a must have rank 2 or more, got shape \\[3\\]");

  // Only one triangle is read, so the gradient is that of symmetric matrices: see cholesky.
  row("Cholesky")
      .sample({fixed(square(none, 1))})
      .sample({fixed(x({2, 3, 3}, {4, 0, 0, 1, 5, 0, 2, 1, 6, 3, 9, 9, 0.5, 3, 9, 1, -1, 4}))})
      .sample({fixed(x({0, 2, 2}))})
      .sample({fixed(x({2, 0, 0}))})
      .dtypes(kRealFloatTypes)
      .tolerance(4e-6)
      .error({x({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1})}, {},
             "matrix 1 of the input is not positive definite")
      .error({x({2, 3})}, {}, "input has shape \\[2, 3\\]; expected square matrices")
      .error({x({3})}, {}, "input must have rank 2 or more, got shape \\[3\\]");
  row("cholesky")
      .call([](const List& in) {
        const Tensor a = definite(in[0]), l = linalg::cholesky(a);
        return List{l, linalg::logdet(a), linalg::cholesky_solve(l, in[1])};
      })
      .tf(std::string("(lambda a, b: [tf.linalg.cholesky(a), tf.linalg.logdet(a), "
                      "tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b)])(") +
          kDefinite + ", x1)")
      .sample({x({3, 4}), x({3, 2})})
      .sample({x({2, 2, 3}), x({2, 2, 1})})
      .dtypes(kTypes)
      .tolerance(1e-5);

  row("MatrixSolve")
      .sample({square(none, 3), x({3, 2})})
      .sample({square({2}, 2), x({2, 2, 1})}, {{"adjoint", true}})
      .sample({x({3, 3}, {0, 1, 2, 3, 0, 1, 1, 2, 0}), x({3, 1})})
      .sample({x({0, 2, 2}), x({0, 2, 1})})
      .sample({square(none, 2), x({2, 0})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .error({x({2, 2}, {1, 2, 2, 4}), x({2, 1})}, {}, "matrix 0 of the input is not invertible")
      .error({square(none, 2), x({3, 1})}, {},
             "matrix has shape \\[2, 2\\], rhs \\[3, 1\\]; expected as many rows")
      .error({square({2}, 2), x({2, 1})}, {}, "expected equal batches")
      .error({x({2, 3}), x({2, 1})}, {}, "matrix has shape \\[2, 3\\]; expected square matrices");
  row("MatrixTriangularSolve")
      .sample({square(none, 3), x({3, 2})})
      .sample({square(none, 3), x({3, 2})}, {{"lower", false}})
      .sample({square({2}, 2), x({2, 2, 1})}, {{"adjoint", true}})
      .sample({square({2}, 2), x({2, 2, 1})}, {{"lower", false}, {"adjoint", true}})
      .sample({square({2, 1}, 2), x({3, 2, 1})})
      .sample({square(none, 2), x({3, 2, 1})})
      .sample({square({3}, 2), x({2, 2})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .error({x({2, 2}, {1, 2, 2, 0}), x({2, 1})}, {}, "matrix 0 of the input is not invertible")
      .error({square(none, 2), x({3, 1})}, {}, "expected as many rows")
      .error({square({2}, 2), x({3, 2, 1})}, {}, "cannot be broadcast");
  row("MatrixInverse")
      .sample({square(none, 3)})
      .sample({square({2}, 2)}, {{"adjoint", true}})
      .sample({square(none, 1)})
      .sample({x({2, 0, 0})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .error({x({1, 2, 2}, {1, 2, 2, 4})}, {}, "matrix 0 of the input is not invertible")
      .error({x({2, 3})}, {}, "expected square matrices");
  for (const char* name : {"MatrixDeterminant", "LogMatrixDeterminant"})
    row(name)
        .sample({square(none, 3)})
        .sample({square({2, 2}, 2)})
        .sample({x({2, 2}, {0, 1, 1, 0})})
        .sample({x({2, 0, 0})})
        .sample({fixed(x({2, 2}, {1, 2, 2, 4}))})
        .dtypes(kTypes)
        .tolerance(1e-5)
        .error({x({2, 3})}, {}, "input has shape \\[2, 3\\]; expected square matrices");
  row("linalg.equations")
      .call([](const List& in) {
        const auto [sign, log] = linalg::slogdet(in[0]);
        return List{linalg::solve(in[0], in[1]),
                    linalg::solve(in[0], in[1], {.adjoint = true}),
                    linalg::inv(in[0]),
                    linalg::inv(in[0], {.adjoint = true}),
                    linalg::det(in[0]),
                    sign,
                    log,
                    linalg::triangular_solve(in[0], in[1], {.lower = false, .adjoint = true})};
      })
      .tf("[tf.linalg.solve(x0, x1), tf.linalg.solve(x0, x1, adjoint=True), tf.linalg.inv(x0), "
          "tf.linalg.inv(x0, True), tf.linalg.det(x0), *tf.linalg.slogdet(x0), "
          "tf.linalg.triangular_solve(x0, x1, lower=False, adjoint=True)]")
      .sample({square(none, 2), x({2, 2})})
      .tolerance(1e-5);
  row("MatrixSolveLs")
      .sizes_must_be_known("its gradient differs for tall and wide matrices")
      .sample({x({4, 2}), x({4, 1}), fixed(values(float64, {}, {0}))})
      .sample({x({2, 2, 4}), x({2, 2, 2}), fixed(values(float64, {}, {0.5}))})
      .sample({x({2, 4, 2}), x({2, 4, 3}), fixed(values(float64, {}, {0.25}))})
      .sample({fixed(x({4, 2})), fixed(x({4, 1})), fixed(values(float64, {}, {0}))},
              {{"fast", false}})
      .dtypes({float32, float64, complex64})
      .tolerance(2e-5)
      .error({x({4, 2}), x({3, 1}), values(float64, {}, {0})}, {}, "expected as many rows");
  row("lstsq")
      .sizes_must_be_known("the fast way differs for tall and wide matrices")
      .call([](const List& in) {
        return List{linalg::lstsq(in[0], in[1]),
                    linalg::lstsq(in[0], in[1], {.l2_regularizer = 0.5}),
                    linalg::lstsq(in[0], in[1], {.fast = false})};
      })
      .tf("[tf.linalg.lstsq(x0, x1), tf.linalg.lstsq(x0, x1, 0.5), tf.linalg.lstsq(x0, x1, "
          "fast=False)]")
      .sample({x({4, 2}), x({4, 1})})
      .sample({x({2, 2, 4}), x({2, 2, 2})})
      .dtypes({float32, float64, complex64})
      .tolerance(2e-5)
      .error({x({4, 2}), x({3, 1})}, {}, "expected equal ranks and as many rows");
  row("lstsq_low_rank")
      .call([](const List& in) { return List{linalg::lstsq(in[0], in[1], {.fast = false})}; })
      .tf("tf.linalg.lstsq(x0, x1, fast=False)")
      .sample({x({3, 2}, {1, 2, 2, 4, 3, 6}), x({3, 1})})
      .tolerance(1e-5)
      .no_gradient_check("the rank changes beside it");

  // Signs of columns are free: what is unique is compared in qr and svd.
  row("Qr")
      .sizes_must_be_known("the gradient of full_matrices")
      .sample({x({3, 3})})
      .sample({x({4, 2})})
      .sample({x({2, 4})})
      .sample({x({2, 3, 2})})
      .sample({x({2, 3})}, {{"full_matrices", true}})
      .sample({fixed(x({3, 2}))}, {{"full_matrices", true}})
      .sample({x({1, 1}, std::vector<double>{-2})})
      .sample({x({0, 2})}, {{"full_matrices", true}})
      .sample({x({2, 0})}, {{"full_matrices", true}})
      .dtypes(kTypes)
      .not_in_tensorflow("signs are free")
      .error({x({3})}, {}, "input must have rank 2 or more");
  row("qr")
      .call([](const List& in) {
        const auto [q, r] = linalg::qr(in[0]);
        const auto [fq, fr] = linalg::qr(in[0], {.full_matrices = true});
        return List{linalg::matmul(q, r),
                    linalg::matmul(linalg::adjoint(q), q),
                    abs(linalg::diag_part(r)),
                    abs(q),
                    abs(r),
                    linalg::matmul(fq, fr),
                    linalg::matmul(linalg::adjoint(fq), fq),
                    linalg::band_part(fr, -1, 0) - linalg::band_part(fr, 0, 0)};
      })
      .tf("(lambda a, b: [a[0] @ a[1], tf.matmul(a[0], a[0], adjoint_a=True), "
          "abs(tf.linalg.diag_part(a[1])), abs(a[0]), abs(a[1]), b[0] @ b[1], "
          "tf.matmul(b[0], b[0], adjoint_a=True), tf.linalg.band_part(b[1], -1, 0) - "
          "tf.linalg.band_part(b[1], 0, 0)])(tf.linalg.qr(x0), tf.linalg.qr(x0, "
          "full_matrices=True))")
      .sample({x({3, 3})})
      .sample({x({4, 2})})
      .sample({x({2, 2, 3})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .no_gradient_check("Qr has it");
  row("qr_complex")
      .call([](const List& in) {
        const auto [q, r] = linalg::qr(complex_of(in));
        return parts({q, r});
      })
      .sample({x({3, 3}), x({3, 3})})
      .sample({x({3, 2}), x({3, 2})})
      .sample({x({2, 3}), x({2, 3})})
      .dtypes({float64})
      .not_in_tensorflow("signs are free");

  row("Svd")
      .sizes_must_be_known("the gradient of full_matrices")
      .sample({x({3, 3})})
      .sample({x({4, 2})})
      .sample({x({2, 4})})
      .sample({x({2, 3, 2})}, {{"compute_uv", false}})
      .sample({x({3, 3})}, {{"full_matrices", true}})
      .sample({fixed(x({3, 2}))}, {{"full_matrices", true}})
      .sample({x({1, 1}, std::vector<double>{-2})})
      .sample({x({0, 2})}, {{"full_matrices", true}})
      .dtypes(kTypes)
      .not_in_tensorflow("signs are free")
      .error({x({3})}, {}, "input must have rank 2 or more");
  row("svd")
      .call([](const List& in) {
        const auto [s, u, v] = linalg::svd(in[0]);
        const auto [fs, fu, fv] = linalg::svd(in[0], {.full_matrices = true});
        const Tensor middle = linalg::diag(cast(s, in[0].dtype()));
        return List{s,
                    linalg::svd(in[0], {.compute_uv = false}).s,
                    abs(u),
                    abs(v),
                    linalg::matmul(linalg::matmul(u, middle), linalg::adjoint(v)),
                    fs,
                    linalg::matmul(fu, linalg::adjoint(fu)),
                    linalg::matmul(linalg::adjoint(fv), fv)};
      })
      .tf("(lambda a, b, x: [a[0], tf.linalg.svd(x, compute_uv=False), abs(a[1]), abs(a[2]), a[1] "
          "@ tf.linalg.diag(tf.cast(a[0], x.dtype)) @ tf.linalg.adjoint(a[2]), b[0], "
          "tf.matmul(b[1], b[1], adjoint_b=True), tf.matmul(b[2], b[2], "
          "adjoint_a=True)])(tf.linalg.svd(x0), tf.linalg.svd(x0, full_matrices=True), x0)")
      .sample({x({3, 3})})
      .sample({x({4, 2})})
      .sample({x({2, 2, 3})})
      .sample({x({3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .no_gradient_check("Svd has it");
  row("svd_values")
      .call([](const List& in) {
        return List{linalg::svd(in[0], {.compute_uv = false}).s,
                    norm(in[0], {.ord = 2, .axis = {-2, -1}}),
                    norm(in[0], {.ord = 2, .axis = {0, 1}, .keepdims = true})};
      })
      .tf("[tf.linalg.svd(x0, compute_uv=False), tf.norm(x0, 2, (-2, -1)), tf.norm(x0, 2, (0, 1), "
          "keepdims=True)]")
      .sample({x({3, 3})})
      .sample({x({2, 3, 2})})
      .sample({x({2, 2}, {0, 0, 0, 0})})
      .sample({x({3, 3}, {0, 1, 0, 0, 0, 1, 0, 0, 0})})
      .sample({x({2, 2}, {1, 0, 0, 1})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .no_gradient_check("Svd has it; equal values have none");
  // The vectors of complex matrices have free phases.
  row("SelfAdjointEigV2")
      .sample({square(none, 3)})
      .sample({square({2}, 4)}, {{"compute_v", false}})
      .sample({square(none, 1)})
      .sample({x({2, 0, 0})})
      .sample({fixed(x({3, 3}, {2, 9, 9, 0, 1, 9, 0, 0, 2}))})
      .dtypes(kTypes)
      .not_in_tensorflow("signs are free")
      .error({x({2, 3})}, {}, "input has shape \\[2, 3\\]; expected square matrices");
  row("eigh")
      .call([](const List& in) {
        const Tensor a = definite(in[0]);
        const auto [e, v] = linalg::eigh(a);
        return List{e, linalg::eigvalsh(a), abs(v),
                    linalg::matmul(v * cast(expand_dims(e, -2), v.dtype()), linalg::adjoint(v)),
                    linalg::matmul(linalg::adjoint(v), v)};
      })
      .tf(std::string("(lambda a: [tf.math.real(tf.linalg.eigh(a)[0]), "
                      "tf.math.real(tf.linalg.eigvalsh(a)), abs(tf.linalg.eigh(a)[1]), a, "
                      "tf.eye(a.shape[-1], batch_shape=a.shape[:-2], dtype=a.dtype)])(") +
          kDefinite + ")")
      .sample({x({3, 3})})
      .sample({x({2, 2, 3})})
      .sample({x({5, 5})})
      .dtypes(kTypes)
      .tolerance(1e-5)
      .no_gradient_check("SelfAdjointEigV2 has it");
  row("linalg.by_values")
      .call([](const List& in) {
        return List{linalg::pinv(in[0]), linalg::matrix_rank(in[0]),
                    linalg::matrix_rank(in[0], {.tol = 2.5}), linalg::normalize(in[0]).normalized,
                    linalg::normalize(in[0], {.ord = 1, .axis = {-1}}).norm};
      })
      .tf("[tf.linalg.pinv(x0), tf.linalg.matrix_rank(x0), tf.linalg.matrix_rank(x0, 2.5), "
          "tf.linalg.normalize(x0)[0], tf.linalg.normalize(x0, 1, -1)[1]]")
      .sample({x({3, 2})})
      .sample({x({2, 2, 3})})
      .sample({fixed(x({3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1}))})
      .tolerance(1e-5);
  row("linalg_complex")
      .call([](const List& in) {
        const Tensor a = complex_of(in), b = linalg::solve(a, a(ellipsis, slice(0, 1)));
        return parts({linalg::cholesky(definite(a)), b, linalg::inv(a),
                      linalg::inv(a, {.adjoint = true}), linalg::det(a),
                      linalg::slogdet(a).log_abs_determinant,
                      linalg::triangular_solve(a, a, {.lower = false}),
                      linalg::svd(a, {.compute_uv = false}).s, linalg::eigvalsh(a),
                      square(abs(linalg::eigh(a).v))});
      })
      .sample({square(none, 3), x({3, 3})})
      .dtypes({float64})
      .first_order()
      .not_in_tensorflow("gradients of complex matrices; their values are compared above");
  row("linalg_large_float32")
      .call(large)
      .sample({x({}, std::vector<double>{0.5})})
      .dtypes({float32})
      .not_in_tensorflow("for the same bits at every width; linalg_large has the values")
      .no_gradient_check("float32");
  row("linalg_large")
      .call(large)
      .tf("(lambda a: (lambda s, l: [l[:, 0], tf.linalg.slogdet(a)[1], tf.linalg.svd(a[:, :90], "
          "compute_uv=False)] + [tf.reduce_sum(m, k) for m in [tf.linalg.inv(a), "
          "tf.linalg.solve(a, s), tf.linalg.solve(a, s, adjoint=True), l, a, "
          "tf.linalg.triangular_solve(l, a), tf.linalg.triangular_solve(l, a, adjoint=True), "
          "tf.linalg.triangular_solve(a, a, lower=False), a[:, :90]] for k in (0, "
          "1)])(tf.matmul(a, a, transpose_b=True) / 100, tf.linalg.cholesky(tf.matmul(a, a, "
          "transpose_b=True) / 100)))"
          "((lambda i, x0: tf.sin(i[:, None] * 0.375 + i[None] * i[None] * 0.125 + x0) + 12 * "
          "tf.eye(150, dtype=x0.dtype))(tf.cast(tf.range(150), x0.dtype), x0))")
      .sample({x({}, std::vector<double>{0.5})})
      .dtypes({float64})
      .tolerance(4e-6)
      .no_gradient_check("finite differences of large matrices take long");
}

}  // namespace rill::conformance
