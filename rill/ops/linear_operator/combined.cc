// Operators of operators: products, adjoints, inverses, sums with a matrix of low rank.
#include "rill/ops/linear_operator/linear_operator_impl.h"

namespace rill::linalg {
namespace {

TensorShape shape_of_product(const LinearOperators& list) {
  RILL_CHECK(!list.empty(), invalid_argument,
             "[LinearOperatorComposition] the list of operators is empty");
  TensorShape batch = TensorShape::scalar();
  for (std::size_t i = 0; i < list.size(); ++i) {
    batch = common_batch(batch, list[i].batch_shape(), "LinearOperatorComposition");
    RILL_CHECK(list[i].dtype() == list[0].dtype() &&
                   (i == 0 || list[i - 1].domain_dimension() == list[i].range_dimension()),
               invalid_argument,
               "[LinearOperatorComposition] operator {} is {} of shape {}, the one before {} of "
               "shape {}; expected one dtype, and as many rows as it has columns",
               i, list[i].dtype(), list[i].shape(), list[i ? i - 1 : 0].dtype(),
               list[i ? i - 1 : 0].shape());
  }
  return with_matrix(batch, list.front().range_dimension(), list.back().domain_dimension());
}

class CompositionImpl final : public LinearOperatorImpl {
 public:
  CompositionImpl(const LinearOperators& list, OperatorHints h)
      : LinearOperatorImpl("LinearOperatorComposition", list.empty() ? float32 : list[0].dtype(),
                           shape_of_product(list),
                           {.is_non_singular = hints_of_all(list, h).is_non_singular,
                            .is_self_adjoint = h.is_self_adjoint,
                            .is_positive_definite = h.is_positive_definite,
                            .is_square = h.is_square}),
        list_(list) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    Tensor y = x;
    if (adjoint)
      for (const LinearOperator& op : list_) y = op.matmul(y, {.adjoint = true});
    else
      for (auto op = list_.rbegin(); op != list_.rend(); ++op) y = op->matmul(y);
    return y;
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    if (!each_square(list_)) return LinearOperatorImpl::solve(rhs, adjoint);
    Tensor x = rhs;
    if (adjoint)
      for (auto op = list_.rbegin(); op != list_.rend(); ++op) x = op->solve(x, {.adjoint = true});
    else
      for (const LinearOperator& op : list_) x = op.solve(x);
    return x;
  }
  Tensor to_dense() const override {
    Tensor y = list_.back().to_dense();
    for (std::size_t i = list_.size() - 1; i-- > 0;) y = list_[i].matmul(y);
    return y;
  }
  Tensor determinant() const override {
    if (!each_square(list_)) return LinearOperatorImpl::determinant();
    return product_of_determinants(list_);
  }
  Tensor log_abs_determinant() const override {
    if (!each_square(list_)) return LinearOperatorImpl::log_abs_determinant();
    return sum_of_log_determinants(list_);
  }
  LinearOperator adjoint(const LinearOperator&) const override {
    LinearOperators reversed;
    for (auto op = list_.rbegin(); op != list_.rend(); ++op) reversed.push_back(op->adjoint());
    return LinearOperatorComposition(reversed);
  }
  LinearOperator inverse(const LinearOperator& self) const override {
    if (!each_square(list_)) return LinearOperatorImpl::inverse(self);
    LinearOperators reversed;
    for (auto op = list_.rbegin(); op != list_.rend(); ++op) reversed.push_back(op->inverse());
    return LinearOperatorComposition(reversed);
  }

 private:
  const LinearOperators list_;
};

class AdjointImpl final : public LinearOperatorImpl {
 public:
  AdjointImpl(const LinearOperator& of, const OperatorHints& h)
      : LinearOperatorImpl(
            "LinearOperatorAdjoint", of.dtype(),
            with_matrix(of.batch_shape(), of.domain_dimension(), of.range_dimension()), h),
        of_(of) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return of_.matmul(x, {.adjoint = !adjoint});
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    return of_.solve(rhs, {.adjoint = !adjoint});
  }
  Tensor to_dense() const override { return linalg::adjoint(of_.to_dense()); }
  Tensor diag_part() const override { return conj(of_.diag_part()); }
  Tensor determinant() const override { return conj(of_.determinant()); }
  Tensor log_abs_determinant() const override { return of_.log_abs_determinant(); }
  Tensor trace() const override { return conj(of_.trace()); }
  Tensor cond() const override { return of_.cond(); }
  LinearOperator adjoint(const LinearOperator&) const override { return of_; }
  LinearOperator inverse(const LinearOperator&) const override {
    return LinearOperatorAdjoint(of_.inverse());
  }

 private:
  const LinearOperator of_;
};

class InversionImpl final : public LinearOperatorImpl {
 public:
  InversionImpl(const LinearOperator& of, OperatorHints h)
      : LinearOperatorImpl("LinearOperatorInversion", of.dtype(), of.shape(),
                           [&] {
                             of.impl().require_square("an inverse");
                             RILL_CHECK(h.is_non_singular.value_or(true), invalid_argument,
                                        "[LinearOperatorInversion] an inverse is not singular");
                             h.is_non_singular = true;
                             return h;
                           }()),
        of_(of) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return of_.solve(x, {.adjoint = adjoint});
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    return of_.matmul(rhs, {.adjoint = adjoint});
  }
  Tensor determinant() const override { return reciprocal(of_.determinant()); }
  Tensor log_abs_determinant() const override { return negative(of_.log_abs_determinant()); }
  Tensor cond() const override { return of_.cond(); }
  LinearOperator inverse(const LinearOperator&) const override { return of_; }

 private:
  const LinearOperator of_;
};

