#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/ops/linalg_ops.h"

// Matrices that are known by what they do: products, solutions and determinants of structured
// matrices without the matrix. Names and meanings are TensorFlow's; leading axes are a batch.
// Sizes must be known. All of it is made of ops, so it has gradients and works in traced functions.
//
//   tf::linalg::LinearOperatorLowRankUpdate a(tf::linalg::LinearOperatorDiag(d), u);
//   Tensor x = a.solvevec(b);  // (diag(d) + u u') x = b, by way of small matrices
namespace rill RILL_API {
namespace linalg {

class LinearOperatorImpl;

// What the program promises; nothing: unknown. `solve` and others choose their way by it, and do
// not check it.
struct OperatorHints {
  std::optional<bool> is_non_singular = {}, is_self_adjoint = {}, is_positive_definite = {},
                      is_square = {};
};
struct OperatorProductOptions {
  bool adjoint = false;      // of the operator
  bool adjoint_arg = false;  // of the argument
};

class LinearOperator {
 public:
  std::string_view name() const;  // "LinearOperatorDiag"
  DType dtype() const;
  TensorShape shape() const;  // batch_shape() + [rows, columns]
  TensorShape batch_shape() const;
  int tensor_rank() const { return shape().rank(); }
  std::int64_t range_dimension() const;   // rows
  std::int64_t domain_dimension() const;  // columns
  std::optional<bool> is_non_singular() const;
  std::optional<bool> is_self_adjoint() const;
  std::optional<bool> is_positive_definite() const;
  std::optional<bool> is_square() const;

  // A x of [.., columns, k] and of [.., columns]; batches broadcast. InvalidArgument where sizes
  // do not fit.
  Tensor matmul(const Operand& x, const OperatorProductOptions& options = {}) const;
  Tensor matvec(const Operand& x, bool adjoint = false) const;
  // The product of operators, in a simple form where there is one.
  LinearOperator matmul(const LinearOperator& right) const;
  // x with A x = rhs. InvalidArgument for operators that are not square, or not invertible.
  Tensor solve(const Operand& rhs, const OperatorProductOptions& options = {}) const;
  Tensor solvevec(const Operand& rhs, bool adjoint = false) const;

  Tensor determinant() const;
  Tensor log_abs_determinant() const;
  Tensor to_dense() const;
  Tensor diag_part() const;
  Tensor trace() const;
  Tensor add_to_tensor(const Operand& x) const;  // A + x
  Tensor cond() const;                           // by the 2-norm
  Tensor eigvals() const;                        // of operators that are known to be self-adjoint

  LinearOperator adjoint() const;
  LinearOperator inverse() const;
  // Lower triangular l with l l' = A, of self-adjoint positive definite operators.
  LinearOperator cholesky() const;

  // Library use.
  explicit LinearOperator(std::shared_ptr<const LinearOperatorImpl> impl);
  const LinearOperatorImpl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const LinearOperatorImpl> impl_;
};

// ---- by their elements
struct LinearOperatorFullMatrix : LinearOperator {
  explicit LinearOperatorFullMatrix(const Operand& matrix, const OperatorHints& hints = {});
};
// The upper triangle is not read.
struct LinearOperatorLowerTriangular : LinearOperator {
  explicit LinearOperatorLowerTriangular(const Operand& tril, const OperatorHints& hints = {});
};
struct LinearOperatorDiag : LinearOperator {
  explicit LinearOperatorDiag(const Operand& diag, const OperatorHints& hints = {});
};
// As linalg::tridiagonal_solve takes them.
struct LinearOperatorTridiag : LinearOperator {
  explicit LinearOperatorTridiag(const TensorList& diagonals,
                                 const std::string& diagonals_format = "compact",
                                 const OperatorHints& hints = {});
};
// Element (i, j) is col[i - j] below the diagonal and row[j - i] above it.
struct LinearOperatorToeplitz : LinearOperator {
  LinearOperatorToeplitz(const Operand& col, const Operand& row, const OperatorHints& hints = {});
};

// ---- of few numbers
struct OperatorOptions {
  TensorShape batch_shape = TensorShape::scalar();
  DType dtype = float32;
};
struct LinearOperatorIdentity : LinearOperator {
  explicit LinearOperatorIdentity(std::int64_t num_rows, const OperatorOptions& options = {});
};
struct LinearOperatorScaledIdentity : LinearOperator {
  LinearOperatorScaledIdentity(std::int64_t num_rows, const Operand& multiplier,
                               const OperatorHints& hints = {});
};
struct LinearOperatorZeros : LinearOperator {
  explicit LinearOperatorZeros(std::int64_t num_rows, const OperatorOptions& options = {});
  LinearOperatorZeros(std::int64_t num_rows, std::int64_t num_columns,
                      const OperatorOptions& options = {});
};
// A reflection: I - 2 v v' / |v|^2.
struct LinearOperatorHouseholder : LinearOperator {
  explicit LinearOperatorHouseholder(const Operand& reflection_axis,
                                     const OperatorHints& hints = {});
};
// Element i of A x is x[perm[i]].
struct LinearOperatorPermutation : LinearOperator {
  explicit LinearOperatorPermutation(const Operand& perm, DType dtype = float32,
                                     const OperatorHints& hints = {});
};
// ifft(spectrum fft(x)): the matrix whose first column is ifft(spectrum), and each other column
// the one before it turned by one. A real dtype is for spectra that make it real.
struct LinearOperatorCirculant : LinearOperator {
  explicit LinearOperatorCirculant(const Operand& spectrum, DType input_output_dtype = complex64,
                                   const OperatorHints& hints = {});
};

// ---- of other operators
using LinearOperators = std::vector<LinearOperator>;
struct LinearOperatorComposition : LinearOperator {  // their product
  explicit LinearOperatorComposition(const LinearOperators& operators,
                                     const OperatorHints& hints = {});
};
struct LinearOperatorBlockDiag : LinearOperator {
  explicit LinearOperatorBlockDiag(const LinearOperators& operators,
                                   const OperatorHints& hints = {});
};
struct LinearOperatorKronecker : LinearOperator {
  explicit LinearOperatorKronecker(const LinearOperators& operators,
                                   const OperatorHints& hints = {});
};
struct LinearOperatorAdjoint : LinearOperator {
  explicit LinearOperatorAdjoint(const LinearOperator& op, const OperatorHints& hints = {});
};
struct LinearOperatorInversion : LinearOperator {
  explicit LinearOperatorInversion(const LinearOperator& op, const OperatorHints& hints = {});
};
// base + u diag(diag_update) v'; [.., n, k] with a small k. Without diag_update ones, without v u.
struct LinearOperatorLowRankUpdate : LinearOperator {
  LinearOperatorLowRankUpdate(const LinearOperator& base_operator, const Operand& u,
                              const Tensor& diag_update = {}, const Tensor& v = {},
                              const OperatorHints& hints = {});
};

}  // namespace linalg
}  // namespace RILL_API
