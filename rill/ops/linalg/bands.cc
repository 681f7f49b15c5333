// Matrices that are given by a few diagonals.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

// ---- tridiagonal
void tridiagonal_solve_shape(ShapeContext& c) {
  const TensorShape &d = c.input(0), &b = c.input(1);
  if (!(require_matrices(c, 0, "diagonals") & require_matrices(c, 1, "rhs")))
    return c.set_output(0, b);
  RILL_CHECK(d.dim(-2) < 0 || d.dim(-2) == 3, invalid_argument,
             "[{}] diagonals has shape {}; expected [.., 3, n]", c.tag(), d);
  RILL_CHECK(batch_of(d).is_compatible_with(batch_of(b)) &&
                 (d.dim(-1) < 0 || b.dim(-2) < 0 || d.dim(-1) == b.dim(-2)),
             invalid_argument,
             "[{}] diagonals has shape {}, rhs {}; expected [.., 3, n] and [.., n, k]", c.tag(), d,
             b);
  RILL_CHECK(!c.bool_attr("perturb_singular"), unimplemented,
             "[{}] perturb_singular is not implemented on the CPU, as in TensorFlow", c.tag());
  c.set_output(0, b);
}
// Rows moved up or down by one; zeros come in.
Tensor rows_up(const Tensor& x) {
  return concat({x(ellipsis, slice(1, None), all), zeros_like(x(ellipsis, slice(0, 1), all))}, -2);
}
Tensor rows_down(const Tensor& x) {
  return concat({zeros_like(x(ellipsis, slice(0, 1), all)), x(ellipsis, slice(0, -1), all)}, -2);
}
Tensor moved_left(const Tensor& x) {
  return concat({x(ellipsis, slice(1, None)), zeros_like(x(ellipsis, slice(0, 1)))}, -1);
}
Tensor moved_right(const Tensor& x) {
  return concat({zeros_like(x(ellipsis, slice(0, 1))), x(ellipsis, slice(0, -1))}, -1);
}
// The diagonals [.., 3, n] of the adjoint.
Tensor adjoint_diagonals(const Tensor& d) {
  const Tensor z = conj(d);
  return concat({moved_left(z(ellipsis, slice(2, 3), all)), z(ellipsis, slice(1, 2), all),
                 moved_right(z(ellipsis, slice(0, 1), all))},
                -2);
}
// The three diagonals of x y'.
Tensor three_diagonals(const Tensor& x, const Tensor& y) {
  const Tensor z = conj(y);
  return stack(
      {reduce_sum(x * rows_up(z), -1), reduce_sum(x * z, -1), reduce_sum(x * rows_down(z), -1)},
      -2);
}
const Op& tridiagonal_solve_of();
void tridiagonal_solve_grad(GradContext& g) {
  const Tensor db = execute(tridiagonal_solve_of(), {adjoint_diagonals(g.input(0)), g.dy()},
                            {{"partial_pivoting", g.bool_attr("partial_pivoting")}});
  if (g.needs(0)) g.set(0, negative(three_diagonals(db, g.output())));
  if (g.needs(1)) g.set(1, db);
}
const Op& tridiagonal_solve_op = OpBuilder("TridiagonalSolve", "tridiagonal_solve")
                                     .input("diagonals: T")
                                     .input("rhs: T")
                                     .output("output: T")
                                     .attr("partial_pivoting: bool = true")
                                     .attr("perturb_singular: bool = false")
                                     .type("T", kMatrixTypes)
                                     .doc(
                                         "The x with a x = rhs, a given by the diagonals above, "
                                         "on and below the main one.")
                                     .shape(tridiagonal_solve_shape)
                                     .gradient(tridiagonal_solve_grad, "diagonals output")
                                     .define();
const Op& tridiagonal_solve_of() { return tridiagonal_solve_op; }

