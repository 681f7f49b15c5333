// Sums, reductions and products of sparse tensors.
#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/sparse/sparse_impl.h"

namespace rill {
namespace {

// The values with a dense tensor at their places. Where there is no value the result has none.
template <class F>
SparseTensor with_dense(const SparseTensor& sp, const Operand& dense, F f) {
  const Tensor d = to_tensor(dense, sp.dtype());
  SparseTensor out = sp;
  out.values =
      f(sp.values, d.ndim() == 0 ? d : gather_nd(broadcast_to(d, sp.dense_shape), sp.indices));
  return out;
}

// The groups of values that a reduction over some axes joins.
struct Groups {
  Tensor ids, count, kept_shape;
};
Groups groups_of(const SparseTensor& sp, const std::vector<int>& reduced, bool keepdims,
                 const char* tag) {
  const int rank = rank_of(sp);
  std::vector<bool> gone(static_cast<std::size_t>(rank), false);
  for (const int axis : reduced)
    gone[static_cast<std::size_t>(sparse_axis(axis, rank, tag))] = true;
  std::vector<int> kept;
  std::vector<Tensor> sizes;
  for (int i = 0; i < rank; ++i) {
    const bool is_gone = gone[static_cast<std::size_t>(i)];
    if (!is_gone) kept.push_back(i);
    if (!is_gone || keepdims) sizes.push_back(is_gone ? to_tensor(1, int64) : sp.dense_shape[i]);
  }
  const Tensor shape = sizes.empty() ? zeros({0}, int64) : stack(sizes);
  if (kept.empty()) return {rill::zeros_like(sp.indices(all, 0)), to_tensor(1, int64), shape};
  const Tensor kept_sizes = columns_of(sp.dense_shape, kept);
  return {linear_places(columns_of(sp.indices, kept), kept_sizes), reduce_prod(kept_sizes), shape};
}

std::vector<int> all_axes(const SparseTensor& sp, const ReduceOptions& options) {
  if (options.axis.list()) return *options.axis.list();
  std::vector<int> axes;
  for (int i = 0; i < rank_of(sp); ++i) axes.push_back(i);
  return axes;
}

Tensor sum_groups(const SparseTensor& sp, const std::vector<int>& axes, bool keepdims) {
  const Groups g = groups_of(sp, axes, keepdims, "sparse.reduce_sum");
  return reshape(unsorted_segment_sum(sp.values, g.ids, g.count), g.kept_shape);
}
// Of a group without values: 0.
Tensor max_groups(const SparseTensor& sp, const std::vector<int>& axes, bool keepdims) {
  const Groups g = groups_of(sp, axes, keepdims, "sparse.reduce_max");
  const Tensor most = unsorted_segment_max(sp.values, g.ids, g.count);
  const Tensor some = greater(unsorted_segment_sum(ones_like(g.ids), g.ids, g.count), 0);
  return reshape(where(some, most, zeros_like(most)), g.kept_shape);
}

}  // namespace

SparseTensor operator*(const SparseTensor& x, const Operand& y) {
  return with_dense(x, y, [](const Tensor& a, const Tensor& b) { return a * b; });
}
SparseTensor operator*(const Operand& x, const SparseTensor& y) { return y * x; }
SparseTensor operator/(const SparseTensor& x, const Operand& y) {
  return with_dense(x, y, [](const Tensor& a, const Tensor& b) { return a / b; });
}

namespace sparse {

SparseTensor add(const SparseTensor& a, const SparseTensor& b, double threshold) {
  RILL_CHECK(rank_of(a) == rank_of(b) && a.dtype() == b.dtype(), invalid_argument,
             "[sparse.add] got {} of rank {} and {} of rank {}; expected one dtype and rank",
             a.dtype(), rank_of(a), b.dtype(), rank_of(b));
  if (value_known(a.dense_shape) && value_known(b.dense_shape))
    RILL_CHECK(a.shape() == b.shape(), invalid_argument,
               "[sparse.add] sparse tensors have shapes {} and {}; expected the same", a.shape(),
               b.shape());
  const SparseTensor both = reorder({rill::concat({a.indices, b.indices}, 0),
                                     rill::concat({a.values, b.values}, 0), a.dense_shape});
  const UniqueResult places = unique(linear_places(both.indices, both.dense_shape));
  const Tensor sums = unsorted_segment_sum(both.values, places.idx, rill::size(places.y));
  const SparseTensor out(coordinates_at(places.y, a.dense_shape), sums, a.dense_shape);
  return threshold > 0 ? retain(out, greater_equal(rill::abs(sums), threshold)) : out;
}
Tensor add(const SparseTensor& a, const Operand& b) {
  const Tensor dense = to_tensor(b, a.dtype());
  return tensor_scatter_nd_add(dense, a.indices, a.values);
}
Tensor add(const Operand& a, const SparseTensor& b) { return add(b, a); }

Tensor reduce_sum(const SparseTensor& sp, ReduceOptions options) {
  return sum_groups(sp, all_axes(sp, options), options.keepdims);
}
Tensor reduce_sum(const SparseTensor& sp, int axis, ReduceOptions options) {
  return sum_groups(sp, {axis}, options.keepdims);
}
Tensor reduce_sum(const SparseTensor& sp, Axes axis, ReduceOptions options) {
  return sum_groups(sp, axis, options.keepdims);
}
Tensor reduce_max(const SparseTensor& sp, ReduceOptions options) {
  return max_groups(sp, all_axes(sp, options), options.keepdims);
}
Tensor reduce_max(const SparseTensor& sp, int axis, ReduceOptions options) {
  return max_groups(sp, {axis}, options.keepdims);
}
Tensor reduce_max(const SparseTensor& sp, Axes axis, ReduceOptions options) {
  return max_groups(sp, axis, options.keepdims);
}

SparseTensor softmax(const SparseTensor& sp) {
  const int rank = rank_of(sp);
  RILL_CHECK(rank >= 2, invalid_argument, "[sparse.softmax] rank is {}; expected 2 or more", rank);
  const Groups g = groups_of(sp, {rank - 1}, false, "sparse.softmax");
  const Tensor most = stop_gradient(unsorted_segment_max(sp.values, g.ids, g.count));
  const Tensor e = exp(sp.values - gather(most, g.ids));
  return {sp.indices, e / gather(unsorted_segment_sum(e, g.ids, g.count), g.ids), sp.dense_shape};
}

Tensor sparse_dense_matmul(const SparseTensor& sp, const Operand& b, SparseMatmulOptions options) {
  Tensor dense = convert_to_tensor(b);
  RILL_CHECK(rank_of(sp) == 2 && dense.ndim() == 2, invalid_argument,
             "[sparse.sparse_dense_matmul] got ranks {} and {}; expected two matrices", rank_of(sp),
             dense.ndim());
  if (options.adjoint_b) dense = conj(transpose(dense));
  const int row = options.adjoint_a ? 1 : 0, column = 1 - row;
  if (value_known(sp.dense_shape)) {
    const std::int64_t k = sp.shape().dim(column), have = dense.shape().dim(0);
    RILL_CHECK(have < 0 || have == k, invalid_argument,
               "[sparse.sparse_dense_matmul] shapes {}{} and {}{} do not multiply; expected [m, k] "
               "and [k, n]",
               sp.shape(), options.adjoint_a ? " (adjoint)" : "", convert_to_tensor(b).shape(),
               options.adjoint_b ? " (adjoint)" : "");
  }
  const Tensor values = options.adjoint_a ? conj(sp.values) : sp.values;
  return unsorted_segment_sum(rill::expand_dims(values, 1) * gather(dense, sp.indices(all, column)),
                              sp.indices(all, row), sp.dense_shape[row]);
}

IndexedSlices mask(const IndexedSlices& a, const Operand& mask_indices) {
  const Tensor drop = to_tensor(mask_indices, a.indices.dtype());
  const Tensor keep = logical_not(
      reduce_any(equal(rill::expand_dims(a.indices, 1), rill::expand_dims(drop, 0)), 1));
  return {boolean_mask(a.values, keep), boolean_mask(a.indices, keep), a.dense_shape};
}

}  // namespace sparse
}  // namespace rill
