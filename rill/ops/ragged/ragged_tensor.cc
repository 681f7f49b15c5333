// The handle: what a ragged tensor tells of itself, and its form as a leaf of a Nest.
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

const RowLevel& outermost(const RaggedTensor& x, const char* what) {
  const std::vector<RowLevel>& levels = levels_of(x);
  RILL_CHECK(!levels.empty(), invalid_argument,
             "[RaggedTensor.{}] the tensor has no ragged axis: it is flat_values()", what);
  return levels[0];
}
std::int64_t static_rows(const Tensor& splits) {
  const TensorShape& s = splits.shape();
  return s.has_rank() && s.dim(0) >= 0 ? s.dim(0) - 1 : -1;
}

}  // namespace

RaggedTensor RaggedTensor::of_rows(Tensor flat_values, Ref<RaggedRows> rows) {
  RaggedTensor out;
  out.flat_values_ = std::move(flat_values);
  out.rows_ = std::move(rows);
  return out;
}

Tensor RaggedTensor::values() const {
  RILL_CHECK(levels_of(*this).size() <= 1, invalid_argument,
             "[RaggedTensor.values] the rows have rows of their own (ragged_rank {}); use "
             "ragged_values(), or flat_values() for the numbers",
             ragged_rank());
  return flat_values_;
}
RaggedTensor RaggedTensor::ragged_values() const {
  outermost(*this, "ragged_values");
  const std::vector<RowLevel>& levels = levels_of(*this);
  return make_ragged(flat_values_, {levels.begin() + 1, levels.end()});
}
Tensor RaggedTensor::row_splits() const { return outermost(*this, "row_splits").splits; }
std::vector<Tensor> RaggedTensor::nested_row_splits() const {
  std::vector<Tensor> out;
  for (const RowLevel& level : levels_of(*this)) out.push_back(level.splits);
  return out;
}
std::vector<Tensor> RaggedTensor::nested_row_lengths() const {
  std::vector<Tensor> out;
  for (const RowLevel& level : levels_of(*this)) out.push_back(lengths_of(level.splits));
  return out;
}
Tensor RaggedTensor::nrows() const {
  if (levels_of(*this).empty()) return rill::shape(flat_values_, int64)[0];
  return count_of_rows(row_splits());
}
Tensor RaggedTensor::row_lengths(int axis) const {
  const int rank = ragged_rank();
  if (axis == 0) return nrows();
  RILL_CHECK(axis == 1, invalid_argument,
             "[RaggedTensor.row_lengths] axis is {}; expected 1, or see nested_row_lengths() for "
             "axes 1 to {}",
             axis, rank);
  return lengths_of(outermost(*this, "row_lengths").splits);
}
Tensor RaggedTensor::row_starts() const {
  return outermost(*this, "row_starts").splits(slice(None, -1));
}
Tensor RaggedTensor::row_limits() const {
  return outermost(*this, "row_limits").splits(slice(1, None));
}
Tensor RaggedTensor::value_rowids() const {
  outermost(*this, "value_rowids");
  return rows_->value_rowids(0);
}
std::int64_t RaggedTensor::uniform_row_length() const {
  return outermost(*this, "uniform_row_length").uniform_length;
}
int RaggedTensor::ragged_rank() const { return static_cast<int>(levels_of(*this).size()); }
DType RaggedTensor::row_splits_dtype() const {
  return levels_of(*this).empty() ? DType(int64) : row_splits().dtype();
}
bool RaggedTensor::is_symbolic() const {
  if (flat_values_.is_symbolic()) return true;
  for (const RowLevel& level : levels_of(*this))
    if (level.splits.is_symbolic()) return true;
  return false;
}

TensorShape RaggedTensor::shape() const {
  const std::vector<RowLevel>& levels = levels_of(*this);
  const TensorShape& flat = flat_values_.shape();
  if (levels.empty() || !flat.has_rank()) return flat;
  Dims dims{static_rows(levels[0].splits)};
  for (const RowLevel& level : levels) dims.push_back(level.uniform_length);
  for (int i = 1; i < flat.rank(); ++i) dims.push_back(flat.dim(i));
  return TensorShape(dims);
}

