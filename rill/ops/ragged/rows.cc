// Row splits, and what follows from them: lengths, row numbers, places.
#include <numeric>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {

void retain(RaggedRows* r) noexcept { r->refs.retain(); }
void release(RaggedRows* r) noexcept {
  if (r->refs.release()) delete r;
}

namespace {

// f(a pointer to the numbers) in their own type.
template <class F>
void with_numbers(const Tensor& t, F f) {
  if (t.dtype() == int32)
    f(host_data<std::int32_t>(t));
  else
    f(host_data<std::int64_t>(t));
}
Tensor number(std::int64_t n, DType dtype) { return to_tensor(n, dtype); }

}  // namespace

Tensor as_row_numbers(const Operand& x, std::string_view tag, std::string_view what) {
  const bool typed = x.kind() == Operand::Kind::tensor || x.kind() == Operand::Kind::variable ||
                     (x.kind() == Operand::Kind::array && x.element_dtype() != float32);
  const Tensor t = to_tensor(x, typed ? DType() : int64);
  RILL_CHECK(t.dtype() == int32 || t.dtype() == int64, invalid_argument,
             "[{}] {} has dtype {}; expected int32 or int64", tag, what, t.dtype());
  RILL_CHECK(!t.shape().has_rank() || t.ndim() == 1, invalid_argument,
             "[{}] {} has shape {}; expected a list", tag, what, t.shape());
  return t;
}

Tensor count_of_rows(const Tensor& splits) {
  const std::int64_t n = splits.shape().has_rank() ? splits.shape().dim(0) : -1;
  if (n >= 0) return number(n - 1, splits.dtype());
  return rill::size(splits, splits.dtype()) - 1;
}

Tensor lengths_of(const Tensor& splits) { return splits(slice(1, None)) - splits(slice(None, -1)); }

Tensor last_of(const Tensor& splits) { return splits[-1]; }

Tensor splits_of_lengths(const Tensor& lengths) {
  return concat({zeros({1}, lengths.dtype()), cumsum(lengths)}, 0);
}

Tensor rowids_of(const Tensor& splits) {
  if (splits.is_symbolic())
    return searchsorted(splits, range(last_of(splits)), "right", splits.dtype()) - 1;
  // Eagerly in one pass.
  const Tensor host = to_host(splits);
  Tensor out;
  with_numbers(host, [&](const auto* s) {
    using T = std::remove_cvref_t<decltype(*s)>;
    const std::int64_t rows = host.size() - 1;
    out = make_tensor(host.dtype(), TensorShape(Dims{static_cast<std::int64_t>(s[rows])}));
    T* to = mutable_data<T>(out);
    for (std::int64_t i = 0; i < rows; ++i) std::fill(to + s[i], to + s[i + 1], static_cast<T>(i));
  });
  return out;
}

Tensor RaggedRows::value_rowids(std::size_t level) const {
  const Tensor& splits = levels[level].splits;
  if (splits.is_symbolic()) return rowids_of(splits);
  const std::lock_guard lock(mutex_);
  if (!ids_[level].defined()) ids_[level] = rowids_of(splits);
  return ids_[level];
}

Tensor places_in_rows(const Tensor& splits, const Tensor& rowids) {
  return range(last_of(splits)) - gather(splits, rowids);
}

Expanded expand_ranges(const Tensor& starts, const Tensor& lengths, const Tensor& step) {
  const Tensor splits = splits_of_lengths(lengths), ids = rowids_of(splits);
  Tensor places = places_in_rows(splits, ids);
  if (step.defined())
    places = cast(places, step.dtype()) * (step.ndim() ? gather(step, ids) : step);
  return {gather(starts, ids) + cast(places, starts.dtype()), splits};
}

RaggedTensor make_ragged(const Tensor& flat_values, std::vector<RowLevel> levels) {
  return RaggedTensor::of_rows(flat_values, Ref<RaggedRows>(new RaggedRows(std::move(levels))));
}
const std::vector<RowLevel>& levels_of(const RaggedTensor& x) {
  RILL_CHECK(
      x.defined(), invalid_argument,
      "[RaggedTensor] it is undefined; make one with tf::ragged::constant or from_row_splits");
  return x.rows()->levels;
}
RaggedTensor under_level(const RaggedTensor& values, RowLevel level) {
  std::vector<RowLevel> levels{std::move(level)};
  levels.insert(levels.end(), levels_of(values).begin(), levels_of(values).end());
  return make_ragged(values.flat_values(), std::move(levels));
}

RaggedTensor gather_rows(const RaggedTensor& x, const Tensor& indices) {
  Tensor rows = indices;
  std::vector<RowLevel> levels;
  for (const RowLevel& level : levels_of(x)) {
    const Tensor& splits = level.splits;
    const Expanded e = expand_ranges(gather(splits, rows), gather(lengths_of(splits), rows));
    levels.push_back({e.splits, level.uniform_length});
    rows = e.indices;
  }
  return make_ragged(gather(x.flat_values(), rows), std::move(levels));
}

namespace ragged {
Tensor row_splits_to_segment_ids(const Operand& splits) {
  return rowids_of(as_row_numbers(splits, "ragged.row_splits_to_segment_ids", "splits"));
}
Tensor segment_ids_to_row_splits(const Operand& segment_ids, std::int64_t num_segments) {
  const Tensor ids = as_row_numbers(segment_ids, "ragged.segment_ids_to_row_splits", "segment_ids");
  const RaggedTensor rows = RaggedTensor::from_value_rowids(ids, ids, num_segments);
  return rows.row_splits();
}
}  // namespace ragged
}  // namespace rill
