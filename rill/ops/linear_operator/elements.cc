// Operators that are given by their elements: all, a triangle, some diagonals, a row and a column.
#include "rill/ops/linear_operator/linear_operator_impl.h"

namespace rill::linalg {
namespace {

class FullMatrixImpl final : public LinearOperatorImpl {
 public:
  FullMatrixImpl(const Tensor& matrix, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorFullMatrix", matrix.dtype(),
                           with_matrix(leading(matrix.shape(), 2, "matrix"), matrix.shape().dim(-2),
                                       matrix.shape().dim(-1)),
                           h),
        a_(matrix) {}
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return rill::matmul(a_, x, {.adjoint_a = adjoint});
  }
  Tensor to_dense() const override { return a_; }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorFullMatrix(linalg::adjoint(a_), hints);
  }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    const auto* other = dynamic_cast<const FullMatrixImpl*>(&right.impl());
    if (!other) return nullptr;
    return std::make_shared<FullMatrixImpl>(rill::matmul(a_, other->a_), OperatorHints{});
  }

 private:
  const Tensor a_;
};

class LowerTriangularImpl final : public LinearOperatorImpl {
 public:
  LowerTriangularImpl(const Tensor& tril, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorLowerTriangular", tril.dtype(),
                           with_matrix(leading(tril.shape(), 2, "tril"), tril.shape().dim(-2),
                                       tril.shape().dim(-1)),
                           h),
        l_(band_part(tril, -1, 0)) {
    require_square("a lower triangle");
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return rill::matmul(l_, x, {.adjoint_a = adjoint});
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    return triangular_solve(l_, rhs, {.adjoint = adjoint});
  }
  Tensor to_dense() const override { return l_; }
  Tensor determinant() const override { return reduce_prod(diag_part(), -1); }
  Tensor log_abs_determinant() const override {
    return cast(reduce_sum(log(abs(diag_part())), -1), dtype);
  }
  std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const override {
    const auto* other = dynamic_cast<const LowerTriangularImpl*>(&right.impl());
    if (!other) return nullptr;
    return std::make_shared<LowerTriangularImpl>(rill::matmul(l_, other->l_), OperatorHints{});
  }

 private:
  const Tensor l_;
};

class TridiagImpl final : public LinearOperatorImpl {
 public:
  TridiagImpl(const TensorList& diagonals, const std::string& format, const OperatorHints& h)
      : TridiagImpl(compact(diagonals, format), h) {}
  TridiagImpl(const Tensor& diagonals, const OperatorHints& h)
      : LinearOperatorImpl("LinearOperatorTridiag", diagonals.dtype(),
                           with_matrix(leading(diagonals.shape(), 2, "diagonals"),
                                       diagonals.shape().dim(-1), diagonals.shape().dim(-1)),
                           h),
        d_(diagonals) {
    RILL_CHECK(d_.shape().dim(-2) == 3, invalid_argument,
               "[LinearOperatorTridiag] diagonals have shape {}; expected [.., 3, n]", d_.shape());
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    const Tensor d = adjoint ? adjoint_diagonals() : d_;
    const TensorShape batch = common_batch(leading(d.shape(), 2, name), leading(x.shape(), 2, "x"),
                                           "LinearOperatorTridiag.matmul");
    return tridiagonal_matmul(with_batch(d, batch), with_batch(x, batch));
  }
  Tensor solve(const Tensor& rhs, bool adjoint) const override {
    const Tensor d = adjoint ? adjoint_diagonals() : d_;
    const TensorShape batch = common_batch(
        leading(d.shape(), 2, name), leading(rhs.shape(), 2, "rhs"), "LinearOperatorTridiag.solve");
    return tridiagonal_solve(with_batch(d, batch), with_batch(rhs, batch));
  }
  Tensor to_dense() const override {
    return linalg::diag(d_, {.k = -1, .k_high = 1, .align = "LEFT_RIGHT"});
  }
  Tensor diag_part() const override { return d_(ellipsis, 1, all); }
  LinearOperator adjoint(const LinearOperator&) const override {
    return LinearOperatorTridiag(adjoint_diagonals(), "compact", hints);
  }

