// Operators that act on parts of a vector: blocks along the diagonal, Kronecker products.
#include <functional>

#include "rill/ops/linear_operator/linear_operator_impl.h"

namespace rill::linalg {
namespace {

using Part = std::function<LinearOperator(const LinearOperator&)>;
LinearOperators each(const LinearOperators& list, const Part& f) {
  LinearOperators out;
  for (const LinearOperator& op : list) out.push_back(f(op));
  return out;
}
const LinearOperators& checked(const LinearOperators& list, const char* tag) {
  RILL_CHECK(!list.empty(), invalid_argument, "[{}] the list of operators is empty", tag);
  for (const LinearOperator& op : list)
    RILL_CHECK(op.dtype() == list[0].dtype(), invalid_argument,
               "[{}] the operators are {} and {}; expected one dtype", tag, list[0].dtype(),
               op.dtype());
  return list;
}
TensorShape batch_of_all(const LinearOperators& list, const char* tag) {
  TensorShape batch = TensorShape::scalar();
  for (const LinearOperator& op : list) batch = common_batch(batch, op.batch_shape(), tag);
  return batch;
}
class BlockDiagImpl final : public LinearOperatorImpl {
 public:
  BlockDiagImpl(const LinearOperators& list, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorBlockDiag",
                           checked(list, "LinearOperatorBlockDiag")[0].dtype(), shape_of(list),
                           hints_of_all(list, h)),
        list_(list) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return on_parts(x, adjoint, [&](const LinearOperator& op, const Tensor& part) {
      return op.matmul(part, {.adjoint = adjoint});
    });
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    if (!each_square(list_)) return LinearOperatorImpl::solve(rhs, adjoint);
    return on_parts(rhs, adjoint, [&](const LinearOperator& op, const Tensor& part) {
      return op.solve(part, {.adjoint = adjoint});
    });
  }
  Tensor diag_part() const override {
    if (!each_square(list_)) return LinearOperatorImpl::diag_part();
    std::vector<Tensor> parts;
    for (const LinearOperator& op : list_)
      parts.push_back(with_batch(op.diag_part(), leading(shape, 2, name), 1));
    return concat(parts, -1);
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
    return LinearOperatorBlockDiag(each(list_, [](auto& op) { return op.adjoint(); }));
  }
  LinearOperator inverse(const LinearOperator& self) const override {
    if (!each_square(list_)) return LinearOperatorImpl::inverse(self);
    return LinearOperatorBlockDiag(each(list_, [](auto& op) { return op.inverse(); }));
  }
  LinearOperator cholesky() const override {
    return LinearOperatorBlockDiag(each(list_, [](auto& op) { return op.cholesky(); }));
  }

