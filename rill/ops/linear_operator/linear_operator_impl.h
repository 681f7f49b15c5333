#pragma once
#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linear_operators.h"

namespace rill::linalg {

// What an operator is. A kind says its shape and how it multiplies; what it does not say follows
// from the dense matrix.
class LinearOperatorImpl {
 public:
  LinearOperatorImpl(std::string_view name, DType dtype, TensorShape shape, OperatorHints hints);
  virtual ~LinearOperatorImpl() = default;

  // A x or A' x, of [.., n, k] that fits but for the batch.
  virtual Tensor matmul(const Tensor& x, bool adjoint) const = 0;
  virtual Tensor solve(const Tensor& rhs, bool adjoint) const;
  virtual Tensor to_dense() const;
  virtual Tensor diag_part() const;
  virtual Tensor determinant() const;
  virtual Tensor log_abs_determinant() const;
  virtual Tensor trace() const;
  virtual Tensor cond() const;
  virtual Tensor eigvals() const;
  virtual LinearOperator adjoint(const LinearOperator& self) const;
  virtual LinearOperator inverse(const LinearOperator& self) const;
  virtual LinearOperator cholesky() const;
  // The product with another operator in a simple form; null: there is none.
  virtual std::shared_ptr<const LinearOperatorImpl> times(const LinearOperator& right) const;

  const std::string_view name;
  const DType dtype;
  const TensorShape shape;
  const OperatorHints hints;

  std::int64_t rows() const { return shape.dim(-2); }
  std::int64_t columns() const { return shape.dim(-1); }
  bool square() const { return rows() == columns(); }
  void require_square(const char* what) const;
};

template <class T, class... A>
LinearOperator make_operator(A&&... args) {
  return LinearOperator(std::make_shared<const T>(std::forward<A>(args)...));
}

// All but the last `n` axes. Unimplemented where sizes are not known.
TensorShape leading(const TensorShape& s, int n, std::string_view what);
TensorShape with_matrix(const TensorShape& batch, std::int64_t rows, std::int64_t columns);
// The shape that batches broadcast to.
TensorShape common_batch(const TensorShape& a, const TensorShape& b, std::string_view what);
// A tensor with `batch` in front of its last n axes.
Tensor with_batch(const Tensor& t, const TensorShape& batch, int n = 2);
// The dense product and solution of matrices whose batches broadcast.
Tensor dense_solve(const Tensor& matrix, const Tensor& rhs, bool adjoint, bool positive_definite);

// ---- of several operators
bool each_square(const LinearOperators& list);
// REQUIRES: each_square().
Tensor product_of_determinants(const LinearOperators& list);
Tensor sum_of_log_determinants(const LinearOperators& list);
// Where the program says nothing, what is known of all of them.
OperatorHints hints_of_all(const LinearOperators& list, OperatorHints hints);

}  // namespace rill::linalg
