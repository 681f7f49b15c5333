// Equations of matrices.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void require_rows(ShapeContext& c) {
  const TensorShape &a = c.input(0), &b = c.input(1);
  RILL_CHECK(a.dim(-2) < 0 || b.dim(-2) < 0 || a.dim(-2) == b.dim(-2), invalid_argument,
             "[{}] matrix has shape {}, rhs {}; expected as many rows", c.tag(), a, b);
}

// ---- solve
void solve_shape(ShapeContext& c) {
  const bool known = require_square(c, 0, "matrix") & require_matrices(c, 1, "rhs");
  if (!known) return c.set_output(0, c.input(1));
  require_rows(c);
  RILL_CHECK(batch_of(c.input(0)).is_compatible_with(batch_of(c.input(1))), invalid_argument,
             "[solve] matrix has shape {}, rhs {}; expected equal batches", c.input(0), c.input(1));
  c.set_output(0, c.input(1));
}
// x = a^-1 b: db = a'^-1 dx, da = -db x'
void solve_grad(GradContext& g) {
  const bool adjoint = g.bool_attr("adjoint");
  const Tensor db = linalg::solve(g.input(0), g.dy(), {.adjoint = !adjoint});
  if (g.needs(0))
    g.set(0, negative(adjoint ? product(g.output(), db, false, true)
                              : product(db, g.output(), false, true)));
  if (g.needs(1)) g.set(1, db);
}
const Op& solve_op = OpBuilder("MatrixSolve", "solve")
                         .input("matrix: T")
                         .input("rhs: T")
                         .output("output: T")
                         .attr("adjoint: bool = false")
                         .type("T", kMatrixTypes)
                         .doc("The x with matrix x = rhs, of square matrices that can be inverted.")
                         .shape(solve_shape)
                         .gradient(solve_grad, "matrix output")
                         .define();

// ---- triangular: the same, with batches that broadcast
void triangular_shape(ShapeContext& c) {
  const bool known = require_square(c, 0, "matrix") & require_matrices(c, 1, "rhs");
  if (!known) return unknown_shape(c);
  require_rows(c);
  const TensorShape batch = broadcast_shapes(batch_of(c.input(0)), batch_of(c.input(1)), c.tag());
  TensorShape out = batch;
  out.push_back(c.input(1).dim(-2)), out.push_back(c.input(1).dim(-1));
  c.set_output(0, out);
}
void triangular_grad(GradContext& g) {
  const bool adjoint = g.bool_attr("adjoint"), lower = g.bool_attr("lower");
  const Tensor db =
      linalg::triangular_solve(g.input(0), g.dy(), {.lower = lower, .adjoint = !adjoint});
  if (g.needs(0)) {
    const Tensor da = negative(adjoint ? product(g.output(), db, false, true)
                                       : product(db, g.output(), false, true));
    set_reduced(g, 0, lower ? linalg::band_part(da, -1, 0) : linalg::band_part(da, 0, -1));
  }
  if (g.needs(1)) set_reduced(g, 1, db);
}
const Op& triangular_op = OpBuilder("MatrixTriangularSolve", "triangular_solve")
                              .input("matrix: T")
                              .input("rhs: T")
                              .output("output: T")
                              .attr("lower: bool = true")
                              .attr("adjoint: bool = false")
                              .type("T", kMatrixTypes)
                              .doc(
                                  "The x with matrix x = rhs, of triangular matrices; the other "
                                  "triangle is not read. Batches broadcast.")
                              .shape(triangular_shape)
                              .gradient(triangular_grad, "matrix output")
                              .define();

// ---- inverse
void inverse_shape(ShapeContext& c) {
  require_square(c, 0, "input");
  unchanged_shape(c);
}
void inverse_grad(GradContext& g) {
  const Tensor& y = g.output();
  if (g.bool_attr("adjoint"))
    g.set(0, negative(product(y, product(g.dy(), y, true))));
  else
    g.set(0, negative(product(y, product(g.dy(), y, false, true), true)));
}
const Op& inverse_op = OpBuilder("MatrixInverse", "inv")
                           .input("input: T")
                           .output("output: T")
                           .attr("adjoint: bool = false")
                           .type("T", kMatrixTypes)
                           .doc("The inverses of square matrices, or of their adjoints.")
                           .shape(inverse_shape)
                           .gradient(inverse_grad, "output")
                           .define();

