// The LU decomposition and what is made with it.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void lu_shape(ShapeContext& c) {
  if (!require_square(c, 0, "input")) return unknown_shape(c);
  const TensorShape& in = c.input(0);
  TensorShape p = batch_of(in);
  p.push_back(in.dim(-1) < 0 ? in.dim(-2) : in.dim(-1));
  c.set_output(0, in), c.set_output(1, p);
}

Tensor unit_lower(const Tensor& lu) {
  return linalg::set_diag(linalg::band_part(lu, -1, 0), ones_like(linalg::diag_part(lu)));
}
Tensor upper(const Tensor& lu) { return linalg::band_part(lu, 0, -1); }
// Rows of the matrices m in the order p [.., n].
Tensor rows_at(const Tensor& m, const Tensor& p, const char* tag) {
  RILL_CHECK(p.shape().has_rank(), unimplemented,
             "[{}] the rank of perm must be known while it is traced", tag);
  RILL_CHECK(p.ndim() >= 1 && (!m.shape().has_rank() || m.ndim() == p.ndim() + 1), invalid_argument,
             "[{}] perm has shape {}, the matrices {}; expected one axis less", tag, p.shape(),
             m.shape());
  const int batch = p.ndim() - 1;
  return gather(m, p, {.axis = batch, .batch_dims = batch});
}

// And back.
Tensor rows_back(const Tensor& m, const Tensor& p, const char* tag) {
  return rows_at(m, p.shape().has_rank() ? argsort(p) : p, tag);
}

// p a = l u: da = p' l'^-1 (lower(l' dl) + upper(du u')) u'^-1, the first without its diagonal.
void lu_grad(GradContext& g) {
  const Tensor &lu = g.output(0), l = unit_lower(lu), u = upper(lu);
  const Tensor dl = linalg::band_part(g.dy(0), -1, 0) - linalg::band_part(g.dy(0), 0, 0);
  const Tensor left = product(l, dl, true),
               below = linalg::band_part(left, -1, 0) - linalg::band_part(left, 0, 0),
               both = below + upper(product(upper(g.dy(0)), u, false, true));
  const Tensor solved = linalg::triangular_solve(l, both, {.adjoint = true});
  const Tensor all =
      linalg::adjoint(linalg::triangular_solve(u, linalg::adjoint(solved), {.lower = false}));
  g.set(0, rows_back(all, g.output(1), "lu"));
}
const Op& lu_op = OpBuilder("Lu", "lu")
                      .input("input: T")
                      .output("lu: T")
                      .output("p: output_idx_type")
                      .type("T", kMatrixTypes)
                      .type("output_idx_type", kIndexTypes, int32)
                      .doc(
                          "l (with a diagonal of ones, which is not stored) and u in one matrix, "
                          "and the rows of the input that they make.")
                      .shape(lu_shape)
                      .gradient(lu_grad, "lu p")
                      .define();

}  // namespace

namespace linalg {

Lu lu(const Operand& input, DType output_idx_type) {
  auto out = execute_all(lu_op, {Arg(input)}, {{"output_idx_type", output_idx_type}});
  return {out[0], out[1]};
}
Tensor lu_reconstruct(const Operand& lower_upper, const Operand& perm) {
  const Arg a(lower_upper), p(perm);
  return rows_back(product(unit_lower(*a), upper(*a)), *p, "lu_reconstruct");
}
Tensor lu_solve(const Operand& lower_upper, const Operand& perm, const Operand& rhs) {
  const ArgPair both(lower_upper, rhs);
  const Arg p(perm);
  const Tensor turned = rows_at(both.second(), *p, "lu_solve");
  // The diagonal of ones is written, since the triangle is divided by it.
  return triangular_solve(both.first(), triangular_solve(unit_lower(both.first()), turned),
                          {.lower = false});
}
Tensor lu_matrix_inverse(const Operand& lower_upper, const Operand& perm) {
  const Arg a(lower_upper);
  const Tensor one = set_diag(zeros_like(*a), ones_like(diag_part(*a)));
  return lu_solve(*a, perm, one);
}

}  // namespace linalg
}  // namespace rill
