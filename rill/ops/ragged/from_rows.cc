// Ragged tensors out of values and what tells their rows.
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// The number of rows of the values: of ragged ones, that of their outermost level.
std::int64_t value_count(const RaggedTensor& values) {
  const std::vector<RowLevel>& levels = levels_of(values);
  const TensorShape& s = levels.empty() ? values.flat_values().shape() : levels[0].splits.shape();
  if (!s.has_rank() || s.dim(0) < 0) return -1;
  return levels.empty() ? s.dim(0) : s.dim(0) - 1;
}
RaggedTensor flat(const Operand& values, const char* tag) {
  const Tensor t = convert_to_tensor(values);
  RILL_CHECK(!t.shape().has_rank() || t.ndim() > 0, invalid_argument,
             "[{}] values is a scalar; expected a list, or a tensor of more axes", tag);
  return make_ragged(t, {});
}

RaggedTensor with_splits(const RaggedTensor& values, const Tensor& splits, bool validate,
                         const char* tag) {
  if (validate && !splits.is_symbolic()) {
    const auto s = splits.to_vector<std::int64_t>();
    RILL_CHECK(!s.empty(), invalid_argument,
               "[{}] row_splits is empty; expected one number more than there are rows", tag);
    RILL_CHECK(s[0] == 0, invalid_argument, "[{}] row_splits begins with {}; expected 0", tag,
               s[0]);
    for (std::size_t i = 1; i < s.size(); ++i)
      RILL_CHECK(s[i] >= s[i - 1], invalid_argument,
                 "[{}] row_splits[{}] = {} is less than row_splits[{}] = {}; they must not fall",
                 tag, i, s[i], i - 1, s[i - 1]);
    const std::int64_t n = value_count(values);
    RILL_CHECK(n < 0 || s.back() == n, invalid_argument,
               "[{}] the rows end at {}, but there are {} values; expected the same", tag, s.back(),
               n);
  }
  return under_level(values, {splits});
}

RaggedTensor with_lengths(const RaggedTensor& values, const Operand& row_lengths, bool validate) {
  const char* tag = "RaggedTensor.from_row_lengths";
  const Tensor lengths = as_row_numbers(row_lengths, tag, "row_lengths");
  if (validate && !lengths.is_symbolic()) {
    const auto n = lengths.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < n.size(); ++i)
      RILL_CHECK(n[i] >= 0, invalid_argument, "[{}] row_lengths[{}] is {}; expected 0 or more", tag,
                 i, n[i]);
  }
  return with_splits(values, splits_of_lengths(lengths), validate, tag);
}

RaggedTensor with_rowids(const RaggedTensor& values, const Operand& value_rowids,
                         std::int64_t nrows, bool validate) {
  const char* tag = "RaggedTensor.from_value_rowids";
  const Tensor ids = as_row_numbers(value_rowids, tag, "value_rowids");
  RILL_CHECK(nrows >= -1, invalid_argument, "[{}] nrows is {}; expected 0 or more", tag, nrows);
  if (validate && !ids.is_symbolic()) {
    const auto id = ids.to_vector<std::int64_t>();
    const std::int64_t n = value_count(values);
    RILL_CHECK(n < 0 || n == static_cast<std::int64_t>(id.size()), invalid_argument,
               "[{}] {} value_rowids for {} values; expected the same number", tag, id.size(), n);
    for (std::size_t i = 0; i < id.size(); ++i) {
      RILL_CHECK(id[i] >= 0 && (i == 0 || id[i] >= id[i - 1]), invalid_argument,
                 "[{}] value_rowids[{}] is {}; expected row numbers from 0 on that never fall", tag,
                 i, id[i]);
    }
    RILL_CHECK(nrows < 0 || id.empty() || id.back() < nrows, invalid_argument,
               "[{}] value_rowids end with {}, but nrows is {}; expected a larger nrows", tag,
               id.back(), nrows);
  }
  const DType dtype = ids.dtype();
  const Tensor rows = nrows >= 0
                          ? to_tensor(nrows, dtype)
                          : reduce_max(concat({ids, fill({1}, to_tensor(-1, dtype))}, 0)) + 1;
  const Tensor splits = searchsorted(ids, range(rows + 1), "left", dtype);
  return with_splits(values, splits, false, tag);
}