// Solutions by the formula of Sherman, Morrison and Woodbury, determinants by the lemma that goes
// with it: both by way of C = D^-1 + V' L^-1 U, which is small.
class LowRankUpdateImpl final : public LinearOperatorImpl {
 public:
  LowRankUpdateImpl(const LinearOperator& base, const Tensor& u, const Tensor& d, const Tensor& v,
                    const OperatorHints& h)
      : LinearOperatorImpl(
            "LinearOperatorLowRankUpdate", base.dtype(),
            with_matrix(batch_of(base, u, d, v), base.range_dimension(), base.domain_dimension()),
            h),
        base_(base),
        u_(u),
        v_(v.defined() ? v : u),
        d_(d) {
    RILL_CHECK(
        u_.shape().dim(-2) == rows() && v_.shape().dim(-2) == columns() &&
            u_.shape().dim(-1) == v_.shape().dim(-1) &&
            (!d.defined() || d.shape().dim(-1) == u_.shape().dim(-1)),
        invalid_argument,
        "[LinearOperatorLowRankUpdate] the base has shape {}, u {}, v {} and diag_update {}; "
        "expected [.., m, n], [.., m, k], [.., n, k] and [.., k]",
        base.shape(), u_.shape(), v_.shape(), d.defined() ? d.shape() : TensorShape());
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    const Tensor &left = adjoint ? v_ : u_, &right = adjoint ? u_ : v_;
    const Tensor inner = rill::matmul(right, x, {.adjoint_a = true});
    return base_.matmul(x, {.adjoint = adjoint}) + rill::matmul(left, scaled(inner, adjoint));
  }
  Tensor to_dense() const override {
    return base_.to_dense() + rill::matmul(u_, scaled(linalg::adjoint(v_), false));
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    const Tensor &left = adjoint ? v_ : u_, &right = adjoint ? u_ : v_;
    const Tensor x = base_.solve(rhs, {.adjoint = adjoint});
    const Tensor y =
        dense_solve(capacitance(), rill::matmul(right, x, {.adjoint_a = true}), adjoint, false);
    return x - base_.solve(rill::matmul(left, y), {.adjoint = adjoint});
  }
  Tensor determinant() const override {
    const Tensor y = det(capacitance()) * base_.determinant();
    return d_.defined() ? y * reduce_prod(d_, -1) : y;
  }
  Tensor log_abs_determinant() const override {
    const Tensor y = slogdet(capacitance()).log_abs_determinant + base_.log_abs_determinant();
    return d_.defined() ? y + cast(reduce_sum(log(abs(d_)), -1), dtype) : y;
  }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorLowRankUpdate(base_.adjoint(), v_, d_.defined() ? conj(d_) : d_, u_,
                                       hints);
  }

 private:
  static TensorShape batch_of(const LinearOperator& base, const Tensor& u, const Tensor& d,
                              const Tensor& v) {
    const std::string_view what = "LinearOperatorLowRankUpdate";
    TensorShape batch = common_batch(base.batch_shape(), leading(u.shape(), 2, "u"), what);
    if (v.defined()) batch = common_batch(batch, leading(v.shape(), 2, "v"), what);
    if (d.defined()) batch = common_batch(batch, leading(d.shape(), 1, "diag_update"), what);
    return batch;
  }
  Tensor scaled(const Tensor& rows, bool adjoint) const {
    if (!d_.defined()) return rows;
    return expand_dims(adjoint ? conj(d_) : d_, -1) * rows;
  }
  Tensor capacitance() const {
    const Tensor c = rill::matmul(v_, base_.solve(u_), {.adjoint_a = true});
    if (!d_.defined()) return c + cast(eye(u_.shape().dim(-1)), dtype);
    return c + linalg::diag(reciprocal(d_));
  }
  const LinearOperator base_;
  const Tensor u_, v_, d_;
};

// The hints of an adjoint or an inverse are those of the operator, where none are given.
OperatorHints inherited(const LinearOperator& of, OperatorHints h) {
  const OperatorHints& own = of.impl().hints;
  if (!h.is_non_singular) h.is_non_singular = own.is_non_singular;
  if (!h.is_self_adjoint) h.is_self_adjoint = own.is_self_adjoint;
  if (!h.is_positive_definite) h.is_positive_definite = own.is_positive_definite;
  return h;
}

}  // namespace

LinearOperatorComposition::LinearOperatorComposition(const LinearOperators& operators,
                                                     const OperatorHints& h)
    : LinearOperator(make_operator<CompositionImpl>(operators, h)) {}
LinearOperatorAdjoint::LinearOperatorAdjoint(const LinearOperator& op, const OperatorHints& h)
    : LinearOperator(make_operator<AdjointImpl>(op, inherited(op, h))) {}
LinearOperatorInversion::LinearOperatorInversion(const LinearOperator& op, const OperatorHints& h)
    : LinearOperator(make_operator<InversionImpl>(op, inherited(op, h))) {}
LinearOperatorLowRankUpdate::LinearOperatorLowRankUpdate(const LinearOperator& base_operator,
                                                         const Operand& u,
                                                         const Tensor& diag_update, const Tensor& v,
                                                         const OperatorHints& h)
    : LinearOperator(
          make_operator<LowRankUpdateImpl>(base_operator, to_tensor(u), diag_update, v, h)) {}

}  // namespace rill::linalg
