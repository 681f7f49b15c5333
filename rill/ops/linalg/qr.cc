#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void qr_shape(ShapeContext& c) {
  if (!require_matrices(c, 0, "input")) return unknown_shape(c);
  const TensorShape& in = c.input(0);
  const std::int64_t m = in.dim(-2), n = in.dim(-1), k = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.bool_attr("full_matrices");
  c.set_output(0, with_matrix(in, m, full ? m : k));
  c.set_output(1, with_matrix(in, full ? m : k, n));
}

// x r'^-1, of an upper triangular r.
Tensor over_adjoint(const Tensor& x, const Tensor& r) {
  return linalg::adjoint(linalg::triangular_solve(r, linalg::adjoint(x), {.lower = false}));
}

// Of matrices with no more columns than rows. With s the lower triangle of
// (q'dq + r dr') minus its adjoint: q (dr + s r'^-1) + (dq - q q'dq) r'^-1.
Tensor tall_grad(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor qdq = product(q, dq, true), rdr = product(r, dr, false, true);
  const Tensor off = qdq - linalg::adjoint(qdq) + rdr - linalg::adjoint(rdr);
  Tensor s = linalg::band_part(off, -1, 0);
  if (q.dtype().is_complex())
    s = s - linalg::diag(0.5 * linalg::diag_part(off));  // r's diagonal is real
  return product(q, dr + over_adjoint(s, r)) + over_adjoint(dq - product(q, qdq), r);
}

// The columns before `at`, or those from it on.
Tensor columns(const Tensor& t, const Tensor& at, bool before) {
  const Tensor zero = zeros_like(at), limit = stack({zero, at}), none = stack({zero, zero});
  return strided_slice(
      t, before ? none : limit, before ? limit : none, constant({1, 1}),
      {.begin_mask = before ? 2 : 0, .end_mask = before ? 0 : 2, .ellipsis_mask = 1});
}

void qr_grad(GradContext& g) {
  const TensorShape& in = g.input_shape(0);
  const bool known = in.has_rank() && in.dim(-2) >= 0 && in.dim(-1) >= 0;
  const std::int64_t m = known ? in.dim(-2) : -1, n = known ? in.dim(-1) : -1;
  RILL_CHECK(known || !g.bool_attr("full_matrices"), unimplemented,
             "[qr] the gradient of full_matrices needs the sizes of the matrices, got shape {}",
             in);
  RILL_CHECK(m <= n || !g.bool_attr("full_matrices"), unimplemented,
             "[qr] has no gradient for full_matrices of more rows than columns, got shape {}", in);
  const Tensor &q = g.output(0), &r = g.output(1), &dq = g.dy(0), &dr = g.dy(1);
  if (known && m >= n) return g.set(0, tall_grad(q, r, dq, dr));
  // [a1 | a2] = q [r1 | r2]: r2 = q'a2 gives gradients to q and to a2. Of tall matrices, where
  // sizes are not known, a2 is empty.
  const Tensor rows = known ? Tensor() : g.input_shape_tensor(0)[-2];
  auto left = [&](const Tensor& t) {
    return known ? t(ellipsis, slice(None, m)) : columns(t, rows, true);
  };
  auto right = [&](const Tensor& t) {
    return known ? t(ellipsis, slice(m, None)) : columns(t, rows, false);
  };
  const Tensor more = product(right(g.input(0)), right(dr), false, true);
  g.set(0, concat({tall_grad(q, left(r), dq + more, left(dr)), product(q, right(dr))}, -1));
}

const Op& qr_op = OpBuilder("Qr", "qr")
                      .input("input: T")
                      .output("q: T")
                      .output("r: T")
                      .attr("full_matrices: bool = false")
                      .type("T", kMatrixTypes)
                      .doc("q with orthonormal columns and r upper triangular with q r = input.")
                      .shape(qr_shape)
                      .gradient(qr_grad, "input q r")
                      .define();

}  // namespace

namespace linalg {
Qr qr(const Operand& input, QrOptions o) {
  auto out = execute_all(qr_op, {Arg(input)}, {{"full_matrices", o.full_matrices}});
  return {out[0], out[1]};
}
}  // namespace linalg

}  // namespace rill
