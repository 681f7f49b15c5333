// Rows, and parts of rows.
#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// Begin and number of elements of a Python slice of a row of each length.
struct Range {
  Tensor begin, count;
};
Range range_in(const Slice& s, const Tensor& lengths) {
  const DType dtype = lengths.dtype();
  const bool up = s.step > 0;
  // Positions that a slice may begin and end at: 0 .. n upwards, n - 1 .. -1 downwards.
  const Tensor low = fill(rill::shape(lengths), to_tensor(up ? 0 : -1, dtype));
  const Tensor high = up ? lengths : lengths - 1;
  auto position = [&](const Dim& d, const Tensor& by, const Tensor& otherwise) {
    if (by.defined()) {
      const Tensor n = low * 0 + cast(by, dtype);
      return minimum(maximum(where(less(n, 0), lengths + n, n), low), high);
    }
    if (!d.known()) return otherwise;
    const std::int64_t n = d.value();
    const Tensor at = n < 0 ? lengths + n : low * 0 + n;
    return minimum(maximum(at, low), high);
  };
  const Tensor begin = position(s.begin, s.begin_at, up ? low : high),
               end = position(s.end, s.end_at, up ? high : low);
  const Tensor span = up ? end - begin : begin - end;
  const std::int64_t step = up ? s.step : -s.step;
  return {begin, maximum(floordiv(span + (step - 1), step), 0)};
}

// A slice of the rows of axis `axis` of x.
RaggedTensor slice_of(const RaggedTensor& x, const Slice& s, std::size_t axis) {
  RILL_CHECK(!s.step_at.defined(), invalid_argument,
             "[RaggedTensor] the step of a slice is a tensor; expected a number");
  RILL_CHECK(s.step != 0, invalid_argument, "[RaggedTensor] the step of a slice is 0");
  const std::vector<RowLevel>& levels = levels_of(x);
  if (axis == 0) {
    if (levels.empty()) return make_ragged(x.flat_values()(s), {});
    const Range r = range_in(s, reshape(x.nrows(), {1}));
    const Tensor rows = expand_ranges(r.begin, r.count, to_tensor(s.step, r.begin.dtype())).indices;
    return gather_rows(x, rows);
  }
  const RaggedTensor values = x.ragged_values();
  const RowLevel& level = levels[0];
  if (axis > 1) return under_level(slice_of(values, s, axis - 1), level);
  const Range r = range_in(s, lengths_of(level.splits));
  const Expanded e = expand_ranges(level.splits(slice(None, -1)) + r.begin, r.count,
                                   to_tensor(s.step, level.splits.dtype()));
  return under_level(gather_rows(values, e.indices), {e.splits});
}

}  // namespace

RaggedTensor RaggedTensor::row(int i) const {
  const std::vector<RowLevel>& levels = levels_of(*this);
  if (levels.empty()) return make_ragged(flat_values_[i], {});
  const Tensor& splits = levels[0].splits;
  const std::int64_t n = shape().dim(0);
  RILL_CHECK(n < 0 || (i < n && i >= -n), out_of_range,
             "[RaggedTensor] row {} of {} rows; expected {} to {}", i, n, -n, n - 1);
  const std::int64_t at = i >= 0 ? i : i - 1;
  const Tensor begin = splits[at], end = splits[at + 1];
  if (levels.size() == 1) {
    const int rank = flat_values_.ndim();
    std::vector<Tensor> first{begin}, count{end - begin};
    for (int k = 1; k < rank; ++k) {
      first.push_back(zeros({}, begin.dtype()));
      count.push_back(rill::to_tensor(-1, begin.dtype()));
    }
    return make_ragged(rill::slice(flat_values_, stack(first), stack(count)), {});
  }
  return gather_rows(ragged_values(), range(begin, end));
}

Tensor RaggedTensor::operator[](int i) const {
  RILL_CHECK(ragged_rank() <= 1, invalid_argument,
             "[RaggedTensor] row {} has rows of its own (ragged_rank {}); use row({})", i,
             ragged_rank(), i);
  return row(i).flat_values_;
}

RaggedTensor::operator Tensor() const {
  RILL_CHECK(ragged_rank() == 0, invalid_argument,
             "[RaggedTensor] a ragged tensor of shape {} is no tensor; use to_tensor(), which pads "
             "its rows",
             shape());
  return flat_values_;
}