void tridiagonal_product_shape(ShapeContext& c) {
  static constexpr const char* kNames[3] = {"superdiag", "maindiag", "subdiag"};
  const TensorShape& b = c.input(3);
  const bool known = require_matrices(c, 3, "rhs");
  for (int i = 0; i < 3; ++i) {
    const TensorShape& d = c.input(i);
    if (!require_matrices(c, i, kNames[i]) || !known) continue;
    RILL_CHECK(batch_of(d).is_compatible_with(batch_of(b)) && (d.dim(-2) < 0 || d.dim(-2) == 1) &&
                   (d.dim(-1) < 0 || b.dim(-2) < 0 || d.dim(-1) == b.dim(-2)),
               invalid_argument, "[{}] {} has shape {}, rhs {}; expected [.., 1, n] and [.., n, k]",
               c.tag(), kNames[i], d, b);
  }
  c.set_output(0, b);
}
void tridiagonal_product_grad(GradContext& g) {
  const Tensor &dy = g.dy(), &x = g.input(3);
  if (g.needs(0) || g.needs(1) || g.needs(2)) {
    const Tensor d = three_diagonals(dy, x);
    for (int i = 0; i < 3; ++i) g.set(i, d(ellipsis, slice(i, i + 1), all));
  }
  if (g.needs(3))
    g.set(3, rows_down(linalg::adjoint(g.input(0)) * dy) + linalg::adjoint(g.input(1)) * dy +
                 rows_up(linalg::adjoint(g.input(2)) * dy));
}
const Op& tridiagonal_product_op =
    OpBuilder("TridiagonalMatMul", "tridiagonal_matmul")
        .input("superdiag: T")
        .input("maindiag: T")
        .input("subdiag: T")
        .input("rhs: T")
        .output("output: T")
        .type("T", kMatrixTypes)
        .doc("a rhs, a given by three diagonals [.., 1, n].")
        .shape(tridiagonal_product_shape)
        .gradient(tridiagonal_product_grad, "superdiag maindiag subdiag rhs")
        .define();

// The diagonals as [.., 3, n].
Tensor compact(const TensorList& diagonals, const std::string& format, const char* tag) {
  if (format == "sequence") {
    RILL_CHECK(diagonals.size() == 3, invalid_argument,
               "[{}] expected 3 diagonals (above, on and below the main one), got {}", tag,
               diagonals.size());
    const Tensor &up = diagonals.tensors()[0], &mid = diagonals.tensors()[1],
                 &low = diagonals.tensors()[2];
    // The outer ones may have one element less.
    const auto whole = [&](const Tensor& d, bool left) {
      const TensorShape &s = d.shape(), &n = mid.shape();
      if (s.has_rank() && n.has_rank() && s.dim(-1) >= 0 && s.dim(-1) == n.dim(-1)) return d;
      RILL_CHECK(s.has_rank() && s.rank() > 0, unimplemented,
                 "[{}] the ranks of the diagonals must be known while they are traced", tag);
      const Tensor less = shape(mid)[-1] - shape(d)[-1], none = zeros_like(less);
      const Tensor last = left ? stack({less, none}) : stack({none, less});
      return pad(d, concat({zeros({s.rank() - 1, 2}, int32), expand_dims(last, 0)}, 0));
    };
    return stack({whole(up, false), mid, whole(low, true)}, -2);
  }
  RILL_CHECK(diagonals.size() == 1, invalid_argument,
             "[{}] got {} tensors of diagonals; expected one, or the format \"sequence\"", tag,
             diagonals.size());
  const Tensor& d = diagonals.tensors()[0];
  if (format == "compact") return d;
  RILL_CHECK(format == "matrix", invalid_argument,
             "[{}] diagonals_format is \"{}\"; expected \"compact\", \"sequence\" or \"matrix\"",
             tag, format);
  return linalg::diag_part(d, {.k = -1, .k_high = 1, .align = "LEFT_RIGHT"});
}

