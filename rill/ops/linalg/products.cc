// Transposes, vectors and traces of matrices.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void cross_shape(ShapeContext& c) {
  const TensorShape &a = c.input(0), &b = c.input(1);
  RILL_CHECK(a.is_compatible_with(b), invalid_argument,
             "[cross] a has shape {}, b {}; expected equal shapes", a, b);
  const TensorShape& s = a.has_rank() ? a : b;
  if (s.has_rank())
    RILL_CHECK(s.rank() >= 1 && (s.dim(-1) < 0 || s.dim(-1) == 3), invalid_argument,
               "[cross] a has shape {}; expected a last axis of size 3", s);
  c.set_output(0, s);
}
void cross_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, linalg::cross(g.input(1), g.dy()));
  if (g.needs(1)) g.set(1, linalg::cross(g.dy(), g.input(0)));
}
const Op& cross_op = OpBuilder("Cross", "cross")
                         .input("a: T")
                         .input("b: T")
                         .output("product: T")
                         .type("T", kRealTypes)
                         .doc("The cross products of vectors of 3 along the last axis.")
                         .shape(cross_shape)
                         .gradient(cross_grad, "a b")
                         .define();

}  // namespace

namespace linalg {

Tensor matrix_transpose(const Operand& a, bool conjugate) {
  const Arg x(a);
  if (!x->shape().has_rank()) {
    const Tensor n = rank(*x), last = stack({n - 1, n - 2});
    return transpose_by(conjugate ? conj(*x) : *x, concat({range(n - 2), last}, 0));
  }
  RILL_CHECK(x->shape().rank() >= 2, invalid_argument,
             "[matrix_transpose] a must have rank 2 or more, got shape {}", x->shape());
  std::vector<int> perm;
  for (int i = 0; i < x->ndim(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(conjugate ? conj(*x) : *x, perm);
}
Tensor adjoint(const Operand& matrix) { return matrix_transpose(matrix, true); }

Tensor matvec(const Operand& a, const Operand& b, MatvecOptions o) {
  const ArgPair p(a, b);
  const bool turned = o.transpose_a || o.adjoint_a;
  return squeeze(matmul(o.adjoint_a ? conj(p.first()) : p.first(), expand_dims(p.second(), -1),
                        {.transpose_a = turned}),
                 -1);
}

Tensor cross(const Operand& a, const Operand& b) { return binary(cross_op, a, b); }
Tensor trace(const Operand& x) { return reduce_sum(diag_part(x), -1); }

}  // namespace linalg
}  // namespace rill