RaggedTensor RaggedTensor::at(std::initializer_list<Index> index) const {
  RaggedTensor out = *this;
  std::size_t axis = 0;
  for (const Index* at = index.begin(); at != index.end(); ++at) {
    const Index& i = *at;
    const std::size_t ragged = levels_of(out).size();
    // A row that is a tensor: what is left picks from it.
    if (ragged == 0 && axis == 0)
      return make_ragged(index_tensor(out.flat_values(), at, index.end()), {});
    RILL_CHECK(axis <= ragged, invalid_argument,
               "[RaggedTensor] index {} speaks of an axis within the elements; use "
               "with_flat_values(x.flat_values()(tf::all, ..))",
               axis);
    switch (i.kind()) {
      case Index::Kind::whole:
        break;
      case Index::Kind::range:
        out = slice_of(out, i.range(), axis);
        break;
      case Index::Kind::tensor:
        RILL_CHECK(axis == 0, invalid_argument,
                   "[RaggedTensor] a tensor picks rows: expected it as the first index");
        out = gather(out, i.tensor());
        break;
      case Index::Kind::number:
        RILL_CHECK(axis == 0, invalid_argument,
                   "[RaggedTensor] a number picks a row; of a ragged axis rows may not have it. "
                   "Use a slice, as tf::slice({}, {})",
                   i.number(), i.number() + 1);
        out = out.row(static_cast<int>(i.number()));
        continue;  // the next index speaks of the first axis again
      case Index::Kind::dots:
      case Index::Kind::new_axis:
        RILL_FAIL(invalid_argument,
                  "[RaggedTensor] an index is tf::ellipsis or tf::newaxis; expected slices. "
                  "tf::expand_dims adds an axis");
    }
    ++axis;
  }
  return out;
}

RaggedTensor gather(const RaggedTensor& params, const Operand& indices) {
  const Tensor rows = as_row_numbers(indices, "gather", "indices");
  const std::int64_t n = params.shape().dim(0);
  if (!rows.is_symbolic() && n >= 0)
    for (const std::int64_t i : rows.to_vector<std::int64_t>())
      RILL_CHECK(i >= 0 && i < n, invalid_argument, "[gather] row {} of {} rows; expected 0 to {}",
                 i, n, n - 1);
  return gather_rows(params, rows);
}
RaggedTensor gather(const Operand& params, const RaggedTensor& indices) {
  return indices.with_flat_values(gather(params, indices.flat_values()));
}

RaggedTensor reverse(const RaggedTensor& x, int axis) {
  const int rank = x.shape().rank();
  const int at = axis < 0 ? axis + rank : axis;
  RILL_CHECK(at >= 0 && at < rank, invalid_argument,
             "[reverse] axis {} of a ragged tensor of rank {}", axis, rank);
  if (at > x.ragged_rank())
    return x.with_flat_values(reverse(x.flat_values(), {at - x.ragged_rank()}));
  return slice_of(x, Slice{None, None, -1}, static_cast<std::size_t>(at));
}

namespace ragged {

RaggedTensor boolean_mask(const RaggedTensor& data, const RaggedTensor& mask) {
  require_same_rows(data, mask, "ragged.boolean_mask");
  RILL_CHECK(mask.dtype() == bool_, invalid_argument,
             "[ragged.boolean_mask] mask has dtype {}; expected bool", mask.dtype());
  std::vector<RowLevel> levels = levels_of(data);
  RowLevel& last = levels.back();
  const Tensor& splits = last.splits;
  // How many are kept before each end of a row.
  const Tensor before = splits_of_lengths(rill::cast(mask.flat_values(), splits.dtype()));
  last = {rill::gather(before, splits)};
  return make_ragged(rill::boolean_mask(data.flat_values(), mask.flat_values()), std::move(levels));
}
RaggedTensor boolean_mask(const RaggedTensor& data, const Operand& mask) {
  const Tensor m = convert_to_tensor(mask);
  RILL_CHECK(m.dtype() == bool_ && m.ndim() == 1, invalid_argument,
             "[ragged.boolean_mask] mask is {} of shape {}; expected bool, one a row (or a ragged "
             "mask)",
             m.dtype(), m.shape());
  RILL_CHECK(
      m.shape().dim(0) < 0 || data.shape().dim(0) < 0 || m.shape().dim(0) == data.shape().dim(0),
      invalid_argument, "[ragged.boolean_mask] a mask of {} for {} rows", m.shape().dim(0),
      data.shape().dim(0));
  return gather_rows(data, squeeze(rill::where(m), 1));
}
RaggedTensor boolean_mask(const Operand& data, const Operand& mask) {
  const Tensor m = convert_to_tensor(mask), t = convert_to_tensor(data);
  RILL_CHECK(m.dtype() == bool_ && m.ndim() >= 2 && t.ndim() >= m.ndim(), invalid_argument,
             "[ragged.boolean_mask] mask is {} of shape {} for data of shape {}; expected bool of "
             "rank 2 or more, the first axes of data",
             m.dtype(), m.shape(), t.shape());
  const RaggedFromTensorOptions all_axes{.ragged_rank = m.ndim() - 1};
  return boolean_mask(RaggedTensor::from_tensor(t, all_axes),
                      RaggedTensor::from_tensor(m, all_axes));
}

}  // namespace ragged
}  // namespace rill