// ---- banded triangles
void banded_solve_shape(ShapeContext& c) {
  if (!(require_matrices(c, 0, "bands") & require_matrices(c, 1, "rhs"))) return unknown_shape(c);
  const TensorShape &a = c.input(0), &b = c.input(1);
  RILL_CHECK(a.dim(-1) < 0 || b.dim(-2) < 0 || a.dim(-1) == b.dim(-2), invalid_argument,
             "[{}] bands has shape {}, rhs {}; expected [.., bands, n] and [.., n, k]", c.tag(), a,
             b);
  RILL_CHECK(a.dim(-2) < 0 || (a.dim(-2) >= 1 && (a.dim(-1) < 0 || a.dim(-2) <= a.dim(-1))),
             invalid_argument, "[{}] bands has shape {}; expected 1 to n bands of n elements",
             c.tag(), a);
  TensorShape out = broadcast_shapes(batch_of(a), batch_of(b), c.tag());
  out.push_back(b.dim(-2)), out.push_back(b.dim(-1));
  c.set_output(0, out);
}
void banded_solve_grad(GradContext& g) {
  const bool adjoint = g.bool_attr("adjoint"), lower = g.bool_attr("lower");
  const Tensor db =
      linalg::banded_triangular_solve(g.input(0), g.dy(), {.lower = lower, .adjoint = !adjoint});
  if (g.needs(0)) {
    RILL_CHECK(g.input_shape(0).has_rank() && g.input_shape(0).dim(-2) >= 0, unimplemented,
               "[banded_triangular_solve] the number of bands must be known for a gradient");
    const int bands = static_cast<int>(g.input_shape(0).dim(-2));
    const Tensor da = negative(adjoint ? product(g.output(), db, false, true)
                                       : product(db, g.output(), false, true));
    set_reduced(g, 0,
                bands == 1 ? expand_dims(linalg::diag_part(da), -2)
                : lower
                    ? linalg::diag_part(da, {.k = 1 - bands, .k_high = 0, .align = "LEFT_RIGHT"})
                    : linalg::diag_part(da, {.k = 0, .k_high = bands - 1, .align = "LEFT_RIGHT"}));
  }
  if (g.needs(1)) set_reduced(g, 1, db);
}
const Op& banded_solve_op =
    OpBuilder("BandedTriangularSolve", "banded_triangular_solve")
        .input("matrix: T")
        .input("rhs: T")
        .output("output: T")
        .attr("lower: bool = true")
        .attr("adjoint: bool = false")
        .type("T", kMatrixTypes)
        .doc("The x with a x = rhs, a triangular and given by its diagonals. Batches broadcast.")
        .shape(banded_solve_shape)
        .gradient(banded_solve_grad, "matrix output")
        .define();

}  // namespace

namespace linalg {

Tensor tridiagonal_solve(const TensorList& diagonals, const Operand& rhs,
                         const TridiagonalSolveOptions& o) {
  const Tensor d = compact(diagonals, o.diagonals_format, "tridiagonal_solve");
  const Arg right(rhs, d.dtype());
  const bool vector =
      d.shape().has_rank() && right->shape().has_rank() && right->ndim() == d.ndim() - 1;
  RILL_CHECK(!vector || !o.transpose_rhs, invalid_argument,
             "[tridiagonal_solve] rhs has shape {}: a vector a matrix cannot be transposed",
             right->shape());
  Tensor b = o.conjugate_rhs ? conj(*right) : *right;
  if (vector)
    b = expand_dims(b, -1);
  else if (o.transpose_rhs)
    b = matrix_transpose(b);
  const Tensor x =
      execute(tridiagonal_solve_op, {d, b},
              {{"partial_pivoting", o.partial_pivoting}, {"perturb_singular", o.perturb_singular}});
  return vector ? squeeze(x, -1) : x;
}
Tensor tridiagonal_matmul(const TensorList& diagonals, const Operand& rhs,
                          const std::string& diagonals_format) {
  const Tensor d = compact(diagonals, diagonals_format, "tridiagonal_matmul");
  return execute(tridiagonal_product_op,
                 {d(ellipsis, slice(0, 1), all), d(ellipsis, slice(1, 2), all),
                  d(ellipsis, slice(2, 3), all), Arg(rhs, d.dtype())});
}
Tensor banded_triangular_solve(const Operand& bands, const Operand& rhs, TriangularOptions o) {
  const ArgPair p(bands, rhs);
  return execute(banded_solve_op, {p.first(), p.second()},
                 {{"lower", o.lower}, {"adjoint", o.adjoint}});
}

}  // namespace linalg
}  // namespace rill