// ---- least squares, for graphs that come from elsewhere: the function itself becomes the ops
// that it is made of.
void lstsq_shape(ShapeContext& c) {
  const bool known = require_matrices(c, 0, "matrix") & require_matrices(c, 1, "rhs");
  require_rank(c, 2, 0, "l2_regularizer");
  if (!known) return unknown_shape(c);
  const TensorShape &a = c.input(0), &b = c.input(1);
  RILL_CHECK(a.rank() == b.rank(), invalid_argument,
             "[lstsq] matrix has shape {}, rhs {}; expected equal ranks and as many rows", a, b);
  require_rows(c);
  c.set_output(0, with_matrix(b, a.dim(-1), b.dim(-1)));
}
void lstsq_grad(GradContext& g) {
  const Tensor &a = g.input(0), &b = g.input(1), &x = g.output();
  const TensorShape& s = g.input_shape(0);
  RILL_CHECK(g.bool_attr("fast"), unimplemented,
             "[lstsq] MatrixSolveLs has no gradient with fast = false; tf::linalg::lstsq has one");
  RILL_CHECK(s.has_rank() && s.dim(-1) >= 0 && s.dim(-2) >= 0, unimplemented,
             "[lstsq] the gradient needs the sizes of the matrices, got shape {}", s);
  const bool tall = s.dim(-2) >= s.dim(-1);
  const Tensor gram = (tall ? product(a, a, true) : product(a, a, false, true)) +
                      cast(g.input(2), a.dtype()) * eye(std::min(s.dim(-1), s.dim(-2)), a.dtype());
  const Tensor l = linalg::cholesky(gram);
  if (tall) {  // x = (a'a)^-1 a'b; with z = (a'a)^-1 dx
    const Tensor z = linalg::cholesky_solve(l, g.dy()), az = product(a, z);
    g.set(1, az);
    if (g.needs(0))
      g.set(0, product(b - product(a, x), z, false, true) - product(az, x, false, true));
  } else {  // x = a'w, w = (aa')^-1 b; with v = (aa')^-1 a dx
    const Tensor v = linalg::cholesky_solve(l, product(a, g.dy()));
    g.set(1, v);
    if (g.needs(0))
      g.set(0, product(linalg::cholesky_solve(l, b), g.dy() - product(a, v, true), false, true) -
                   product(v, x, false, true));
  }
}
[[maybe_unused]] const Op& lstsq_op =
    OpBuilder("MatrixSolveLs", "lstsq")
        .input("matrix: T")
        .input("rhs: T")
        .input("l2_regularizer: float64")
        .output("output: T")
        .attr("fast: bool = true")
        .type("T", kMatrixTypes)
        .doc("The x of least |matrix x - rhs|^2 + l2_regularizer |x|^2.")
        .shape(lstsq_shape)
        .gradient(lstsq_grad, "matrix rhs l2_regularizer output")
        .host("l2_regularizer")
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          out[0] =
              linalg::lstsq(*in[0], *in[1],
                            {.l2_regularizer = in[2]->item<double>(), .fast = a.bool_attr("fast")});
        })
        .define();

}  // namespace

namespace linalg {

Tensor solve(const Operand& matrix, const Operand& rhs, AdjointOptions o) {
  const ArgPair p(matrix, rhs);
  return execute(solve_op, {p.first(), p.second()}, {{"adjoint", o.adjoint}});
}
Tensor triangular_solve(const Operand& matrix, const Operand& rhs, TriangularOptions o) {
  const ArgPair p(matrix, rhs);
  return execute(triangular_op, {p.first(), p.second()},
                 {{"lower", o.lower}, {"adjoint", o.adjoint}});
}
Tensor inv(const Operand& input, AdjointOptions o) {
  return execute(inverse_op, {Arg(input)}, {{"adjoint", o.adjoint}});
}

// Both ways are written with ops that have gradients.
Tensor lstsq(const Operand& matrix, const Operand& rhs, LstsqOptions o) {
  const ArgPair p(matrix, rhs);
  const Tensor &a = p.first(), &b = p.second();
  const TensorShape& s = a.shape();
  RILL_CHECK(s.rank() < 0 || s.rank() >= 2, invalid_argument,
             "[lstsq] matrix has shape {}; expected rank 2 or more", s);
  RILL_CHECK(!s.has_rank() || !b.shape().has_rank() ||
                 (b.shape().rank() == s.rank() &&
                  (b.shape().dim(-2) < 0 || s.dim(-2) < 0 || b.shape().dim(-2) == s.dim(-2))),
             invalid_argument,
             "[lstsq] matrix has shape {}, rhs {}; expected equal ranks and as many rows", s,
             b.shape());
  const bool known = s.has_rank() && s.dim(-1) >= 0 && s.dim(-2) >= 0;
  if (!o.fast) {  // v (u'b / s), without the values that are 0 except for rounding
    const Svd d = svd(a);
    const double eps = d.s.dtype() == float64 ? 0x1p-52 : 0x1p-23;
    const Tensor longest =
        known ? constant(static_cast<double>(std::max(s.dim(-1), s.dim(-2))), d.s.dtype())
              : cast(reduce_max(shape(a)(slice(-2, None))), d.s.dtype());
    const Tensor least = reduce_max(d.s, -1, {.keepdims = true}) * (longest * eps);
    const Tensor kept = greater(d.s, least),
                 inverse = where(kept, 1 / where(kept, d.s, ones_like(d.s)), zeros_like(d.s));
    return product(d.v * cast(expand_dims(inverse, -2), a.dtype()), product(d.u, b, true));
  }
  RILL_CHECK(known, unimplemented,
             "[lstsq] matrix has shape {}; the fast way needs to know while it is traced whether "
             "there are more rows or more columns. Write {{.fast = false}}",
             s);
  // a'a x = a'b, or x = a'(aa')^-1 b
  const bool tall = s.dim(-2) >= s.dim(-1);
  Tensor gram = tall ? product(a, a, true) : product(a, a, false, true);
  if (o.l2_regularizer != 0)
    gram = gram + cast(constant(o.l2_regularizer, float64), a.dtype()) *
                      eye(std::min(s.dim(-1), s.dim(-2)), a.dtype());
  const Tensor l = cholesky(gram);
  return tall ? cholesky_solve(l, product(a, b, true)) : product(a, cholesky_solve(l, b), true);
}

}  // namespace linalg
}  // namespace rill
