// Operators by a vector: reflections, permutations, circulants.
#include "rill/ops/linear_operator/linear_operator_impl.h"
#include "rill/ops/signal_ops.h"

namespace rill::linalg {
namespace {

OperatorHints non_singular(OperatorHints h) {
  h.is_non_singular = true;
  return h;
}

// Its own adjoint and its own inverse.
class HouseholderImpl final : public LinearOperatorImpl {
 public:
  HouseholderImpl(const Tensor& axis, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorHouseholder", axis.dtype(),
                           with_matrix(leading(axis.shape(), 1, "reflection_axis"),
                                       axis.shape().dim(-1), axis.shape().dim(-1)),
                           [&] {
                             OperatorHints own = non_singular(h);
                             own.is_self_adjoint = true;
                             return own;
                           }()),
        v_(expand_dims(
            axis / cast(sqrt(reduce_sum(rill::square(abs(axis)), {-1}, {.keepdims = true})),
                        axis.dtype()),
            -1)) {}
  Tensor matmul(const Tensor& x, bool) const override {
    const Tensor along = rill::matmul(v_, x, {.adjoint_a = true});
    return x - v_ * along * cast(constant(2.), dtype);
  }
  Tensor solve(const Tensor& rhs, bool) const override { return matmul(rhs, false); }
  Tensor determinant() const override { return zeros(leading(shape, 2, name), dtype) - 1; }
  Tensor log_abs_determinant() const override { return zeros(leading(shape, 2, name), dtype); }
  Tensor trace() const override {
    return zeros(leading(shape, 2, name), dtype) + static_cast<double>(rows() - 2);
  }
  Tensor cond() const override { return abs(determinant()); }
  LinearOperator inverse(const LinearOperator& self) const override { return self; }

 private:
  const Tensor v_;  // of length 1, as a column
};

class PermutationImpl final : public LinearOperatorImpl {
 public:
  PermutationImpl(const Tensor& perm, DType d, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorPermutation", d,
                           with_matrix(leading(perm.shape(), 1, "perm"), perm.shape().dim(-1),
                                       perm.shape().dim(-1)),
                           non_singular(h)),
        perm_(perm) {
    RILL_CHECK(perm.dtype() == int32 || perm.dtype() == int64, invalid_argument,
               "[LinearOperatorPermutation] perm is {}; expected int32 or int64", perm.dtype());
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    const TensorShape batch = common_batch(leading(shape, 2, name), leading(x.shape(), 2, "x"),
                                           "LinearOperatorPermutation.matmul");
    const Tensor at = with_batch(adjoint ? argsort(perm_) : perm_, batch, 1);
    return gather(with_batch(x, batch), at,
                  GatherOptions{.axis = batch.rank(), .batch_dims = batch.rank()});
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override { return matmul(rhs, !adjoint); }
  Tensor to_dense() const override {
    return one_hot(perm_, static_cast<int>(rows()), {.dtype = dtype});
  }
  Tensor log_abs_determinant() const override { return zeros(leading(shape, 2, name), dtype); }
  Tensor cond() const override { return cast(abs(determinant()), dtype); }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorPermutation(argsort(perm_), dtype, hints);
  }
  LinearOperator inverse(const LinearOperator& self) const override { return adjoint(self); }

 private:
  const Tensor perm_;
};

class CirculantImpl final : public LinearOperatorImpl {
 public:
  CirculantImpl(const Tensor& spectrum, DType d, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorCirculant", d,
                           with_matrix(leading(spectrum.shape(), 1, "spectrum"),
                                       spectrum.shape().dim(-1), spectrum.shape().dim(-1)),
                           [&] {
                             OperatorHints own = h;
                             if (!spectrum.dtype().is_complex()) own.is_self_adjoint = true;
                             return own;
                           }()),
        spectrum_(as_complex(spectrum)) {}

  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return filtered(x, adjoint ? conj(spectrum_) : spectrum_);
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    return filtered(rhs, reciprocal(adjoint ? conj(spectrum_) : spectrum_));
  }
  Tensor diag_part() const override {
    TensorShape s = leading(shape, 2, name);
    s.push_back(rows());
    return broadcast_to(
        expand_dims(trace() / cast(constant(static_cast<double>(rows())), dtype), -1), s);
  }
  Tensor determinant() const override { return own_dtype(reduce_prod(spectrum_, -1)); }
  Tensor log_abs_determinant() const override {
    return cast(reduce_sum(log(abs(spectrum_)), -1), dtype);
  }
  Tensor trace() const override { return own_dtype(reduce_sum(spectrum_, -1)); }
  Tensor cond() const override {
    return reduce_max(abs(spectrum_), -1) / reduce_min(abs(spectrum_), -1);
  }
  Tensor eigvals() const override { return own_dtype(spectrum_); }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorCirculant(conj(spectrum_), dtype, hints);
  }
  LinearOperator inverse(const LinearOperator&) const override {
    return LinearOperatorCirculant(reciprocal(spectrum_), dtype, hints);
  }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    const auto* other = dynamic_cast<const CirculantImpl*>(&right.impl());
    if (!other || other->dtype != dtype) return nullptr;
    return std::make_shared<CirculantImpl>(spectrum_ * other->spectrum_, dtype, OperatorHints{});
  }

 private:
  static Tensor as_complex(const Tensor& t) {
    return t.dtype().is_complex() ? t : cast(t, t.dtype() == float64 ? complex128 : complex64);
  }
  Tensor own_dtype(const Tensor& t) const {
    return dtype.is_complex() ? cast(t, dtype) : cast(real(t), dtype);
  }
  Tensor filtered(const Tensor& x, const Tensor& by) const {
    const Tensor rows_last = matrix_transpose(cast(x, by.dtype()));
    const Tensor y = signal::ifft(expand_dims(by, -2) * signal::fft(rows_last));
    return own_dtype(matrix_transpose(y));
  }
  const Tensor spectrum_;
};

}  // namespace

LinearOperatorHouseholder::LinearOperatorHouseholder(const Operand& reflection_axis,
                                                     const OperatorHints& h)
    : LinearOperator(make_operator<HouseholderImpl>(to_tensor(reflection_axis), h)) {}
LinearOperatorPermutation::LinearOperatorPermutation(const Operand& perm, DType dtype,
                                                     const OperatorHints& h)
    : LinearOperator(make_operator<PermutationImpl>(to_tensor(perm), dtype, h)) {}
LinearOperatorCirculant::LinearOperatorCirculant(const Operand& spectrum, DType input_output_dtype,
                                                 const OperatorHints& h)
    : LinearOperator(make_operator<CirculantImpl>(to_tensor(spectrum), input_output_dtype, h)) {}

}  // namespace rill::linalg
