#pragma once
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

// The gradient of rows picked from something of this shape, one row an index: `dy` has the axes of
// the indices in front, whose sizes may be unknown while a function is traced.
inline IndexedSlices gathered_rows(const Tensor& dy, const Tensor& indices,
                                   const TensorShape& shape) {
  Dims rows = shape.dims();
  rows[0] = indices.shape().num_elements();
  Tensor values;
  if (rows[0] >= 0) {
    values = reshape(dy, TensorShape(rows));
  } else {
    std::vector<Tensor> sizes{size(indices)};
    for (std::size_t i = 1; i < rows.size(); ++i) sizes.push_back(to_tensor(rows[i], int32));
    values = reshape(dy, stack(sizes));
  }
  return {values, reshape(indices, {-1}), shape};
}

}  // namespace rill