Tensor RaggedTensor::bounding_shape() const {
  std::vector<Tensor> sizes{reshape(cast(nrows(), int64), {1})};
  for (const RowLevel& level : levels_of(*this)) {
    // The longest of no rows is 0.
    const Tensor lengths = cast(lengths_of(level.splits), int64);
    sizes.push_back(reduce_max(concat({lengths, zeros({1}, int64)}, 0), 0, {.keepdims = true}));
  }
  if (flat_values_.ndim() > 1) sizes.push_back(rill::shape(flat_values_, int64)(slice(1, None)));
  return concat(sizes, 0);
}

RaggedTensor RaggedTensor::with_flat_values(const Operand& flat_values) const {
  levels_of(*this);
  if (flat_values.kind() == Operand::Kind::tensor) {
    const Tensor& t = flat_values.tensor();
    RILL_CHECK(t.shape().has_rank() ? t.ndim() > 0 : true, invalid_argument,
               "[RaggedTensor.with_flat_values] the values are a scalar; expected one a place");
    const std::int64_t have = flat_values_.shape().has_rank() ? flat_values_.shape().dim(0) : -1,
                       got = t.shape().has_rank() ? t.shape().dim(0) : -1;
    RILL_CHECK(have < 0 || got < 0 || have == got, invalid_argument,
               "[RaggedTensor.with_flat_values] the rows hold {} values, got {}; expected the same",
               have, got);
    return of_rows(t, rows_);
  }
  return with_flat_values(Operand(rill::to_tensor(flat_values)));
}
RaggedTensor RaggedTensor::with_values(const Operand& values) const {
  return with_values(make_ragged(convert_to_tensor(values), {}));
}
RaggedTensor RaggedTensor::with_values(const RaggedTensor& values) const {
  const RowLevel& level = outermost(*this, "with_values");
  const TensorShape s = values.shape();
  const std::int64_t now = s.has_rank() ? s.dim(0) : -1,
                     had = ragged_values().shape().has_rank() ? ragged_values().shape().dim(0) : -1;
  RILL_CHECK(now < 0 || had < 0 || now == had, invalid_argument,
             "[RaggedTensor.with_values] the rows hold {} values, got {}; expected the same", had,
             now);
  return under_level(values, level);
}
RaggedTensor RaggedTensor::with_row_splits_dtype(DType dtype) const {
  RILL_CHECK(dtype == int32 || dtype == int64, invalid_argument,
             "[RaggedTensor.with_row_splits_dtype] got {}; expected int32 or int64", dtype);
  std::vector<RowLevel> levels = levels_of(*this);
  for (RowLevel& level : levels) level.splits = rill::cast(level.splits, dtype);
  return make_ragged(flat_values_, std::move(levels));
}

std::vector<std::vector<std::int64_t>> RaggedTensor::list_lengths(int rank) const {
  const TensorShape s = shape();
  RILL_CHECK(s.rank() == rank, invalid_argument,
             "[RaggedTensor.to_list] the shape is {}; write to_list<T, {}>() for lists of that "
             "depth",
             s, s.rank());
  std::vector<std::vector<std::int64_t>> out{{s.dim(0)}};
  std::int64_t rows = s.dim(0);
  for (const RowLevel& level : levels_of(*this)) {
    out.push_back(lengths_of(level.splits).to_vector<std::int64_t>());
    rows = last_of(level.splits).item<std::int64_t>();
  }
  for (int i = 1; i < flat_values_.ndim(); ++i) {
    const std::int64_t n = flat_values_.shape().dim(i);
    out.emplace_back(static_cast<std::size_t>(rows), n);
    rows *= n;
  }
  return out;
}

Nest RaggedTensor::to_nest() const {
  std::vector<Nest> parts{flat_values_};
  for (const RowLevel& level : levels_of(*this)) parts.emplace_back(level.splits);
  return Nest::composite("ragged", std::move(parts));
}
RaggedTensor RaggedTensor::from_nest(const Nest& nest) {
  if (nest.is_tensor()) return make_ragged(nest.as_tensor(), {});
  RILL_CHECK(nest.composite_kind() == "ragged", invalid_argument,
             "[RaggedTensor] expected a ragged tensor, got {}", nest.to_string());
  std::vector<RowLevel> levels;
  for (std::size_t i = 1; i < nest.size(); ++i) levels.push_back({nest.part(i).as_tensor()});
  return make_ragged(nest.part(0).as_tensor(), std::move(levels));
}
RaggedTensor Nest::as_ragged() const {
  RILL_CHECK(composite_kind() == "ragged", invalid_argument,
             "[RaggedTensor] expected a ragged tensor, got {}", to_string());
  return as<RaggedTensor>();
}

}  // namespace rill
