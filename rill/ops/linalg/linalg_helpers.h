#pragma once
#include "rill/ops/linalg_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

// What has decompositions.
inline constexpr TypeSet kMatrixTypes = kRealFloatTypes | kComplexTypes;

// Checks that input i is a stack of matrices; false when its rank is unknown.
bool require_matrices(const ShapeContext& c, int i, std::string_view name);
// The same of square ones.
bool require_square(const ShapeContext& c, int i, std::string_view name);
// The leading axes, and two more.
TensorShape with_matrix(const TensorShape& stack, std::int64_t rows, std::int64_t cols);
TensorShape batch_of(const TensorShape& stack);

// a b, of which each may be its adjoint.
Tensor product(const Tensor& a, const Tensor& b, bool adjoint_a = false, bool adjoint_b = false);
// One number a matrix, so that it broadcasts with them: [..] -> [.., 1, 1].
Tensor per_matrix(const Tensor& t);

}  // namespace rill
