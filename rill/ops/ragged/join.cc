// Concat, stack, range and new axes.
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

void check_ragged_ranks(const std::vector<RaggedTensor>& values, const char* tag) {
  RILL_CHECK(!values.empty(), invalid_argument, "[{}] got nothing; expected ragged tensors", tag);
  for (const RaggedTensor& v : values)
    RILL_CHECK(v.ragged_rank() == values[0].ragged_rank() && v.dtype() == values[0].dtype(),
               invalid_argument,
               "[{}] got {} of shape {} and {} of shape {}; expected one dtype and ragged_rank",
               tag, values[0].dtype(), values[0].shape(), v.dtype(), v.shape());
}

RaggedTensor rows_of_all(const std::vector<RaggedTensor>& values) {
  std::vector<Tensor> flat;
  std::vector<RowLevel> levels;
  for (std::size_t l = 0; l < levels_of(values[0]).size(); ++l) {
    const DType dtype = levels_of(values[0])[l].splits.dtype();
    Tensor so_far;
    std::vector<Tensor> parts;
    std::int64_t uniform = levels_of(values[0])[l].uniform_length;
    for (const RaggedTensor& v : values) {
      const RowLevel& level = levels_of(v)[l];
      const Tensor splits = cast(level.splits, dtype);
      parts.push_back(so_far.defined() ? splits(slice(1, None)) + so_far : splits);
      so_far = so_far.defined() ? so_far + last_of(splits) : last_of(splits);
      if (level.uniform_length != uniform) uniform = -1;
    }
    levels.push_back({concat(parts, 0), uniform});
  }
  for (const RaggedTensor& v : values) flat.push_back(v.flat_values());
  return make_ragged(concat(flat, 0), std::move(levels));
}

// Row i of the first, row i of the second ..: each the rows of one level more.
RaggedTensor interleaved(const std::vector<RaggedTensor>& values, const char* tag) {
  const auto k = static_cast<std::int64_t>(values.size());
  const Tensor n = cast(values[0].nrows(), int64);
  for (const RaggedTensor& v : values)
    RILL_CHECK(v.shape().dim(0) < 0 || values[0].shape().dim(0) < 0 ||
                   v.shape().dim(0) == values[0].shape().dim(0),
               invalid_argument, "[{}] ragged tensors have {} and {} rows; expected the same", tag,
               values[0].shape().dim(0), v.shape().dim(0));
  const Tensor order = reshape(expand_dims(range(n), 1) + range(to_tensor(k, int64)) * n, {-1});
  return gather_rows(rows_of_all(values), order);
}

}  // namespace

RaggedTensor concat(const std::vector<RaggedTensor>& values, int axis) {
  check_ragged_ranks(values, "concat");
  const int rank = values[0].shape().rank();
  const int at = axis < 0 ? axis + rank : axis;
  RILL_CHECK(at >= 0 && at < rank, invalid_argument,
             "[concat] axis {} of ragged tensors of rank {}", axis, rank);
  if (at == 0) return rows_of_all(values);
  if (at > values[0].ragged_rank()) {
    std::vector<Tensor> flat;
    for (const RaggedTensor& v : values) flat.push_back(flat_partner(values[0], v, "concat"));
    return values[0].with_flat_values(concat(flat, at - values[0].ragged_rank()));
  }
  if (at > 1) {
    std::vector<RaggedTensor> inner;
    for (const RaggedTensor& v : values) inner.push_back(v.ragged_values());
    return under_level(concat(inner, at - 1), levels_of(values[0])[0]);
  }
  const RaggedTensor rows = interleaved(values, "concat");
  const Tensor splits = rows.row_splits();
  return under_level(rows.ragged_values(),
                     {splits(slice(None, None, static_cast<std::int64_t>(values.size())))});
}

