// To and from padded and sparse tensors.
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// For each value the coordinates of its ragged axes, [values, ragged_rank + 1], in int64.
Tensor coordinates_of(const RaggedTensor& x) {
  const std::vector<RowLevel>& levels = levels_of(x);
  std::vector<Tensor> columns(levels.size() + 1);
  Tensor rows;  // of each value, at the level below
  for (std::size_t l = levels.size(); l-- > 0;) {
    const Tensor ids = x.rows()->value_rowids(l);
    Tensor places = places_in_rows(levels[l].splits, ids);
    Tensor up = ids;
    if (rows.defined()) places = gather(places, rows), up = gather(ids, rows);
    columns[l + 1] = cast(places, int64);
    rows = up;
  }
  columns[0] = cast(rows, int64);
  return stack(columns, 1);
}

// Sizes that are asked for, and where None those of the box.
Tensor wanted_sizes(const RaggedTensor& x, const TensorShape& shape) {
  const Tensor box = x.bounding_shape();
  if (!shape.has_rank()) return box;
  const int rank = x.shape().rank();
  RILL_CHECK(shape.rank() == rank, invalid_argument,
             "[RaggedTensor.to_tensor] shape {} for a ragged tensor of shape {}; expected as many "
             "axes",
             shape, x.shape());
  std::vector<Tensor> sizes;
  for (int i = 0; i < rank; ++i)
    sizes.push_back(shape.dim(i) >= 0 ? to_tensor(shape.dim(i), int64) : box[i]);
  return stack(sizes);
}

// Of one ragged axis: every place of the box takes its value, or the one behind the last, which is
// the default. (A gather takes half the time of a scatter by coordinates.)
Tensor padded_rows(const RaggedTensor& x, const Tensor& default_value, const Tensor& sizes,
                   std::int64_t wanted_rows) {
  const Tensor& flat = x.flat_values();
  const Tensor splits = cast(x.row_splits(), int64);
  Tensor starts = splits(slice(None, -1)), lengths = lengths_of(splits);
  if (wanted_rows >= 0) {  // rows that there are not are empty
    const Tensor none = zeros({wanted_rows}, int64);
    starts = concat({starts, none}, 0)(slice(0, wanted_rows));
    lengths = concat({lengths, none}, 0)(slice(0, wanted_rows));
  }
  const Tensor columns = range(sizes[1]);
  const Tensor places = where(less(columns, expand_dims(lengths, 1)),
                              expand_dims(starts, 1) + columns, last_of(splits));
  const Tensor one = concat({ones({1}, int64), rill::shape(flat, int64)(slice(1, None))}, 0);
  return gather(concat({flat, broadcast_to(default_value, one)}, 0), places);
}

Tensor padded(const RaggedTensor& x, const Tensor& background_value, const TensorShape& shape) {
  const Tensor& flat = x.flat_values();
  const int ragged_axes = x.ragged_rank() + 1;
  const Tensor sizes = wanted_sizes(x, shape);
  for (int i = 0; shape.has_rank() && i < flat.ndim() - 1; ++i) {
    const std::int64_t want = shape.dim(ragged_axes + i), have = flat.shape().dim(i + 1);
    RILL_CHECK(want < 0 || have < 0 || want == have, invalid_argument,
               "[RaggedTensor.to_tensor] shape {} has size {} where every element has {}", shape,
               want, have);
  }
  if (ragged_axes == 2)
    return padded_rows(x, background_value, sizes, shape.has_rank() ? shape.dim(0) : -1);
  Tensor at = coordinates_of(x), values = flat;
  if (shape.has_rank()) {  // what is outside is cut off
    const Tensor inside = reduce_all(less(at, sizes(slice(0, ragged_axes))), 1);
    at = boolean_mask(at, inside), values = boolean_mask(values, inside);
  }
  const Tensor background = broadcast_to(background_value, sizes);
  return tensor_scatter_nd_update(background, at, values);
}

}  // namespace

Tensor RaggedTensor::to_tensor() const { return to_tensor(zeros({}, dtype())); }
Tensor RaggedTensor::to_tensor(const Operand& default_value, const TensorShape& shape) const {
  const Tensor value = rill::to_tensor(default_value, dtype());
  RILL_CHECK(value.dtype() == dtype(), invalid_argument,
             "[RaggedTensor.to_tensor] default_value is {}, the values are {}; expected one dtype",
             value.dtype(), dtype());
  if (levels_of(*this).empty()) return flat_values_;
  return padded(*this, value, shape);
}

SparseTensor RaggedTensor::to_sparse() const {
  if (levels_of(*this).empty()) return sparse::from_dense(flat_values_);
  const Tensor outer = coordinates_of(*this);
  if (flat_values_.ndim() == 1) return {outer, flat_values_, bounding_shape()};
  // Of elements with axes of their own each number has a place.
  const Tensor inner = where(ones_like(flat_values_, bool_));
  const Tensor at = concat({gather(outer, inner(all, 0)), inner(all, slice(1, None))}, 1);
  return {at, reshape(flat_values_, {-1}), bounding_shape()};
}