RaggedTensor with_uniform(const RaggedTensor& values, std::int64_t length, std::int64_t nrows) {
  const char* tag = "RaggedTensor.from_uniform_row_length";
  RILL_CHECK(length >= 0, invalid_argument, "[{}] the length is {}; expected 0 or more", tag,
             length);
  const std::int64_t n = value_count(values);
  if (n < 0) {
    RILL_CHECK(length > 0, invalid_argument, "[{}] the number of values is not known", tag);
    const Tensor& flat_values = values.flat_values();
    const Tensor count = levels_of(values).empty() ? rill::shape(flat_values, int64)[0]
                                                   : cast(values.nrows(), int64);
    return under_level(values, {range(0, count + 1, length), length});
  }
  RILL_CHECK(length > 0 || nrows >= 0, invalid_argument,
             "[{}] rows of length 0 do not tell how many they are; give nrows", tag);
  if (nrows < 0) {
    RILL_CHECK(n % length == 0, invalid_argument,
               "[{}] {} values are no rows of {}; expected a multiple of it", tag, n, length);
    nrows = n / length;
  }
  RILL_CHECK(nrows * length == n, invalid_argument,
             "[{}] {} rows of {} take {} values; there are {}", tag, nrows, length, nrows * length,
             n);
  std::vector<std::int64_t> splits(static_cast<std::size_t>(nrows) + 1);
  for (std::size_t i = 0; i < splits.size(); ++i) splits[i] = static_cast<std::int64_t>(i) * length;
  return under_level(values, {to_tensor(splits), length});
}

}  // namespace

RaggedTensor RaggedTensor::from_row_splits(const RaggedTensor& values, const Operand& row_splits,
                                           bool validate) {
  const char* tag = "RaggedTensor.from_row_splits";
  return with_splits(values, as_row_numbers(row_splits, tag, "row_splits"), validate, tag);
}
RaggedTensor RaggedTensor::from_row_splits(const Operand& values, const Operand& row_splits,
                                           bool validate) {
  return from_row_splits(flat(values, "RaggedTensor.from_row_splits"), row_splits, validate);
}
RaggedTensor RaggedTensor::from_row_lengths(const RaggedTensor& values, const Operand& row_lengths,
                                            bool validate) {
  return with_lengths(values, row_lengths, validate);
}
RaggedTensor RaggedTensor::from_row_lengths(const Operand& values, const Operand& row_lengths,
                                            bool validate) {
  return with_lengths(flat(values, "RaggedTensor.from_row_lengths"), row_lengths, validate);
}
RaggedTensor RaggedTensor::from_value_rowids(const RaggedTensor& values,
                                             const Operand& value_rowids, std::int64_t nrows,
                                             bool validate) {
  return with_rowids(values, value_rowids, nrows, validate);
}
RaggedTensor RaggedTensor::from_value_rowids(const Operand& values, const Operand& value_rowids,
                                             std::int64_t nrows, bool validate) {
  return with_rowids(flat(values, "RaggedTensor.from_value_rowids"), value_rowids, nrows, validate);
}

RaggedTensor RaggedTensor::from_row_starts(const Operand& values, const Operand& row_starts,
                                           bool validate) {
  const char* tag = "RaggedTensor.from_row_starts";
  const RaggedTensor all = flat(values, tag);
  const Tensor starts = as_row_numbers(row_starts, tag, "row_starts");
  const Tensor end = rill::shape(all.flat_values(), starts.dtype())(slice(None, 1));
  return with_splits(all, concat({starts, end}, 0), validate, tag);
}
RaggedTensor RaggedTensor::from_row_limits(const Operand& values, const Operand& row_limits,
                                           bool validate) {
  const char* tag = "RaggedTensor.from_row_limits";
  const Tensor limits = as_row_numbers(row_limits, tag, "row_limits");
  return with_splits(flat(values, tag), concat({zeros({1}, limits.dtype()), limits}, 0), validate,
                     tag);
}

RaggedTensor RaggedTensor::from_uniform_row_length(const RaggedTensor& values, std::int64_t length,
                                                   std::int64_t nrows) {
  return with_uniform(values, length, nrows);
}
RaggedTensor RaggedTensor::from_uniform_row_length(const Operand& values, std::int64_t length,
                                                   std::int64_t nrows) {
  return with_uniform(flat(values, "RaggedTensor.from_uniform_row_length"), length, nrows);
}

RaggedTensor RaggedTensor::from_nested_row_splits(const Operand& flat_values,
                                                  const std::vector<Tensor>& nested_row_splits,
                                                  bool validate) {
  RaggedTensor out = flat(flat_values, "RaggedTensor.from_nested_row_splits");
  for (std::size_t i = nested_row_splits.size(); i-- > 0;)
    out = from_row_splits(out, nested_row_splits[i], validate);
  return out;
}
RaggedTensor RaggedTensor::from_nested_row_lengths(const Operand& flat_values,
                                                   const std::vector<Tensor>& nested_row_lengths,
                                                   bool validate) {
  RaggedTensor out = flat(flat_values, "RaggedTensor.from_nested_row_lengths");
  for (std::size_t i = nested_row_lengths.size(); i-- > 0;)
    out = from_row_lengths(out, nested_row_lengths[i], validate);
  return out;
}

}  // namespace rill
