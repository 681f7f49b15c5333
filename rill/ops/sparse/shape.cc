// Sparse tensors of another shape, order or part.
#include <algorithm>
#include <numeric>

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/sparse/sparse_impl.h"

namespace rill {

int rank_of(const SparseTensor& sp) {
  const TensorShape &s = sp.dense_shape.shape(), &at = sp.indices.shape();
  std::int64_t rank = s.has_rank() ? s.dim(0) : -1;
  if (rank < 0 && at.has_rank()) rank = at.dim(1);
  RILL_CHECK(rank >= 0, invalid_argument,
             "[SparseTensor] the rank is not known; use set_shape() on dense_shape");
  return static_cast<int>(rank);
}
Tensor linear_places(const Tensor& indices, const Tensor& dense_shape) {
  const Tensor skips = cumprod(dense_shape, 0, {.exclusive = true, .reverse = true});
  return reduce_sum(indices * skips, 1);
}
Tensor coordinates_at(const Tensor& places, const Tensor& dense_shape) {
  const Tensor skips = cumprod(dense_shape, 0, {.exclusive = true, .reverse = true});
  return floordiv(expand_dims(places, 1), skips) % dense_shape;
}
int sparse_axis(int axis, int rank, const char* tag) {
  RILL_CHECK(axis >= -rank && axis < rank, invalid_argument,
             "[{}] axis is {} for a sparse tensor of rank {}; expected {} to {}", tag, axis, rank,
             -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}
Tensor columns_of(const Tensor& indices, const std::vector<int>& axes) {
  return gather(indices, constant(axes, int32), indices.ndim() - 1);
}

namespace sparse {
namespace {

// The sizes with -1 worked out. InvalidArgument where they do not hold as many elements.
Tensor full_sizes(const SparseTensor& sp, const Tensor& sizes) {
  const char* tag = "sparse.reshape";
  const Tensor have = reduce_prod(sp.dense_shape);
  if (!sizes.is_symbolic() && !sp.dense_shape.is_symbolic()) {
    auto want = sizes.to_vector<std::int64_t>();
    const auto total = have.item<std::int64_t>();
    std::int64_t known = 1;
    for (const std::int64_t n : want) {
      RILL_CHECK(n >= -1, invalid_argument, "[{}] shape {} has size {}; expected 0 or more, or -1",
                 tag, sizes.to_string(), n);
      if (n >= 0) known *= n;
    }
    const auto open = std::ranges::count(want, -1);
    RILL_CHECK(open <= 1, invalid_argument, "[{}] shape {} has {} sizes of -1; expected one", tag,
               sizes.to_string(), open);
    RILL_CHECK(open ? known > 0 && total % known == 0 : known == total, invalid_argument,
               "[{}] a sparse tensor of shape {} has {} places; shape {} has not", tag,
               sp.dense_shape.to_string(), total, sizes.to_string());
    if (open) *std::ranges::find(want, -1) = total / known;
    return constant(want);
  }
  const Tensor known = reduce_prod(where(less(sizes, 0), to_tensor(1, int64), sizes));
  return where(less(sizes, 0), floordiv(have, maximum(known, 1)), sizes);
}

}  // namespace

SparseTensor reshape(const SparseTensor& sp, const Operand& shape) {
  const Tensor sizes = full_sizes(sp, to_tensor(shape, int64));
  return {coordinates_at(linear_places(sp.indices, sp.dense_shape), sizes), sp.values, sizes};
}

SparseTensor transpose(const SparseTensor& sp, const std::vector<int>& perm) {
  const int rank = rank_of(sp);
  std::vector<int> axes = perm;
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.rbegin(), axes.rend(), 0);
  }
  std::vector<int> sorted = axes;
  std::ranges::sort(sorted);
  bool each_once = static_cast<int>(sorted.size()) == rank;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    each_once = each_once && sorted[i] == static_cast<int>(i);
  RILL_CHECK(each_once, invalid_argument,
             "[sparse.transpose] perm {} for rank {}; expected each axis once",
             constant(axes).to_string(), rank);
  return reorder({columns_of(sp.indices, axes), sp.values, columns_of(sp.dense_shape, axes)});
}

SparseTensor slice(const SparseTensor& sp, const Operand& start, const Operand& size) {
  const Tensor begin = to_tensor(start, int64), wanted = to_tensor(size, int64);
  const Tensor end = begin + wanted;
  const Tensor inside =
      reduce_all(logical_and(greater_equal(sp.indices, begin), less(sp.indices, end)), 1);
  return {boolean_mask(sp.indices, inside) - begin, boolean_mask(sp.values, inside),
          maximum(minimum(sp.dense_shape - begin, wanted), 0)};
}

std::vector<SparseTensor> split(const SparseTensor& sp, int num_split, int axis) {
  const char* tag = "sparse.split";
  const int rank = rank_of(sp);
  const auto at = static_cast<std::size_t>(sparse_axis(axis, rank, tag));
  const auto sizes = sp.dense_shape.to_vector<std::int64_t>();
  RILL_CHECK(num_split > 0 && num_split <= sizes[at], invalid_argument,
             "[{}] {} parts of an axis of size {}; expected 1 to {}", tag, num_split, sizes[at],
             sizes[at]);
  std::vector<SparseTensor> out;
  std::vector<std::int64_t> begin(sizes.size(), 0), size = sizes;
  for (int i = 0; i < num_split; ++i) {  // the first ones take what is left over
    size[at] = sizes[at] / num_split + (i < sizes[at] % num_split);
    out.push_back(slice(sp, begin, size));
    begin[at] += size[at];
  }
  return out;
}

SparseTensor concat(int axis, const std::vector<SparseTensor>& inputs, bool expand_nonconcat_dims) {
  const char* tag = "sparse.concat";
  RILL_CHECK(!inputs.empty(), invalid_argument, "[{}] got no sparse tensor", tag);
  const int rank = rank_of(inputs[0]), at = sparse_axis(axis, rank, tag);
  std::vector<Tensor> indices, values, shapes;
  const Tensor along = one_hot(at, rank, {.dtype = int64});
  Tensor before = to_tensor(0, int64);
  for (const SparseTensor& sp : inputs) {
    RILL_CHECK(rank_of(sp) == rank && sp.dtype() == inputs[0].dtype(), invalid_argument,
               "[{}] got {} of rank {} and {} of rank {}; expected one dtype and rank", tag,
               inputs[0].dtype(), rank, sp.dtype(), rank_of(sp));
    indices.push_back(sp.indices + along * before);
    values.push_back(sp.values);
    shapes.push_back(sp.dense_shape);
    before = before + sp.dense_shape[at];
  }
  const Tensor largest = reduce_max(stack(shapes), 0);
  if (!expand_nonconcat_dims && !largest.is_symbolic())
    for (const Tensor& s : shapes)
      for (int i = 0; i < rank; ++i)
        RILL_CHECK(i == at || s[i].item<std::int64_t>() == largest[i].item<std::int64_t>(),
                   invalid_argument,
                   "[{}] shapes {} and {} differ in axis {}; expected the same, or "
                   "expand_nonconcat_dims",
                   tag, shapes[0].to_string(), s.to_string(), i);
  return reorder(
      {rill::concat(indices, 0), rill::concat(values, 0), where(equal(along, 1), before, largest)});
}

SparseTensor expand_dims(const SparseTensor& sp, int axis) {
  const int rank = rank_of(sp), at = sparse_axis(axis, rank + 1, "sparse.expand_dims");
  const Tensor zero = rill::zeros_like(sp.indices(all, rill::slice(0, 1)));
  return {
      rill::concat(
          {sp.indices(all, rill::slice(0, at)), zero, sp.indices(all, rill::slice(at, None))}, 1),
      sp.values,
      rill::concat({sp.dense_shape(rill::slice(0, at)), ones({1}, int64),
                    sp.dense_shape(rill::slice(at, None))},
                   0)};
}

SparseTensor reset_shape(const SparseTensor& sp) {
  const Tensor none = zeros({1, rank_of(sp)}, int64);
  return {sp.indices, sp.values, reduce_max(rill::concat({sp.indices + 1, none}, 0), 0)};
}
SparseTensor reset_shape(const SparseTensor& sp, const Operand& new_shape) {
  const Tensor sizes = to_tensor(new_shape, int64);
  RILL_CHECK(sizes.shape().is_compatible_with(sp.dense_shape.shape()), invalid_argument,
             "[sparse.reset_shape] a shape of {} sizes for rank {}", sizes.size(), rank_of(sp));
  RILL_CHECK(sizes.is_symbolic() || sp.dense_shape.is_symbolic() ||
                 static_cast<bool>(reduce_all(greater_equal(sizes, sp.dense_shape))),
             invalid_argument,
             "[sparse.reset_shape] shape {} is smaller than that of the sparse tensor, {}",
             sizes.to_string(), sp.dense_shape.to_string());
  return {sp.indices, sp.values, sizes};
}

SparseTensor retain(const SparseTensor& sp, const Operand& to_retain) {
  const Tensor keep = to_tensor(to_retain, bool_);
  RILL_CHECK(keep.dtype() == bool_ && keep.shape().is_compatible_with(sp.values.shape()),
             invalid_argument, "[sparse.retain] to_retain is {} of shape {}; expected bool, {}",
             keep.dtype(), keep.shape(), sp.values.shape());
  return {boolean_mask(sp.indices, keep), boolean_mask(sp.values, keep), sp.dense_shape};
}

FilledRows fill_empty_rows(const SparseTensor& sp, const Operand& default_value) {
  const Tensor rows = sp.indices(all, 0), n = sp.dense_shape[0];
  const Tensor empty = equal(unsorted_segment_sum(ones_like(rows), rows, n), 0);
  const Tensor at = where(empty);  // [k, 1]
  const Tensor columns =
      zeros(stack({rill::shape(at, int64)[0], to_tensor(rank_of(sp) - 1, int64)}), int64);
  const Tensor values =
      fill(rill::shape(at, int64)(rill::slice(0, 1)), to_tensor(default_value, sp.dtype()));
  return {reorder({rill::concat({sp.indices, rill::concat({at, columns}, 1)}, 0),
                   rill::concat({sp.values, values}, 0), sp.dense_shape}),
          empty};
}

SparseTensor eye(std::int64_t num_rows, std::int64_t num_columns, DType dtype) {
  if (num_columns < 0) num_columns = num_rows;
  RILL_CHECK(num_rows >= 0, invalid_argument, "[sparse.eye] num_rows is {}; expected 0 or more",
             num_rows);
  const Tensor n = range(to_tensor(std::min(num_rows, num_columns), int64));
  return {stack({n, n}, 1), ones(rill::shape(n), dtype), {num_rows, num_columns}};
}

}  // namespace sparse
}  // namespace rill