RaggedTensor RaggedTensor::from_sparse(const SparseTensor& sparse, DType row_splits_dtype) {
  const char* tag = "RaggedTensor.from_sparse";
  RILL_CHECK(!sparse.indices.shape().has_rank() || sparse.indices.shape().dim(1) == 2,
             invalid_argument, "[{}] the sparse tensor has shape {}; expected rank 2", tag,
             sparse.shape());
  const Tensor row = sparse.indices(all, 0), column = sparse.indices(all, 1);
  const Tensor splits = searchsorted(row, range(sparse.dense_shape[0] + 1), "left", int64);
  if (!sparse.indices.is_symbolic()) {
    const auto rows = row.to_vector<std::int64_t>(), columns = column.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool begins = i == 0 || rows[i] != rows[i - 1];
      RILL_CHECK((begins ? columns[i] == 0 && (i == 0 || rows[i] > rows[i - 1])
                         : columns[i] == columns[i - 1] + 1),
                 invalid_argument,
                 "[{}] indices[{}] = [{}, {}]: the values of a row have to stand at 0, 1, .. in "
                 "order",
                 tag, i, rows[i], columns[i]);
    }
  }
  return make_ragged(sparse.values, {{cast(splits, row_splits_dtype)}});
}

namespace {

// How long each row is without the padding at its end. An element of several numbers is padding
// where all of them are.
Tensor unpadded_lengths(const Tensor& rows, const Tensor& padding) {
  Tensor is_padding = equal(rows, padding);
  while (is_padding.ndim() > 2) is_padding = reduce_all(is_padding, -1);
  const Tensor places = range(rill::shape(rows, int64)[1]) + 1;
  const Tensor last = where(is_padding, zeros({}, int64), places);
  // (A row of no columns has none.)
  return reduce_max(
      concat({last, zeros_like(last(all, slice(0, 0))),
              zeros(stack({rill::shape(rows, int64)[0], to_tensor(1, int64)}), int64)},
             1),
      1);
}

// The lengths of several levels, or one list of them.
std::vector<Tensor> lists_of_lengths(const TensorList& given) {
  std::vector<Tensor> lists = given.tensors();
  bool numbers = !lists.empty();
  for (const Tensor& t : lists) numbers = numbers && t.ndim() == 0;
  if (numbers) lists = {stack(lists)};
  return lists;
}

RaggedTensor cut_rows(const Tensor& t, const Tensor& lengths, DType splits_dtype) {
  const Tensor mask = sequence_mask(lengths, rill::shape(t, lengths.dtype())[1]);
  return make_ragged(boolean_mask(t, mask), {{splits_of_lengths(cast(lengths, splits_dtype))}});
}

Tensor merged_axes(const Tensor& t) {  // the first two
  const Tensor sizes = rill::shape(t, int64);
  return reshape(t, concat({reshape(sizes[0] * sizes[1], {1}), sizes(slice(2, None))}, 0));
}

}  // namespace

RaggedTensor RaggedTensor::from_tensor(const Operand& tensor,
                                       const RaggedFromTensorOptions& options) {
  const char* tag = "RaggedTensor.from_tensor";
  const Tensor t = convert_to_tensor(tensor);
  const std::vector<Tensor> lengths = lists_of_lengths(options.lengths);
  const int ragged_rank =
      lengths.size() > 1 ? static_cast<int>(lengths.size()) : options.ragged_rank;
  RILL_CHECK(ragged_rank > 0, invalid_argument, "[{}] ragged_rank is {}; expected 1 or more", tag,
             ragged_rank);
  RILL_CHECK(t.ndim() > ragged_rank, invalid_argument,
             "[{}] a tensor of shape {} has no {} ragged axes; expected rank {} or more", tag,
             t.shape(), ragged_rank, ragged_rank + 1);
  RILL_CHECK(lengths.empty() || !options.padding.defined(), invalid_argument,
             "[{}] got lengths and padding; expected one of them", tag);
  if (lengths.size() > 1) {  // the outer rows, of what stays of the inner ones
    const RaggedTensor outer = cut_rows(t, lengths[0], options.row_splits_dtype);
    RaggedFromTensorOptions inner = options;
    inner.lengths = std::vector<Tensor>(lengths.begin() + 1, lengths.end());
    return outer.with_values(from_tensor(outer.flat_values_, inner));
  }
  if (ragged_rank > 1) {
    RaggedFromTensorOptions inner = options;
    inner.ragged_rank = ragged_rank - 1;
    const RaggedTensor values = from_tensor(merged_axes(t), inner);
    const std::int64_t nrows = t.shape().dim(0), length = t.shape().dim(1);
    if (nrows >= 0 && length >= 0) return from_uniform_row_length(values, length, nrows);
    const Tensor sizes = rill::shape(t, options.row_splits_dtype);
    return under_level(values, {range(sizes[0] + 1) * sizes[1], length});
  }
  if (!lengths.empty())
    return cut_rows(t, as_row_numbers(lengths[0], tag, "lengths"), options.row_splits_dtype);
  if (options.padding.defined()) {
    Dims dims;
    for (int i = 2; i < t.ndim(); ++i) dims.push_back(t.shape().dim(i));
    const TensorShape element(dims);
    RILL_CHECK(options.padding.shape().is_compatible_with(element), invalid_argument,
               "[{}] padding has shape {}; expected that of an element, {}", tag,
               options.padding.shape(), element);
    return cut_rows(t, unpadded_lengths(t, rill::cast(options.padding, t.dtype())),
                    options.row_splits_dtype);
  }
  const Tensor sizes = rill::shape(t, options.row_splits_dtype);
  if (t.shape().dim(0) >= 0 && t.shape().dim(1) >= 0)
    return from_uniform_row_length(merged_axes(t), t.shape().dim(1), t.shape().dim(0))
        .with_row_splits_dtype(options.row_splits_dtype);
  return make_ragged(merged_axes(t), {{range(sizes[0] + 1) * sizes[1], t.shape().dim(1)}});
}

}  // namespace rill