RaggedTensor expand_dims(const RaggedTensor& x, int axis) {
  std::vector<RowLevel> levels = levels_of(x);
  const auto ragged_rank = static_cast<int>(levels.size());
  const int rank = x.shape().rank(), at = axis < 0 ? axis + rank + 1 : axis;
  RILL_CHECK(at >= 0 && at <= rank, invalid_argument,
             "[expand_dims] axis {} of a ragged tensor of rank {}; expected {} to {}", axis, rank,
             -rank - 1, rank);
  if (at > ragged_rank || levels.empty())
    return make_ragged(expand_dims(x.flat_values(), at - ragged_rank), std::move(levels));
  if (at == 0) {
    const Tensor n = x.nrows();
    levels.insert(levels.begin(), {stack({zeros({}, n.dtype()), n}), x.shape().dim(0)});
  } else {  // every row of that level alone
    const Tensor& splits = levels[static_cast<std::size_t>(at) - 1].splits;
    levels.insert(levels.begin() + (at - 1), {range(count_of_rows(splits) + 1), 1});
  }
  return make_ragged(x.flat_values(), std::move(levels));
}

RaggedTensor tile(const RaggedTensor& x, const std::vector<int>& multiples) {
  const int rank = x.shape().rank();
  RILL_CHECK(static_cast<int>(multiples.size()) == rank, invalid_argument,
             "[tile] {} multiples for a ragged tensor of rank {}; expected one an axis",
             multiples.size(), rank);
  RaggedTensor out = x;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int n = multiples[static_cast<std::size_t>(axis)];
    RILL_CHECK(n > 0, invalid_argument, "[tile] multiples[{}] is {}; expected 1 or more", axis, n);
    if (n != 1) out = concat(std::vector<RaggedTensor>(static_cast<std::size_t>(n), out), axis);
  }
  return out;
}

namespace ragged {

RaggedTensor stack(const std::vector<RaggedTensor>& rows) {
  check_ragged_ranks(rows, "ragged.stack");
  std::vector<Tensor> counts;
  for (const RaggedTensor& row : rows) counts.push_back(rill::cast(row.nrows(), int64));
  return under_level(rows_of_all(rows), {splits_of_lengths(rill::stack(counts))});
}
RaggedTensor stack_rows(const std::vector<Tensor>& rows) {
  std::vector<RaggedTensor> parts;
  for (const Tensor& row : rows) {
    RILL_CHECK(row.ndim() > 0, invalid_argument,
               "[ragged.stack] a row is a scalar; expected tensors of rank 1 or more (tf::stack "
               "takes scalars)");
    parts.push_back(row.ndim() == 1
                        ? make_ragged(row, {})
                        : RaggedTensor::from_tensor(row, {.ragged_rank = row.ndim() - 1}));
  }
  return stack(parts);
}

RaggedTensor range(const Operand& limits) { return ragged::range(0, limits, 1); }
RaggedTensor range(const Operand& starts, const Operand& limits, const Operand& deltas) {
  const char* tag = "ragged.range";
  const Tensor limit = convert_to_tensor(limits);
  const Tensor start = to_tensor(starts, limit.dtype()), delta = to_tensor(deltas, limit.dtype());
  RILL_CHECK(start.dtype() == limit.dtype() && delta.dtype() == limit.dtype(), invalid_argument,
             "[{}] starts are {}, limits {}, deltas {}; expected one dtype", tag, start.dtype(),
             limit.dtype(), delta.dtype());
  // A scalar goes with every row.
  Tensor length_of_all = start + limit + delta;
  RILL_CHECK(length_of_all.ndim() <= 1, invalid_argument,
             "[{}] starts, limits and deltas have shapes {}, {} and {}; expected numbers or lists",
             tag, start.shape(), limit.shape(), delta.shape());
  if (length_of_all.ndim() == 0) length_of_all = reshape(length_of_all, {1});
  const Tensor sizes = rill::shape(length_of_all);
  const Tensor first = broadcast_to(start, sizes), end = broadcast_to(limit, sizes),
               step = broadcast_to(delta, sizes);
  if (!step.is_symbolic())
    for (const double d : step.to_vector<double>())
      RILL_CHECK(d != 0, invalid_argument, "[{}] a delta is 0; expected another number", tag);
  Tensor lengths;
  if (limit.dtype().is_floating()) {
    lengths = rill::cast(maximum(ceil((end - first) / step), 0), int64);
  } else {
    lengths = rill::cast(maximum(floordiv(end - first + step - rill::sign(step), step), 0), int64);
  }
  const Expanded e = expand_ranges(first, lengths, step);
  return make_ragged(e.indices, {{e.splits}});
}

}  // namespace ragged
}  // namespace rill
