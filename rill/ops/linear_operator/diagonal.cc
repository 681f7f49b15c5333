// Operators of a diagonal: any one, a multiple of the unit matrix, zeros.
#include "rill/ops/linear_operator/linear_operator_impl.h"

namespace rill::linalg {
namespace {

Tensor conjugated(const Tensor& t, bool yes) { return yes ? conj(t) : t; }
constexpr OperatorHints kSquare{.is_square = true};
OperatorHints real_is_self_adjoint(OperatorHints h, DType d) {
  if (!d.is_complex()) h.is_self_adjoint = true;
  return h;
}

class DiagImpl final : public LinearOperatorImpl {
 public:
  DiagImpl(const Tensor& diagonal, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorDiag", diagonal.dtype(),
                           with_matrix(leading(diagonal.shape(), 1, "diag"),
                                       diagonal.shape().dim(-1), diagonal.shape().dim(-1)),
                           real_is_self_adjoint(h, diagonal.dtype())),
        d(diagonal) {}
  Tensor column(bool adjoint) const { return expand_dims(conjugated(d, adjoint), -1); }
  Tensor matmul(const Tensor& x, bool adjoint) const override { return column(adjoint) * x; }
  Tensor solve(const Tensor& rhs, bool adjoint) const override { return rhs / column(adjoint); }
  Tensor to_dense() const override { return linalg::diag(d); }
  Tensor diag_part() const override { return d; }
  Tensor determinant() const override { return reduce_prod(d, -1); }
  Tensor log_abs_determinant() const override {
    const Tensor sum = reduce_sum(log(abs(d)), -1);
    return cast(sum, dtype);
  }
  Tensor cond() const override { return reduce_max(abs(d), -1) / reduce_min(abs(d), -1); }
  Tensor eigvals() const override { return d; }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorDiag(conj(d), hints);
  }
  LinearOperator inverse(const LinearOperator&) const override {
    return LinearOperatorDiag(reciprocal(d), hints);
  }
  LinearOperator cholesky() const override { return LinearOperatorDiag(sqrt(d), hints); }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    const auto* other = dynamic_cast<const DiagImpl*>(&right.impl());
    return other ? std::make_shared<DiagImpl>(d * other->d, kSquare) : nullptr;
  }

  const Tensor d;
};

// The multiplier has the shape of the batch.
class ScaledIdentityImpl final : public LinearOperatorImpl {
 public:
  ScaledIdentityImpl(std::string_view kind, std::int64_t n, const Tensor& multiplier,
                     const OperatorHints& h)
      : LinearOperatorImpl(kind, multiplier.dtype(),
                           with_matrix(leading(multiplier.shape(), 0, "multiplier"), n, n),
                           real_is_self_adjoint(h, multiplier.dtype())),
        m(multiplier) {
    RILL_CHECK(n >= 0, invalid_argument, "[{}] num_rows is {}; expected 0 or more", kind, n);
  }
  double n() const { return static_cast<double>(rows()); }
  Tensor factor(bool adjoint) const {
    return expand_dims(expand_dims(conjugated(m, adjoint), -1), -1);
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override { return factor(adjoint) * x; }
  Tensor solve(const Tensor& rhs, bool adjoint) const override { return rhs / factor(adjoint); }
  Tensor diag_part() const override {
    TensorShape s = leading(shape, 2, name);
    s.push_back(rows());
    return broadcast_to(expand_dims(m, -1), s);
  }
  Tensor determinant() const override { return pow(m, cast(constant(n()), dtype)); }
  Tensor log_abs_determinant() const override { return cast(log(abs(m)) * n(), dtype); }
  Tensor trace() const override { return m * cast(constant(n()), dtype); }
  Tensor cond() const override { return ones_like(abs(m)); }
  Tensor eigvals() const override { return diag_part(); }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorScaledIdentity(rows(), conj(m), hints);
  }
  LinearOperator inverse(const LinearOperator& self) const override {
    if (name == "LinearOperatorIdentity") return self;
    return LinearOperatorScaledIdentity(rows(), reciprocal(m), hints);
  }
  LinearOperator cholesky() const override {
    return LinearOperatorScaledIdentity(rows(), sqrt(m), hints);
  }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    if (name == "LinearOperatorIdentity" && shape.rank() == 2)
      return std::shared_ptr<const LinearOperatorImpl>(std::make_shared<LinearOperator>(right),
                                                       &right.impl());
    const auto* other = dynamic_cast<const ScaledIdentityImpl*>(&right.impl());
    if (!other) return nullptr;
    return std::make_shared<ScaledIdentityImpl>("LinearOperatorScaledIdentity", rows(),
                                                m * other->m, kSquare);
  }

  const Tensor m;
};

class ZerosImpl final : public LinearOperatorImpl {
 public:
  ZerosImpl(std::int64_t rows, std::int64_t columns, const OperatorOptions& o)
      : LinearOperatorImpl("LinearOperatorZeros", o.dtype,
                           with_matrix(o.batch_shape, rows, columns),
                           {.is_non_singular = false,
                            .is_self_adjoint = rows == columns,
                            .is_positive_definite = false,
                            .is_square = rows == columns}),
        options_(o) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    const TensorShape batch = common_batch(leading(shape, 2, name), leading(x.shape(), 2, "x"),
                                           "LinearOperatorZeros.matmul");
    return zeros(with_matrix(batch, adjoint ? columns() : rows(), x.shape().dim(-1)), dtype);
  }
  Tensor to_dense() const override { return zeros(shape, dtype); }
  Tensor determinant() const override { return zeros(options_.batch_shape, dtype); }
  Tensor log_abs_determinant() const override { return log(determinant()); }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorZeros(columns(), rows(), options_);
  }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    OperatorOptions o = options_;
    o.batch_shape = common_batch(o.batch_shape, right.batch_shape(), "LinearOperatorZeros.matmul");
    return std::make_shared<ZerosImpl>(rows(), right.domain_dimension(), o);
  }

 private:
  const OperatorOptions options_;
};

}  // namespace

LinearOperatorDiag::LinearOperatorDiag(const Operand& diag, const OperatorHints& h)
    : LinearOperator(make_operator<DiagImpl>(to_tensor(diag), h)) {}
LinearOperatorIdentity::LinearOperatorIdentity(std::int64_t num_rows, const OperatorOptions& o)
    : LinearOperator(make_operator<ScaledIdentityImpl>("LinearOperatorIdentity", num_rows,
                                                       ones(o.batch_shape, o.dtype),
                                                       OperatorHints{.is_non_singular = true,
                                                                     .is_self_adjoint = true,
                                                                     .is_positive_definite = true,
                                                                     .is_square = true})) {}
LinearOperatorScaledIdentity::LinearOperatorScaledIdentity(std::int64_t num_rows,
                                                           const Operand& multiplier,
                                                           const OperatorHints& h)
    : LinearOperator(make_operator<ScaledIdentityImpl>("LinearOperatorScaledIdentity", num_rows,
                                                       to_tensor(multiplier), h)) {}
LinearOperatorZeros::LinearOperatorZeros(std::int64_t num_rows, const OperatorOptions& o)
    : LinearOperatorZeros(num_rows, num_rows, o) {}
LinearOperatorZeros::LinearOperatorZeros(std::int64_t num_rows, std::int64_t num_columns,
                                         const OperatorOptions& o)
    : LinearOperator(make_operator<ZerosImpl>(num_rows, num_columns, o)) {}

}  // namespace rill::linalg
