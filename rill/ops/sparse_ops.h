#pragma once
#include <iosfwd>
#include <optional>

#include "rill/core/gradient.h"
#include "rill/core/nest.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

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
// sp_a [m, k] x b [k, n], by the values that there are.
Tensor sparse_dense_matmul(const SparseTensor& sp_a, const Operand& b);
Tensor reduce_sum(const SparseTensor& sp_input);  // of all values
}  // namespace sparse

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