 private:
  static Tensor compact(const TensorList& diagonals, const std::string& format) {
    const std::vector<Tensor>& list = diagonals.tensors();
    if (format == "compact" && list.size() == 1) return list[0];
    if (format == "matrix" && list.size() == 1)
      return linalg::diag_part(list[0], {.k = -1, .k_high = 1, .align = "LEFT_RIGHT"});
    RILL_CHECK(format == "sequence" && list.size() == 3, invalid_argument,
               "[LinearOperatorTridiag] {} tensors of diagonals_format \"{}\"; expected one for "
               "\"compact\" and \"matrix\", three for \"sequence\"",
               list.size(), format);
    const std::int64_t n = list[1].shape().dim(-1);
    std::vector<Tensor> rows;
    for (std::size_t i = 0; i < 3; ++i) {
      Tensor t = expand_dims(list[i], -2);
      if (i != 1 && t.shape().dim(-1) == n - 1) {
        const Tensor end = zeros_like(t(ellipsis, slice(0, 1)));
        t = i == 0 ? concat({t, end}, -1) : concat({end, t}, -1);
      }
      rows.push_back(t);
    }
    return concat(rows, -2);
  }
  // Element (i, i + 1) of the adjoint is the conjugate of (i + 1, i).
  Tensor adjoint_diagonals() const {
    const Tensor up = d_(ellipsis, slice(0, 1), all), mid = d_(ellipsis, slice(1, 2), all),
                 low = d_(ellipsis, slice(2, 3), all);
    const Tensor end = zeros_like(up(ellipsis, slice(0, 1)));
    return conj(concat({concat({low(ellipsis, slice(1, None)), end}, -1), mid,
                        concat({end, up(ellipsis, slice(0, -1))}, -1)},
                       -2));
  }
  const Tensor d_;
};

class ToeplitzImpl final : public LinearOperatorImpl {
 public:
  ToeplitzImpl(const Tensor& col, const Tensor& row, const OperatorHints& h)
      : LinearOperatorImpl(
            "LinearOperatorToeplitz", col.dtype(),
            with_matrix(common_batch(leading(col.shape(), 1, "col"), leading(row.shape(), 1, "row"),
                                     "LinearOperatorToeplitz"),
                        col.shape().dim(-1), row.shape().dim(-1)),
            h),
        col_(with_batch(col, leading(shape, 2, name), 1)),
        row_(with_batch(row, leading(shape, 2, name), 1)) {
    require_square("a Toeplitz matrix");
  }
  Tensor matmul(const Tensor& x, bool adjoint) const override {
    return rill::matmul(to_dense(), x, {.adjoint_a = adjoint});
  }
  // Of all diagonals, from the lowest to the highest, element (i, j) is number n - 1 - i + j.
  Tensor to_dense() const override {
    const std::int64_t n = rows();
    const Tensor all_diagonals = concat({reverse(col_, {-1}), row_(ellipsis, slice(1, None))}, -1);
    const Tensor i = range(static_cast<int>(n));
    const Tensor at = (expand_dims(i, 0) - expand_dims(i, 1)) + static_cast<int>(n - 1);
    return gather(all_diagonals, at, col_.ndim() - 1);
  }
  Tensor diag_part() const override {
    return with_batch(col_(ellipsis, slice(0, 1)) * ones({rows()}, dtype), leading(shape, 2, name),
                      1);
  }

 private:
  const Tensor col_, row_;
};

}  // namespace

LinearOperatorFullMatrix::LinearOperatorFullMatrix(const Operand& matrix, const OperatorHints& h)
    : LinearOperator(make_operator<FullMatrixImpl>(to_tensor(matrix), h)) {}
LinearOperatorLowerTriangular::LinearOperatorLowerTriangular(const Operand& tril,
                                                             const OperatorHints& h)
    : LinearOperator(make_operator<LowerTriangularImpl>(to_tensor(tril), h)) {}
LinearOperatorTridiag::LinearOperatorTridiag(const TensorList& diagonals,
                                             const std::string& diagonals_format,
                                             const OperatorHints& h)
    : LinearOperator(make_operator<TridiagImpl>(diagonals, diagonals_format, h)) {}
LinearOperatorToeplitz::LinearOperatorToeplitz(const Operand& col, const Operand& row,
                                               const OperatorHints& h)
    : LinearOperator(make_operator<ToeplitzImpl>(to_tensor(col), to_tensor(row), h)) {}

}  // namespace rill::linalg
