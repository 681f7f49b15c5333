// What stands beside a ragged tensor in an op of elements, brought to its flat values.
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// Equal splits. What is known only when the graph runs is asserted there.
bool same_splits(const Tensor& a, const Tensor& b, std::string_view tag) {
  if (a.id() == b.id()) return true;
  const TensorShape &s = a.shape(), &t = b.shape();
  if (!s.is_compatible_with(t)) return false;
  if (!a.is_symbolic() && !b.is_symbolic())
    return a.to_vector<std::int64_t>() == b.to_vector<std::int64_t>();
  debugging::assert_equal(cast(a, int64), cast(b, int64),
                          {.message = format("[{}] ragged tensors of different rows", tag)});
  return true;
}

void require_same_splits(const RaggedTensor& x, const RaggedTensor& y, std::size_t levels,
                         std::string_view tag) {
  for (std::size_t i = 0; i < levels; ++i) {
    const Tensor &a = levels_of(x)[i].splits, &b = levels_of(y)[i].splits;
    RILL_CHECK(same_splits(a, b, tag), invalid_argument,
               "[{}] ragged tensors have different rows: row_splits of axis {} are {} and {}; "
               "expected the same. Make dense tensors of them with to_tensor() to pad the shorter "
               "rows",
               tag, i + 1, a.to_string(), b.to_string());
  }
}

// t has an axis for each ragged one of x from `level` on, the rows of that level first (or 1).
// Afterwards its first axis is that of x's flat values, or still 1.
Tensor spread_over_levels(const RaggedTensor& x, Tensor t, std::size_t level,
                          std::string_view tag) {
  const std::vector<RowLevel>& levels = levels_of(x);
  for (; level < levels.size(); ++level) {
    const Tensor& splits = levels[level].splits;
    const std::int64_t rows = t.shape().dim(0), length = t.shape().dim(1);
    const std::int64_t have = splits.shape().has_rank() ? splits.shape().dim(0) - 1 : -1;
    RILL_CHECK(
        rows == 1 || rows < 0 || have < 0 || rows == have, invalid_argument,
        "[{}] a tensor has size {} where the ragged tensor of shape {} has {} rows; expected "
        "1 or {}",
        tag, rows, x.shape(), have, have);
    if (length == 1) {
      t = squeeze(t, 1);
      if (rows != 1) t = gather(t, x.rows()->value_rowids(level));
      continue;
    }
    // Every row has that length.
    if (!splits.is_symbolic() && length >= 0)
      for (const std::int64_t n : lengths_of(splits).to_vector<std::int64_t>())
        RILL_CHECK(n == length, invalid_argument,
                   "[{}] a tensor has size {} along a ragged axis (shape {}) of which a row has {} "
                   "elements; expected size 1, or rows of that length",
                   tag, length, x.shape(), n);
    Tensor sizes = rill::shape(t, int64);
    if (rows == 1) {
      const Tensor all_rows = cast(reshape(count_of_rows(splits), {1}), int64);
      sizes = concat({all_rows, sizes(slice(1, None))}, 0);
      t = broadcast_to(t, sizes);
    }
    t = reshape(t, concat({reshape(sizes[0] * sizes[1], {1}), sizes(slice(2, None))}, 0));
  }
  return t;
}

}  // namespace

Tensor flat_partner(const RaggedTensor& x, const Tensor& y, std::string_view tag) {
  const Tensor& flat = x.flat_values();
  const TensorShape& s = y.shape();
  RILL_CHECK(s.has_rank() && flat.shape().has_rank(), invalid_argument,
             "[{}] a tensor of unknown rank beside a ragged one; use set_shape()", tag);
  if (s.rank() < flat.ndim()) return y;
  const int rank = x.ragged_rank() + flat.ndim();
  RILL_CHECK(s.rank() <= rank, invalid_argument,
             "[{}] a tensor of shape {} beside a ragged one of shape {}; expected no more axes",
             tag, s, x.shape());
  Tensor t = y;
  while (t.ndim() < rank) t = expand_dims(t, 0);
  return spread_over_levels(x, t, 0, tag);
}

Tensor flat_partner(const RaggedTensor& x, const RaggedTensor& y, std::string_view tag) {
  const std::size_t levels = levels_of(y).size();
  require_same_splits(x, y, levels, tag);
  if (levels == levels_of(x).size()) return y.flat_values();
  // The elements of y speak of whole rows of x.
  const int rank = x.ragged_rank() + x.flat_values().ndim();
  RILL_CHECK(static_cast<int>(levels) + y.flat_values().ndim() == rank, invalid_argument,
             "[{}] ragged tensors have shapes {} and {}; expected one rank", tag, x.shape(),
             y.shape());
  return spread_over_levels(x, y.flat_values(), levels, tag);
}

namespace ragged {
void require_same_rows(const RaggedTensor& x, const RaggedTensor& y, std::string_view tag) {
  if (x.rows() == y.rows() && x.defined()) return;
  RILL_CHECK(levels_of(x).size() == levels_of(y).size(), invalid_argument,
             "[{}] ragged tensors have ragged_rank {} and {}; expected the same", tag,
             x.ragged_rank(), y.ragged_rank());
  require_same_splits(x, y, levels_of(x).size(), tag);
}
}  // namespace ragged
}  // namespace rill
