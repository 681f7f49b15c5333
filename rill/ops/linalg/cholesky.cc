#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void cholesky_shape(ShapeContext& c) {
  require_square(c, 0, "input");
  unchanged_shape(c);
}

// With p the lower triangle of l' dl, its diagonal halved: l'^-1 p l^-1, made
// symmetric, because only one triangle was read but both are the same numbers.
void cholesky_grad(GradContext& g) {
  const Tensor& l = g.output();
  const Tensor all = product(l, g.dy(), true);
  const Tensor p = linalg::band_part(linalg::set_diag(all, 0.5 * linalg::diag_part(all)), -1, 0);
  const Tensor left = linalg::triangular_solve(l, p, {.adjoint = true});
  const Tensor both =
      linalg::triangular_solve(l, linalg::adjoint(left), {.adjoint = true});  // its adjoint
  g.set(0, 0.5 * (both + linalg::adjoint(both)));
}
const Op& cholesky_op = OpBuilder("Cholesky", "cholesky")
                            .input("input: T")
                            .output("output: T")
                            .type("T", kMatrixTypes)
                            .doc(
                                "The lower triangular l with l l' = input, of positive definite "
                                "matrices, of which the lower triangle is read.")
                            .shape(cholesky_shape)
                            .gradient(cholesky_grad, "output")
                            .define();

}  // namespace

namespace linalg {
Tensor cholesky(const Operand& input) { return unary(cholesky_op, input); }
Tensor cholesky_solve(const Operand& chol, const Operand& rhs) {
  const ArgPair p(chol, rhs);
  return triangular_solve(p.first(), triangular_solve(p.first(), p.second()), {.adjoint = true});
}
Tensor logdet(const Operand& matrix) {
  return 2 * reduce_sum(log(real(diag_part(cholesky(matrix)))), -1);
}
}  // namespace linalg

}  // namespace rill
