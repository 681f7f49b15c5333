#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void svd_shape(ShapeContext& c) {
  if (!require_matrices(c, 0, "input")) return unknown_shape(c);
  const TensorShape& in = c.input(0);
  const std::int64_t m = in.dim(-2), n = in.dim(-1), k = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.bool_attr("full_matrices");
  TensorShape s = batch_of(in);
  s.push_back(k);
  c.set_output(0, s);
  const TensorShape none(Dims{0});
  const bool vectors = c.bool_attr("compute_uv");
  c.set_output(1, vectors ? with_matrix(in, m, full ? m : k) : none);
  c.set_output(2, vectors ? with_matrix(in, n, full ? n : k) : none);
}

// Rows of numbers as the factors of columns (u diag(s)), or as those of rows.
Tensor on_columns(const Tensor& s) { return expand_dims(s, -2); }
Tensor on_rows(const Tensor& s) { return expand_dims(s, -1); }

// The part of a vector's gradient that lies outside the space of the vectors,
// over s: (du - u u'du) / s.
Tensor outside(const Tensor& u, const Tensor& du, const Tensor& s) {
  return divide_no_nan(du - product(u, product(u, du, true)), on_columns(s));
}

// With f[i, j] = 1 / (s[j]^2 - s[i]^2), 0 on the diagonal:
// u (ds + (f (u'du - du'u)) s + s (f (v'dv - dv'v))) v' + what lies outside.
void svd_grad(GradContext& g) {
  const Tensor &a = g.input(0), &ds = g.dy(0);
  if (!g.bool_attr("compute_uv")) {
    const linalg::Svd all = linalg::svd(a);
    return g.set(0, product(all.u * on_columns(ds), all.v, false, true));
  }
  const TensorShape& in = g.input_shape(0);
  RILL_CHECK(!a.dtype().is_complex(), unimplemented,
             "[svd] has no gradient for the vectors of complex matrices, got {}; singular values "
             "alone have one",
             a.dtype());
  RILL_CHECK(!g.bool_attr("full_matrices") ||
                 (in.has_rank() && in.dim(-1) >= 0 && in.dim(-1) == in.dim(-2)),
             unimplemented,
             "[svd] has no gradient for full_matrices that are not square, got shape {}", in);
  const Tensor &s = g.output(0), &u = g.output(1), &v = g.output(2), &du = g.dy(1), &dv = g.dy(2);
  const Tensor squares = square(s);
  const Tensor f = divide_no_nan(constant(1, s.dtype()), on_columns(squares) - on_rows(squares));
  const Tensor udu = product(u, du, true), vdv = product(v, dv, true);
  Tensor middle = (f * (udu - linalg::adjoint(udu))) * on_columns(s) +
                  on_rows(s) * (f * (vdv - linalg::adjoint(vdv)));
  middle = middle + linalg::diag(ds);
  Tensor da = product(product(u, middle), v, false, true);
  const bool known = in.has_rank() && in.dim(-1) >= 0 && in.dim(-2) >= 0;
  if (!known || in.dim(-2) != in.dim(-1)) {
    Tensor more = product(outside(u, du, s), v, false, true),
           yet_more = product(u, outside(v, dv, s), false, true);
    if (!known) {  // square ones have nothing outside, except for rounding
      const Tensor sizes = g.input_shape_tensor(0), square = equal(sizes[-1], sizes[-2]);
      more = where(square, zeros_like(more), more);
      yet_more = where(square, zeros_like(yet_more), yet_more);
    }
    da = da + more;
    da = da + yet_more;
  }
  g.set(0, da);
}

const Op& svd_op = OpBuilder("Svd", "svd")
                       .input("input: T")
                       .output("s: T")
                       .output("u: T")
                       .output("v: T")
                       .attr("compute_uv: bool = true")
                       .attr("full_matrices: bool = false")
                       .type("T", kMatrixTypes)
                       .doc(
                           "Singular values, the largest first, and vectors: input = u diag(s) v'. "
                           "Without compute_uv u and v are empty.")
                       .shape(svd_shape)
                       .gradient(svd_grad, "input s u v")
                       .define();

}  // namespace

namespace linalg {
Svd svd(const Operand& tensor, SvdOptions o) {
  auto out = execute_all(svd_op, {Arg(tensor)},
                         {{"compute_uv", o.compute_uv}, {"full_matrices", o.full_matrices}});
  if (!o.compute_uv) return {real(out[0]), {}, {}};
  return {real(out[0]), out[1], out[2]};
}
}  // namespace linalg

}  // namespace rill
