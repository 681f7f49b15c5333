#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/nest.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/ops/math_ops.h"

// Tensors that are mostly zero, as coordinates and values.
namespace rill RILL_API {

// values[i] is at the coordinates indices[i] of a tensor of dense_shape;
// all else is zero. Many functions want the coordinates in the order of a dense
// tensor: sparse::reorder puts them so.
struct SparseTensor {
  SparseTensor() = default;
  // indices int64 [n, rank], values [n], dense_shape int64 [rank]; InvalidArgument otherwise.
  SparseTensor(const Operand& indices, const Operand& values, const Operand& dense_shape);

  Tensor indices, values, dense_shape;
  DType dtype() const { return values.dtype(); }
  TensorShape shape() const;

  // As a leaf of a Nest: an argument or result of functions, an element of datasets.
  Nest to_nest() const;
  static SparseTensor from_nest(const Nest& nest);  // InvalidArgument for another kind
};
// SparseTensor(indices=tf.Tensor(...), values=tf.Tensor(...), dense_shape=tf.Tensor(...))
std::ostream& operator<<(std::ostream& os, const SparseTensor& t);

// The values in another dtype.
SparseTensor cast(const SparseTensor& x, DType dtype);
IndexedSlices cast(const IndexedSlices& x, DType dtype);

namespace sparse {
using rill::SparseTensor;
SparseTensor from_dense(const Operand& tensor);
// OutOfRange or InvalidArgument for coordinates outside the shape.
Tensor to_dense(const SparseTensor& sp_input, const Operand& default_value = 0);
SparseTensor reorder(const SparseTensor& sp_input);
struct SparseMatmulOptions {
  bool adjoint_a = false, adjoint_b = false;  // transposed and conjugated
};
// sp_a [m, k] x b [k, n], by the values that there are.
Tensor sparse_dense_matmul(const SparseTensor& sp_a, const Operand& b,
                           SparseMatmulOptions options = {});

// ---- another shape. One size may be -1. Results are in the order of a dense tensor where the
// argument is.
SparseTensor reshape(const SparseTensor& sp_input, const Operand& shape);
// Without perm the axes are reversed.
SparseTensor transpose(const SparseTensor& sp_input, const std::vector<int>& perm = {});
SparseTensor slice(const SparseTensor& sp_input, const Operand& start, const Operand& size);
std::vector<SparseTensor> split(const SparseTensor& sp_input, int num_split, int axis);
// expand_nonconcat_dims: the other sizes are those of the largest, instead of an error.
SparseTensor concat(int axis, const std::vector<SparseTensor>& sp_inputs,
                    bool expand_nonconcat_dims = false);
SparseTensor expand_dims(const SparseTensor& sp_input, int axis = -1);
// The smallest shape that holds all values; or a larger one.
SparseTensor reset_shape(const SparseTensor& sp_input);
SparseTensor reset_shape(const SparseTensor& sp_input, const Operand& new_shape);
SparseTensor eye(std::int64_t num_rows, std::int64_t num_columns = -1, DType dtype = float32);

// ---- some values, other values
SparseTensor retain(const SparseTensor& sp_input, const Operand& to_retain);
struct FilledRows {
  SparseTensor sp;
  Tensor empty_row_indicator;  // bool, one a row
};
// default_value at column 0 of the rows that have no value.
FilledRows fill_empty_rows(const SparseTensor& sp_input, const Operand& default_value);
template <class F>
SparseTensor map_values(F f, const SparseTensor& sp_input) {
  return SparseTensor(sp_input.indices, f(sp_input.values), sp_input.dense_shape);
}
// Without the rows of these numbers.
IndexedSlices mask(const IndexedSlices& a, const Operand& mask_indices);

// ---- sums. Sums below threshold, as amounts, are left out.
SparseTensor add(const SparseTensor& a, const SparseTensor& b, double threshold = 0);
Tensor add(const SparseTensor& a, const Operand& b);
Tensor add(const Operand& a, const SparseTensor& b);
// Dense, over the values that there are; 0 where there is none.
Tensor reduce_sum(const SparseTensor& sp_input, ReduceOptions options = {});
Tensor reduce_sum(const SparseTensor& sp_input, int axis, ReduceOptions options = {});
Tensor reduce_sum(const SparseTensor& sp_input, Axes axis, ReduceOptions options = {});
Tensor reduce_max(const SparseTensor& sp_input, ReduceOptions options = {});
Tensor reduce_max(const SparseTensor& sp_input, int axis, ReduceOptions options = {});
Tensor reduce_max(const SparseTensor& sp_input, Axes axis, ReduceOptions options = {});
// Over the values of each row of the last axis.
SparseTensor softmax(const SparseTensor& sp_input);
}  // namespace sparse

// The values by those of a dense tensor, which broadcasts to the shape, at their places.
SparseTensor operator*(const SparseTensor& x, const Operand& y);
SparseTensor operator*(const Operand& x, const SparseTensor& y);
SparseTensor operator/(const SparseTensor& x, const Operand& y);

class RaggedTensor;
namespace nn {
struct EmbeddingLookupSparseOptions {
  std::string combiner = "mean";  // or "sum", "sqrtn": by the root of the squared weights' sum
  double max_norm = 0;            // rows of the table that are longer are scaled down; 0: none
  std::int64_t default_id = -1;   // safe_: the row of the table for no ids; -1: zeros
};
// Row i of the result: the rows of params that row i of sp_ids names, added up with their weights.
// The ids stand in the order of rows; the result ends with the last row that has one. Gradients of
// params are sparse.
Tensor embedding_lookup_sparse(const Operand& params, const SparseTensor& sp_ids,
                               const EmbeddingLookupSparseOptions& options = {});
Tensor embedding_lookup_sparse(const Operand& params, const SparseTensor& sp_ids,
                               const SparseTensor& sp_weights,
                               const EmbeddingLookupSparseOptions& options = {});
Tensor embedding_lookup_sparse(const Operand& params, const RaggedTensor& ids,
                               const EmbeddingLookupSparseOptions& options = {});
RaggedTensor embedding_lookup(const Operand& params, const RaggedTensor& ids);
// The same for every row of ids of any rank from 2 on. Negative ids, and those whose weight is not
// positive (but for "sum"), do not count.
Tensor safe_embedding_lookup_sparse(const Operand& params, const SparseTensor& sparse_ids,
                                    const EmbeddingLookupSparseOptions& options = {});
Tensor safe_embedding_lookup_sparse(const Operand& params, const SparseTensor& sparse_ids,
                                    const SparseTensor& sparse_weights,
                                    const EmbeddingLookupSparseOptions& options = {});
}  // namespace nn
// Sets of integers or strings: each row of the last axis is one, and repeated values are one
// element. Of two tensors all axes but the last are equal. Results are sparse, each row sorted.
namespace sets {
struct Set {
  Set(const Tensor& t) : dense(t) {}
  Set(const SparseTensor& t) : sparse(t) {}
  Tensor dense;
  std::optional<SparseTensor> sparse;
};
SparseTensor intersection(const Set& a, const Set& b, bool validate_indices = true);
SparseTensor union_(const Set& a, const Set& b, bool validate_indices = true);
// a without b, or b without a.
SparseTensor difference(const Set& a, const Set& b, bool aminusb = true,
                        bool validate_indices = true);
Tensor size(const SparseTensor& a, bool validate_indices = true);  // int32, one number a row
}  // namespace sets

}  // namespace RILL_API
