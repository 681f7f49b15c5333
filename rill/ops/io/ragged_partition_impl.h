#pragma once
#include <string>
#include <vector>

#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"

// Rows that features of Examples describe: RaggedFeature::Partition.
namespace rill {

// Values that are rows already, or are none yet.
struct PartitionedValues {
  explicit PartitionedValues(const Tensor& t) : dense(t) {}
  explicit PartitionedValues(const RaggedTensor& r) : rows(r) {}
  Tensor dense;
  RaggedTensor rows;  // defined: these
  Tensor count() const { return rows.defined() ? rows.nrows() : shape(dense, int64)[0]; }
  Nest to_nest() const { return rows.defined() ? rows.to_nest() : Nest(dense); }

  PartitionedValues by_splits(const Tensor& splits) const {
    return PartitionedValues(rows.defined() ? RaggedTensor::from_row_splits(rows, splits, true)
                                            : RaggedTensor::from_row_splits(dense, splits, true));
  }
  PartitionedValues by_lengths(const Tensor& lengths) const {
    return PartitionedValues(rows.defined() ? RaggedTensor::from_row_lengths(rows, lengths, true)
                                            : RaggedTensor::from_row_lengths(dense, lengths, true));
  }
  PartitionedValues by_rowids(const Tensor& ids) const {
    return PartitionedValues(rows.defined()
                                 ? RaggedTensor::from_value_rowids(rows, ids, -1, true)
                                 : RaggedTensor::from_value_rowids(dense, ids, -1, true));
  }
  PartitionedValues by_limits(const Tensor& limits) const {
    return by_splits(concat({zeros({1}, limits.dtype()), limits}, 0));
  }
  PartitionedValues by_starts(const Tensor& starts) const {
    return by_splits(concat({starts, reshape(cast(count(), starts.dtype()), {1})}, 0));
  }
  // Values that are no rows become a tensor of rank one more.
  PartitionedValues by_length(std::int64_t length) const {
    if (rows.defined())
      return PartitionedValues(RaggedTensor::from_uniform_row_length(rows, length));
    const Tensor inner = shape(dense, int64)(slice(1, None));
    const Tensor sizes = concat({constant({std::int64_t{-1}, length}, int64), inner}, 0);
    return PartitionedValues(reshape(dense, sizes));
  }
};

// Row ids make as many rows as the last of them says, whatever the size of the record: so many rows
// without a value are believed, of all records of a call together.
inline constexpr std::int64_t kMostEmptyRows = std::int64_t{1} << 24;

// REQUIRES: `last`, the last row id of each example, in the order of its values. Checked when the
// program runs, before memory is taken for the rows.
inline void check_row_ids(const Tensor& last, const Tensor& values) {
  const Tensor rows = maximum(cast(last, int64), constant(std::int64_t{-1}, int64));
  const Tensor most = cast(values, int64) + constant(kMostEmptyRows, int64);
  // First each, so that the sum is right.
  const Tensor each = reduce_all(less(rows, most));
  const Tensor sum = reduce_sum(minimum(rows, most) + constant(std::int64_t{1}, int64));
  debugging::Assert(
      logical_and(each, less_equal(sum, most)),
      {constant(format("[RaggedFeature.ValueRowIds] the row ids leave more than {} rows without a "
                       "value; expected ids that belong to the values. A damaged record? The last "
                       "row id of each example, and the number of values:",
                       kMostEmptyRows)),
       last, values});
}

// Of one Example: `numbers` is what the partition's feature holds.
inline PartitionedValues partitioned(const PartitionedValues& values,
                                     const io::RaggedFeature::Partition& p, const Tensor& numbers) {
  using Kind = io::RaggedFeature::Partition::Kind;
  switch (p.kind) {
    case Kind::row_splits:
      return values.by_splits(numbers);
    case Kind::row_lengths:
      return values.by_lengths(numbers);
    case Kind::value_rowids:
      check_row_ids(
          reduce_max(concat({numbers, fill({1}, cast(constant(-1), numbers.dtype()))}, 0)),
          values.count());
      return values.by_rowids(numbers);
    case Kind::row_starts:
      return values.by_starts(numbers);
    case Kind::row_limits:
      return values.by_limits(numbers);
    default:
      return values.by_length(p.length);
  }
}

// Of a batch: `splits` cuts the values into those of each example, and so does `numbers` with the
// numbers. Both become those of the next level.
inline PartitionedValues partitioned_batch(const PartitionedValues& values,
                                           const io::RaggedFeature::Partition& p,
                                           const RaggedTensor& numbers, Tensor* splits) {
  using Kind = io::RaggedFeature::Partition::Kind;
  if (p.kind == Kind::uniform_row_length) {
    *splits = floordiv(*splits, cast(constant(p.length, int64), splits->dtype()));
    return values.by_length(p.length);
  }
  const Tensor starts = (*splits)(slice(None, -1));
  // Numbers that count from the first value of their example, counted from that of the batch.
  const auto moved = [&](const RaggedTensor& own, const Tensor& by) {
    return own.values() + repeat(by, own.row_lengths());
  };
  const RaggedTensor own = p.kind == Kind::row_splits ? numbers(all, slice(1, None)) : numbers;
  if (p.kind == Kind::value_rowids) {
    // Of an example without ids the least number that there is.
    const Tensor last = rill::reduce_max(own, 1);
    check_row_ids(last, values.count());
    const Tensor one = cast(constant(1), own.dtype());
    const Tensor rows = maximum(last, -one) + one;
    *splits = concat({zeros({1}, rows.dtype()), cumsum(rows)}, 0);
    return values.by_rowids(moved(own, cumsum(rows, 0, {.exclusive = true})));
  }
  *splits = own.row_splits();
  if (p.kind == Kind::row_lengths) return values.by_lengths(own.values());
  return p.kind == Kind::row_starts ? values.by_starts(moved(own, starts))
                                    : values.by_limits(moved(own, starts));
}

}  // namespace rill
