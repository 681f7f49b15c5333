#pragma once
#include "rill/ops/sparse_ops.h"

// What the files of sparse tensors share.
namespace rill {

int rank_of(const SparseTensor& sp);
// Row-major places of coordinates in a tensor of that shape, and back.
Tensor linear_places(const Tensor& indices, const Tensor& dense_shape);
Tensor coordinates_at(const Tensor& places, const Tensor& dense_shape);
// 0 .. rank - 1; InvalidArgument outside [-rank, rank).
int sparse_axis(int axis, int rank, const char* tag);
// Some columns of coordinates or of a shape.
Tensor columns_of(const Tensor& indices, const std::vector<int>& axes);

}  // namespace rill
