#pragma once
#include <mutex>
#include <vector>

#include "rill/ops/ragged_ops.h"

// The rows behind ragged tensors, and what their files share.
namespace rill {

struct RowLevel {
  Tensor splits;
  std::int64_t uniform_length = -1;  // of every row, where that is known
};

class RaggedRows {
 public:
  explicit RaggedRows(std::vector<RowLevel> l) : levels(std::move(l)), ids_(levels.size()) {}
  // The row of each value of a level. Eager ones are kept: reductions and broadcasts ask for them
  // again and again.
  Tensor value_rowids(std::size_t level) const;

  RefCount refs;
  const std::vector<RowLevel> levels;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Tensor> ids_;
};

RaggedTensor make_ragged(const Tensor& flat_values, std::vector<RowLevel> levels);
const std::vector<RowLevel>& levels_of(const RaggedTensor& x);
// The same values under one level more, or without their first.
RaggedTensor under_level(const RaggedTensor& values, RowLevel level);

// The number of rows, the lengths and the row numbers that splits stand for. Results have their
// dtype.
Tensor count_of_rows(const Tensor& splits);
Tensor lengths_of(const Tensor& splits);
Tensor rowids_of(const Tensor& splits);
Tensor splits_of_lengths(const Tensor& lengths);
Tensor last_of(const Tensor& splits);  // the number of values
// Positions of the values in their rows.
Tensor places_in_rows(const Tensor& splits, const Tensor& rowids);

// starts[i], starts[i] + step[i], ..: lengths[i] numbers for each i, one after the other.
struct Expanded {
  Tensor indices, splits;
};
Expanded expand_ranges(const Tensor& starts, const Tensor& lengths, const Tensor& step = {});

// A list of splits, lengths or ids: int64, unless an int32 tensor or vector gave it.
Tensor as_row_numbers(const Operand& x, std::string_view tag, std::string_view what);
// Rows of x by their numbers, which are not checked.
RaggedTensor gather_rows(const RaggedTensor& x, const Tensor& indices);
// `values` (which may have levels of its own) summed up over segments, and so on.
using SegmentReduction = Tensor (*)(const Operand&, const Operand&, const Operand&);

// y brought to the flat values of x, where it is a tensor of any shape that broadcasts to x's.
Tensor flat_partner(const RaggedTensor& x, const Tensor& y, std::string_view tag);
Tensor flat_partner(const RaggedTensor& x, const RaggedTensor& y, std::string_view tag);

}  // namespace rill
