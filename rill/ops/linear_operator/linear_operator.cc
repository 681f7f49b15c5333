// What all operators have: the checks of arguments, and what follows from the dense matrix.
#include <algorithm>

#include "rill/core/shape_inference.h"
#include "rill/ops/linear_operator/linear_operator_impl.h"

namespace rill::linalg {

TensorShape leading(const TensorShape& s, int n, std::string_view what) {
  RILL_CHECK(s.is_fully_defined(), unimplemented,
             "[LinearOperator] the shape of {}, {}, must be known", what, s);
  RILL_CHECK(s.rank() >= n, invalid_argument,
             "[LinearOperator] {} has shape {}; expected {} axes or more", what, s, n);
  Dims dims;
  for (int i = 0; i + n < s.rank(); ++i) dims.push_back(s.dim(i));
  return TensorShape(dims);
}
TensorShape with_matrix(const TensorShape& batch, std::int64_t rows, std::int64_t columns) {
  TensorShape s = batch;
  s.push_back(rows);
  s.push_back(columns);
  return s;
}
TensorShape common_batch(const TensorShape& a, const TensorShape& b, std::string_view what) {
  return broadcast_shapes(a, b, what);
}
Tensor with_batch(const Tensor& t, const TensorShape& batch, int n) {
  TensorShape want = batch;
  for (int i = n; i > 0; --i) want.push_back(t.shape().dim(-i));
  return t.shape() == want ? t : broadcast_to(t, want);
}

Tensor dense_solve(const Tensor& matrix, const Tensor& rhs, bool adjoint, bool positive_definite) {
  const TensorShape batch = common_batch(leading(matrix.shape(), 2, "the matrix"),
                                         leading(rhs.shape(), 2, "rhs"), "LinearOperator.solve");
  const Tensor a = with_batch(matrix, batch), b = with_batch(rhs, batch);
  if (positive_definite) return cholesky_solve(linalg::cholesky(a), b);
  return linalg::solve(a, b, {.adjoint = adjoint});
}

bool each_square(const LinearOperators& list) {
  return std::ranges::all_of(list, [](const LinearOperator& op) { return op.impl().square(); });
}
Tensor product_of_determinants(const LinearOperators& list) {
  Tensor y = list[0].determinant();
  for (std::size_t i = 1; i < list.size(); ++i) y = y * list[i].determinant();
  return y;
}
Tensor sum_of_log_determinants(const LinearOperators& list) {
  Tensor y = list[0].log_abs_determinant();
  for (std::size_t i = 1; i < list.size(); ++i) y = y + list[i].log_abs_determinant();
  return y;
}
OperatorHints hints_of_all(const LinearOperators& list, OperatorHints h) {
  const auto complete = [&](std::optional<bool>& hint,
                            std::optional<bool> (LinearOperator::*of)() const) {
    if (!hint && std::ranges::all_of(
                     list, [&](const LinearOperator& op) { return (op.*of)().value_or(false); }))
      hint = true;
  };
  complete(h.is_non_singular, &LinearOperator::is_non_singular);
  complete(h.is_self_adjoint, &LinearOperator::is_self_adjoint);
  complete(h.is_positive_definite, &LinearOperator::is_positive_definite);
  return h;
}

LinearOperatorImpl::LinearOperatorImpl(std::string_view operator_name, DType d, TensorShape s,
                                       OperatorHints h)
    : name(operator_name), dtype(d), shape(std::move(s)), hints([&] {
        RILL_CHECK(d.is_floating() || d.is_complex(), invalid_argument,
                   "[{}] the elements are {}; expected floating-point or complex numbers",
                   operator_name, d);
        const bool is_square = shape.dim(-1) == shape.dim(-2);
        RILL_CHECK(!h.is_square || *h.is_square == is_square, invalid_argument,
                   "[{}] is_square is {}, the shape {}", operator_name, *h.is_square, shape);
        if (h.is_positive_definite.value_or(false)) {
          RILL_CHECK(h.is_non_singular.value_or(true), invalid_argument,
                     "[{}] a positive definite operator is not singular", operator_name);
          h.is_non_singular = true;
        }
        const char* promised = h.is_non_singular.value_or(false)   ? "is_non_singular"
                               : h.is_self_adjoint.value_or(false) ? "is_self_adjoint"
                                                                   : nullptr;
        RILL_CHECK(is_square || !promised, invalid_argument,
                   "[{}] {} is promised of an operator of shape {}, which is not square",
                   operator_name, promised ? promised : "", shape);
        h.is_square = is_square;
        return h;
      }()) {}

void LinearOperatorImpl::require_square(const char* what) const {
  RILL_CHECK(square(), invalid_argument, "[{}] {} is of square operators; this one has shape {}",
             name, what, shape);
}

// ---- by the dense matrix
Tensor LinearOperatorImpl::solve(const Tensor& rhs, bool adjoint) const {
  return dense_solve(
      to_dense(), rhs, adjoint,
      hints.is_positive_definite.value_or(false) && hints.is_self_adjoint.value_or(false));
}
Tensor LinearOperatorImpl::to_dense() const { return matmul(cast(eye(columns()), dtype), false); }
Tensor LinearOperatorImpl::diag_part() const { return linalg::diag_part(to_dense()); }
Tensor LinearOperatorImpl::determinant() const { return det(to_dense()); }
Tensor LinearOperatorImpl::log_abs_determinant() const {
  return slogdet(to_dense()).log_abs_determinant;
}
Tensor LinearOperatorImpl::trace() const { return reduce_sum(diag_part(), -1); }
Tensor LinearOperatorImpl::cond() const {
  const Tensor s = svd(to_dense(), {.compute_uv = false}).s;
  return reduce_max(s, -1) / reduce_min(s, -1);
}
Tensor LinearOperatorImpl::eigvals() const {
  RILL_CHECK(hints.is_self_adjoint.value_or(false), unimplemented,
             "[{}] eigenvalues are of operators with the hint is_self_adjoint; use "
             "tf::linalg::eigvals(op.to_dense())",
             name);
  return eigvalsh(to_dense());
}
LinearOperator LinearOperatorImpl::adjoint(const LinearOperator& self) const {
  return LinearOperatorAdjoint(self);
}
LinearOperator LinearOperatorImpl::inverse(const LinearOperator& self) const {
  return LinearOperatorInversion(self);
}
LinearOperator LinearOperatorImpl::cholesky() const {
  return LinearOperatorLowerTriangular(linalg::cholesky(to_dense()), {.is_non_singular = true,
                                                                      .is_self_adjoint = {},
                                                                      .is_positive_definite = {},
                                                                      .is_square = true});
}
std::shared_ptr<const LinearOperatorImpl> LinearOperatorImpl::times(const LinearOperator&) const {
  return nullptr;
}

// ---- the handle
LinearOperator::LinearOperator(std::shared_ptr<const LinearOperatorImpl> impl)
    : impl_(std::move(impl)) {}
std::string_view LinearOperator::name() const { return impl_->name; }
DType LinearOperator::dtype() const { return impl_->dtype; }
TensorShape LinearOperator::shape() const { return impl_->shape; }
TensorShape LinearOperator::batch_shape() const { return leading(impl_->shape, 2, name()); }
std::int64_t LinearOperator::range_dimension() const { return impl_->rows(); }
std::int64_t LinearOperator::domain_dimension() const { return impl_->columns(); }
std::optional<bool> LinearOperator::is_non_singular() const { return impl_->hints.is_non_singular; }
std::optional<bool> LinearOperator::is_self_adjoint() const { return impl_->hints.is_self_adjoint; }
std::optional<bool> LinearOperator::is_positive_definite() const {
  return impl_->hints.is_positive_definite;
}
std::optional<bool> LinearOperator::is_square() const { return impl_->hints.is_square; }

namespace {

Tensor fitting(const LinearOperator& op, const Operand& x, bool adjoint_arg, std::int64_t size,
               const char* what) {
  Tensor t = to_tensor(x, x.is_literal() ? op.dtype() : DType());
  RILL_CHECK(t.dtype() == op.dtype(), invalid_argument,
             "[{}.{}] the operator is {}, the argument {}; write tf::cast(x, tf::{})", op.name(),
             what, op.dtype(), t.dtype(), op.dtype());
  if (adjoint_arg) t = linalg::adjoint(t);
  leading(t.shape(), 2, "the argument");
  RILL_CHECK(t.shape().dim(-2) == size, invalid_argument,
             "[{}.{}] the operator has shape {}, the argument {}; expected {} rows", op.name(),
             what, op.shape(), t.shape(), size);
  return t;
}
Tensor as_column(const LinearOperator& op, const Operand& x) {
  return expand_dims(to_tensor(x, x.is_literal() ? op.dtype() : DType()), -1);
}

}  // namespace

Tensor LinearOperator::matmul(const Operand& x, const OperatorProductOptions& o) const {
  const std::int64_t n = o.adjoint ? range_dimension() : domain_dimension();
  return impl_->matmul(fitting(*this, x, o.adjoint_arg, n, "matmul"), o.adjoint);
}
Tensor LinearOperator::matvec(const Operand& x, bool adjoint) const {
  return squeeze(matmul(as_column(*this, x), {.adjoint = adjoint}), -1);
}
Tensor LinearOperator::solve(const Operand& rhs, const OperatorProductOptions& o) const {
  impl_->require_square("solve");
  RILL_CHECK(is_non_singular().value_or(true), invalid_argument,
             "[{}.solve] the operator is singular, as its hint says", name());
  return impl_->solve(fitting(*this, rhs, o.adjoint_arg, range_dimension(), "solve"), o.adjoint);
}
Tensor LinearOperator::solvevec(const Operand& rhs, bool adjoint) const {
  return squeeze(solve(as_column(*this, rhs), {.adjoint = adjoint}), -1);
}
LinearOperator LinearOperator::matmul(const LinearOperator& right) const {
  RILL_CHECK(domain_dimension() == right.range_dimension(), invalid_argument,
             "[{}.matmul] the operators have shapes {} and {}; expected as many columns as rows",
             name(), shape(), right.shape());
  if (right.name() == "LinearOperatorIdentity" && right.tensor_rank() == 2) return *this;
  if (auto simple = impl_->times(right)) return LinearOperator(std::move(simple));
  return LinearOperatorComposition({*this, right});
}

Tensor LinearOperator::determinant() const {
  impl_->require_square("determinant");
  return impl_->determinant();
}
Tensor LinearOperator::log_abs_determinant() const {
  impl_->require_square("log_abs_determinant");
  return impl_->log_abs_determinant();
}
Tensor LinearOperator::to_dense() const { return with_batch(impl_->to_dense(), batch_shape()); }
Tensor LinearOperator::diag_part() const {
  return with_batch(impl_->diag_part(), batch_shape(), 1);
}
Tensor LinearOperator::trace() const { return impl_->trace(); }
Tensor LinearOperator::add_to_tensor(const Operand& x) const { return to_dense() + x; }
Tensor LinearOperator::cond() const {
  impl_->require_square("cond");
  return impl_->cond();
}
Tensor LinearOperator::eigvals() const {
  impl_->require_square("eigvals");
  return impl_->eigvals();
}
LinearOperator LinearOperator::adjoint() const {
  if (is_self_adjoint().value_or(false)) return *this;
  return impl_->adjoint(*this);
}
LinearOperator LinearOperator::inverse() const {
  impl_->require_square("inverse");
  RILL_CHECK(is_non_singular().value_or(true), invalid_argument,
             "[{}.inverse] the operator is singular, as its hint says", name());
  return impl_->inverse(*this);
}
LinearOperator LinearOperator::cholesky() const {
  RILL_CHECK(is_self_adjoint().value_or(false) && is_positive_definite().value_or(false),
             invalid_argument,
             "[{}.cholesky] expected the hints is_self_adjoint and is_positive_definite", name());
  return impl_->cholesky();
}

}  // namespace rill::linalg