 private:
  static TensorShape shape_of(const LinearOperators& list) {
    std::int64_t rows = 0, columns = 0;
    for (const LinearOperator& op : list)
      rows += op.range_dimension(), columns += op.domain_dimension();
    return with_matrix(batch_of_all(list, "LinearOperatorBlockDiag"), rows, columns);
  }
  template <class F>
  Tensor on_parts(const Tensor& x, bool adjoint, F f) const {
    const TensorShape batch = common_batch(leading(shape, 2, name), leading(x.shape(), 2, "x"),
                                           "LinearOperatorBlockDiag.matmul");
    std::vector<Tensor> parts;
    std::int64_t begin = 0;
    for (const LinearOperator& op : list_) {
      const std::int64_t n = adjoint ? op.range_dimension() : op.domain_dimension();
      const Tensor part = x(ellipsis, slice(begin, begin + n), all);
      parts.push_back(with_batch(f(op, part), batch));
      begin += n;
    }
    return concat(parts, -2);
  }
  const LinearOperators list_;
};

class KroneckerImpl final : public LinearOperatorImpl {
 public:
  KroneckerImpl(const LinearOperators& list, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorKronecker",
                           checked(list, "LinearOperatorKronecker")[0].dtype(), shape_of(list),
                           hints_of_all(list, h)),
        list_(list) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return on_factors(x, adjoint, [&](const LinearOperator& op, const Tensor& t) {
      return op.matmul(t, {.adjoint = adjoint});
    });
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    if (!each_square(list_)) return LinearOperatorImpl::solve(rhs, adjoint);
    return on_factors(rhs, adjoint, [&](const LinearOperator& op, const Tensor& t) {
      return op.solve(t, {.adjoint = adjoint});
    });
  }
  Tensor diag_part() const override {
    if (!each_square(list_)) return LinearOperatorImpl::diag_part();
    Tensor y = list_[0].diag_part();
    for (std::size_t i = 1; i < list_.size(); ++i) {
      const Tensor product = expand_dims(y, -1) * expand_dims(list_[i].diag_part(), -2);
      TensorShape s = leading(product.shape(), 2, name);
      s.push_back(product.shape().dim(-2) * product.shape().dim(-1));
      y = reshape(product, s);
    }
    return y;
  }
  // Each factor comes as often as the others have rows.
  Tensor determinant() const override {
    if (!each_square(list_)) return LinearOperatorImpl::determinant();
    Tensor y;
    for (const LinearOperator& op : list_) {
      const Tensor d = pow(op.determinant(), cast(constant(times_of(op)), dtype));
      y = y.defined() ? y * d : d;
    }
    return y;
  }
  Tensor log_abs_determinant() const override {
    if (!each_square(list_)) return LinearOperatorImpl::log_abs_determinant();
    Tensor y;
    for (const LinearOperator& op : list_) {
      const Tensor d = op.log_abs_determinant() * cast(constant(times_of(op)), dtype);
      y = y.defined() ? y + d : d;
    }
    return y;
  }
  Tensor trace() const override {
    if (!each_square(list_)) return LinearOperatorImpl::trace();
    Tensor y = list_[0].trace();
    for (std::size_t i = 1; i < list_.size(); ++i) y = y * list_[i].trace();
    return y;
  }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorKronecker(each(list_, [](auto& op) { return op.adjoint(); }));
  }
  LinearOperator inverse(const LinearOperator& self) const override {
    if (!each_square(list_)) return LinearOperatorImpl::inverse(self);
    return LinearOperatorKronecker(each(list_, [](auto& op) { return op.inverse(); }));
  }
  LinearOperator cholesky() const override {
    return LinearOperatorKronecker(each(list_, [](auto& op) { return op.cholesky(); }));
  }

 private:
  static TensorShape shape_of(const LinearOperators& list) {
    std::int64_t rows = 1, columns = 1;
    for (const LinearOperator& op : list)
      rows *= op.range_dimension(), columns *= op.domain_dimension();
    return with_matrix(batch_of_all(list, "LinearOperatorKronecker"), rows, columns);
  }
  double times_of(const LinearOperator& op) const {
    return static_cast<double>(rows()) / static_cast<double>(op.range_dimension());
  }
  // The rows of x are numbered by one index for each factor, the last the fastest. The last factor
  // acts on the last index, and its result becomes the first: after all the order is the old one.
  template <class F>
  Tensor on_factors(const Tensor& x, bool adjoint, F f) const {
    Tensor y = with_batch(x, common_batch(leading(shape, 2, name), leading(x.shape(), 2, "x"),
                                          "LinearOperatorKronecker.matmul"));
    const TensorShape batch = leading(y.shape(), 2, "x");
    const std::int64_t k = x.shape().dim(-1);
    const auto reshaped = [&](const Tensor& t, std::initializer_list<std::int64_t> sizes) {
      TensorShape s = batch;
      for (std::int64_t n : sizes) s.push_back(n);
      return reshape(t, s);
    };
    const int r = batch.rank();
    std::vector<int> turn;  // [.., rest, n, k] -> [.., n, rest, k]
    for (int i = 0; i < r; ++i) turn.push_back(i);
    turn.insert(turn.end(), {r + 1, r, r + 2});
    for (std::size_t i = list_.size(); i-- > 0;) {
      const std::int64_t n = adjoint ? list_[i].range_dimension() : list_[i].domain_dimension();
      const std::int64_t rest = y.shape().dim(-2) / n;
      const Tensor front = transpose(reshaped(y, {rest, n, k}), turn);
      const Tensor done = f(list_[i], reshaped(front, {n, rest * k}));
      y = reshaped(done, {done.shape().dim(-2) * rest, k});
    }
    return y;
  }
  const LinearOperators list_;
};

}  // namespace

LinearOperatorBlockDiag::LinearOperatorBlockDiag(const LinearOperators& operators,
                                                 const OperatorHints& h)
    : LinearOperator(make_operator<BlockDiagImpl>(operators, h)) {}
LinearOperatorKronecker::LinearOperatorKronecker(const LinearOperators& operators,
                                                 const OperatorHints& h)
    : LinearOperator(make_operator<KroneckerImpl>(operators, h)) {}

}  // namespace rill::linalg
