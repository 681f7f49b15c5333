#pragma once
#include <string>
#include <vector>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

// Linear algebra over the last two axes; leading axes are a batch. Names,
// arguments and defaults are TensorFlow's. What decomposes takes float32,
// float64, complex64 and complex128.
namespace rill RILL_API {
namespace linalg {

using rill::einsum, rill::global_norm, rill::matmul, rill::norm, rill::tensordot;

// The tensor divided by its norm (see tf::norm), and that norm.
struct Normalized {
  Tensor normalized, norm;
};
Normalized normalize(const Operand& tensor, NormOptions options = {});

// ---- shaping and products
// The last two axes exchanged; adjoint also conjugates.
Tensor matrix_transpose(const Operand& a, bool conjugate = false);
Tensor adjoint(const Operand& matrix);
struct MatvecOptions {
  bool transpose_a = false, adjoint_a = false;
};
Tensor matvec(const Operand& a, const Operand& b,
              MatvecOptions options = {});  // [.., m, n] x [.., n] -> [.., m]
Tensor cross(const Operand& a,
             const Operand& b);  // of vectors of 3 along the last axis; shapes are equal
Tensor trace(const Operand& x);  // sum of the main diagonal

// ---- decompositions
// l, lower triangular, with l l' = input. InvalidArgument for a matrix that is
// not positive definite. Only the lower triangle is read.
Tensor cholesky(const Operand& input);
struct Qr {
  Tensor q, r;
};
struct QrOptions {
  bool full_matrices = false;  // q square; else q [m, k], r [k, n] with k = min(m, n)
};
// q with orthonormal columns, r upper triangular, q r = input. Signs are free.
Qr qr(const Operand& input, QrOptions options = {});
struct Svd {
  Tensor s, u, v;  // u and v undefined without compute_uv
};
struct SvdOptions {
  bool full_matrices = false;  // u and v square
  bool compute_uv = true;
};
// Singular values, the largest first, and vectors: input = u diag(s) v'.
Svd svd(const Operand& tensor, SvdOptions options = {});

struct Eigh {
  Tensor e, v;
};
// Eigenvalues of self-adjoint matrices, the smallest first, and vectors as
// columns: tensor = v diag(e) v'. Only the lower triangle is read.
Eigh eigh(const Operand& tensor);
Tensor eigvalsh(const Operand& tensor);
struct EighTridiagonalOptions {
  bool eigvals_only = true;
  std::string select = "a";  // all; "v": those in (first, last]; "i": those at first to last
  std::vector<double> select_range = {0, 0};
};
// The same of one matrix with the diagonal alpha [n] and beta [n - 1] below it.
Eigh eigh_tridiagonal(const Operand& alpha, const Operand& beta,
                      EighTridiagonalOptions options = {});
struct Eig {
  Tensor e, v;
};
// Eigenvalues of any square matrix, complex and in no order, and vectors of length 1 as columns.
// Their phases are free. Gradients need values that differ.
Eig eig(const Operand& tensor);
Tensor eigvals(const Operand& tensor);
struct RankOptions {
  double tol = -1;  // singular values above it count; below 0: what rounding makes of 0
};
Tensor matrix_rank(const Operand& a, RankOptions options = {});  // int32

// l, of which the diagonal of ones is not stored, and u in one matrix, and p: row i of l u is row
// p[i] of the input. InvalidArgument for a matrix that cannot be inverted.
struct Lu {
  Tensor lu, p;
};
Lu lu(const Operand& input, DType output_idx_type = int32);
Tensor lu_reconstruct(const Operand& lower_upper, const Operand& perm);  // the input again
Tensor lu_solve(const Operand& lower_upper, const Operand& perm, const Operand& rhs);
Tensor lu_matrix_inverse(const Operand& lower_upper, const Operand& perm);

// ---- functions of square matrices, by double precision in every dtype
Tensor expm(const Operand& input);
// The principal root. NaN where a real matrix has none that is real: cast it to complex then.
Tensor sqrtm(const Operand& input);
Tensor logm(const Operand& input);  // of complex matrices

// ---- equations. InvalidArgument for a matrix that cannot be inverted.
struct AdjointOptions {
  bool adjoint = false;  // of the adjoint matrix instead
};
Tensor inv(const Operand& input, AdjointOptions options = {});
// x with matrix x = rhs; [.., m, m] and [.., m, k].
Tensor solve(const Operand& matrix, const Operand& rhs, AdjointOptions options = {});
struct TriangularOptions {
  bool lower = true, adjoint = false;
};
// The same of triangular matrices; the other triangle is not read. Batches broadcast.
Tensor triangular_solve(const Operand& matrix, const Operand& rhs, TriangularOptions options = {});
// The same of [.., bands, n]: row k is diagonal k below the main one, element (i, i - k) at i. Of
// an upper triangle the last row is the main diagonal and row k before it holds (i, i + k) at i.
Tensor banded_triangular_solve(const Operand& bands, const Operand& rhs,
                               TriangularOptions options = {});
struct TridiagonalSolveOptions {
  // "compact": [.., 3, n], the diagonals above, on and below the main one, at their rows;
  // "sequence": the same three as [.., n] (the outer ones also [.., n - 1]); "matrix": [.., n, n].
  std::string diagonals_format = "compact";
  bool transpose_rhs = false, conjugate_rhs = false, partial_pivoting = true,
       perturb_singular = false;  // not on the CPU
};
// rhs: [.., n, k], or [.., n].
Tensor tridiagonal_solve(const TensorList& diagonals, const Operand& rhs,
                         const TridiagonalSolveOptions& options = {});
Tensor tridiagonal_matmul(const TensorList& diagonals, const Operand& rhs,
                          const std::string& diagonals_format = "compact");
// x with l l' x = rhs, for l = cholesky(..).
Tensor cholesky_solve(const Operand& chol, const Operand& rhs);
struct LstsqOptions {
  double l2_regularizer = 0;
  // By Cholesky of the normal equations, of matrices with full rank. Else by
  // singular values: any matrix, without the regularizer.
  bool fast = true;
};
// The x of least |matrix x - rhs|^2 + l2_regularizer |x|^2; where there are many
// the shortest.
Tensor lstsq(const Operand& matrix, const Operand& rhs, LstsqOptions options = {});

struct PinvOptions {
  double rcond =
      -1;  // singular values below rcond times the largest are 0; below 0: 10 max(m, n) eps
};
Tensor pinv(const Operand& a, PinvOptions options = {});  // the pseudo-inverse

// ---- determinants
Tensor det(const Operand& input);
struct Slogdet {
  Tensor sign, log_abs_determinant;
};
Slogdet slogdet(const Operand& input);
Tensor logdet(const Operand& matrix);  // of positive definite matrices, by Cholesky

}  // namespace linalg
}  // namespace RILL_API
