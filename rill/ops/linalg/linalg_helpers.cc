#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {

bool require_matrices(const ShapeContext& c, int i, std::string_view name) {
  const TensorShape& s = c.input(i);
  RILL_CHECK(!s.has_rank() || s.rank() >= 2, invalid_argument,
             "[{}] {} must have rank 2 or more, got shape {}", c.tag(), name, s);
  return s.has_rank();
}
bool require_square(const ShapeContext& c, int i, std::string_view name) {
  if (!require_matrices(c, i, name)) return false;
  const TensorShape& s = c.input(i);
  RILL_CHECK(s.dim(-1) < 0 || s.dim(-2) < 0 || s.dim(-1) == s.dim(-2), invalid_argument,
             "[{}] {} has shape {}; expected square matrices", c.tag(), name, s);
  return true;
}
TensorShape batch_of(const TensorShape& stack) {
  Dims dims = stack.dims();
  dims.pop_back(), dims.pop_back();
  return TensorShape(dims);
}
TensorShape with_matrix(const TensorShape& stack, std::int64_t rows, std::int64_t cols) {
  TensorShape out = batch_of(stack);
  out.push_back(rows), out.push_back(cols);
  return out;
}

Tensor product(const Tensor& a, const Tensor& b, bool adjoint_a, bool adjoint_b) {
  return matmul(adjoint_a ? conj(a) : a, adjoint_b ? conj(b) : b,
                {.transpose_a = adjoint_a, .transpose_b = adjoint_b});
}
Tensor per_matrix(const Tensor& t) { return expand_dims(expand_dims(t, -1), -1); }

}  // namespace rill
