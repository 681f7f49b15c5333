// Reductions: of a ragged axis over segments, of an axis of the elements as of any tensor.
#include <algorithm>
#include <functional>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// values[j] joins those of one id. Of values that are rows, the k-th elements of the rows are
// joined: the result has rows as long as the longest of them.
RaggedTensor join_segments(const RaggedTensor& values, const Tensor& ids, const Tensor& segments,
                           SegmentReduction reduce) {
  const std::vector<RowLevel>& levels = levels_of(values);
  if (levels.empty()) return make_ragged(reduce(values.flat_values(), ids, segments), {});
  const Tensor& splits = levels[0].splits;
  const DType dtype = splits.dtype();
  // (Of no rows the longest would be the lowest number.)
  const Tensor lengths =
      maximum(unsorted_segment_max(lengths_of(splits), ids, segments), zeros({}, dtype));
  const Tensor out_splits = splits_of_lengths(lengths);
  const Tensor row = values.value_rowids();
  const Tensor out_ids =
      gather(out_splits, gather(cast(ids, dtype), row)) + places_in_rows(splits, row);
  return under_level(join_segments(values.ragged_values(), out_ids, last_of(out_splits), reduce),
                     {out_splits});
}

RaggedTensor reduce_axis(const RaggedTensor& x, int axis, SegmentReduction segment,
                         Tensor (*whole)(const Operand&, int, ReduceOptions)) {
  const std::vector<RowLevel>& levels = levels_of(x);
  const auto ragged_rank = static_cast<int>(levels.size());
  if (axis > ragged_rank || levels.empty())
    return x.with_flat_values(whole(x.flat_values(), axis - ragged_rank, {}));
  const Tensor& splits = levels[0].splits;
  if (axis == 0) {  // the k-th elements of all rows
    const Tensor n = reduce_max(concat({lengths_of(splits), zeros({1}, splits.dtype())}, 0));
    return join_segments(x.ragged_values(), places_in_rows(splits, x.value_rowids()), n, segment);
  }
  if (axis == 1)
    return join_segments(x.ragged_values(), x.value_rowids(), count_of_rows(splits), segment);
  return under_level(reduce_axis(x.ragged_values(), axis - 1, segment, whole), levels[0]);
}

int checked_axis(const RaggedTensor& x, int axis, const char* tag) {
  const int rank = x.shape().rank();
  RILL_CHECK(axis >= -rank && axis < rank, invalid_argument,
             "[{}] axis {} of a ragged tensor of shape {}; expected {} to {}", tag, axis, x.shape(),
             -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

using Whole = Tensor (*)(const Operand&, int, ReduceOptions);
RaggedTensor reduce_over(const RaggedTensor& x, int axis, const ReduceOptions& options,
                         SegmentReduction segment, Whole whole, const char* tag) {
  const int at = checked_axis(x, axis, tag);
  const RaggedTensor out = reduce_axis(x, at, segment, whole);
  return options.keepdims ? expand_dims(out, at) : out;
}

Tensor dense_result(const RaggedTensor& x, const char* name) {
  RILL_CHECK(x.ragged_rank() == 0, invalid_argument,
             "[{}] the result is ragged, of shape {}; use tf::ragged::{} for it", name, x.shape(),
             name);
  return x.flat_values();
}

// From the inner to the outer axis, so that their numbers stay. A mean of means is none: its parts
// are summed up and counted.
using OneAxis = RaggedTensor (*)(const RaggedTensor&, int, ReduceOptions);
RaggedTensor reduce_axes(const RaggedTensor& x, std::vector<int> axes, ReduceOptions options,
                         OneAxis reduce, bool is_mean, const char* tag) {
  for (int& axis : axes) axis = checked_axis(x, axis, tag);
  std::sort(axes.begin(), axes.end(), std::greater<>());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  options.axis = {};
  if (is_mean && axes.size() > 1) {
    const std::vector<int> each = axes;
    const RaggedTensor sum = reduce_axes(x, each, options, &ragged::reduce_sum, false, tag),
                       count = reduce_axes(ones_like(x), each, options, &ragged::reduce_sum, false,
                                           tag);
    return sum.with_flat_values(sum.flat_values() / count.flat_values());
  }
  RaggedTensor out = x;
  for (const int axis : axes) out = reduce(out, axis, options);
  return out;
}

Tensor all_segments(const Operand& x, const Operand& ids, const Operand& n) {
  return cast(unsorted_segment_min(cast(x, int32), ids, n), bool_);
}
Tensor any_segments(const Operand& x, const Operand& ids, const Operand& n) {
  return greater(unsorted_segment_max(cast(x, int32), ids, n), 0);
}
// Sum by count, so that no element gives NaN.
Tensor mean_segments(const Operand& x, const Operand& ids, const Operand& n) {
  const Tensor values = convert_to_tensor(x);
  const Tensor sum = unsorted_segment_sum(values, ids, n);
  Tensor count = unsorted_segment_sum(cast(ones_like(ids), sum.dtype()), ids, n);
  while (count.ndim() < sum.ndim()) count = expand_dims(count, -1);
  return sum / count;
}
Tensor variance_segments(const Operand& x, const Operand& ids, const Operand& n) {
  const Tensor mean = mean_segments(x, ids, n);
  return maximum(mean_segments(square(x), ids, n) - square(mean), 0);
}
Tensor std_segments(const Operand& x, const Operand& ids, const Operand& n) {
  return sqrt(variance_segments(x, ids, n));
}

template <SegmentReduction segment>
constexpr bool kIsMean = segment == &mean_segments;

// Integers have means that are none.
RaggedTensor as_floats(const RaggedTensor& x) {
  return x.defined() && x.dtype().is_integer() ? cast(x, float64) : x;
}
const RaggedTensor& as_given(const RaggedTensor& x) { return x; }

}  // namespace

#define RILL_RAGGED_REDUCTION(name, segment, prepared)                                           \
  namespace ragged {                                                                             \
  RaggedTensor name(const RaggedTensor& x, int axis, ReduceOptions options) {                    \
    return reduce_over(prepared(x), axis, options, segment, &rill::name, #name);                 \
  }                                                                                              \
  RaggedTensor name(const RaggedTensor& x, Axes axis, ReduceOptions options) {                   \
    OneAxis one = &ragged::name;                                                                 \
    return reduce_axes(prepared(x), axis, options, one, kIsMean<segment>, #name);                \
  }                                                                                              \
  }                                                                                              \
  Tensor name(const RaggedTensor& x, int axis, ReduceOptions options) {                          \
    return dense_result(ragged::name(x, axis, options), #name);                                  \
  }                                                                                              \
  Tensor name(const RaggedTensor& x, Axes axis, ReduceOptions options) {                         \
    return dense_result(ragged::name(x, axis, options), #name);                                  \
  }                                                                                              \
  Tensor name(const RaggedTensor& x, ReduceOptions options) {                                    \
    if (options.axis.list()) {                                                                   \
      OneAxis one = &ragged::name;                                                               \
      return dense_result(                                                                       \
          reduce_axes(prepared(x), *options.axis.list(), options, one, kIsMean<segment>, #name), \
          #name);                                                                                \
    }                                                                                            \
    levels_of(x);                                                                                \
    Tensor out = name(Operand(prepared(x).flat_values()));                                       \
    for (int i = 0; options.keepdims && i < x.shape().rank(); ++i) out = expand_dims(out, 0);    \
    return out;                                                                                  \
  }
RILL_RAGGED_REDUCTION(reduce_sum, unsorted_segment_sum, as_given)
RILL_RAGGED_REDUCTION(reduce_prod, unsorted_segment_prod, as_given)
RILL_RAGGED_REDUCTION(reduce_max, unsorted_segment_max, as_given)
RILL_RAGGED_REDUCTION(reduce_min, unsorted_segment_min, as_given)
RILL_RAGGED_REDUCTION(reduce_all, all_segments, as_given)
RILL_RAGGED_REDUCTION(reduce_any, any_segments, as_given)
RILL_RAGGED_REDUCTION(reduce_mean, mean_segments, as_floats)
RILL_RAGGED_REDUCTION(reduce_variance, variance_segments, as_floats)
RILL_RAGGED_REDUCTION(reduce_std, std_segments, as_floats)

Tensor size(const RaggedTensor& x, DType out_type) {
  levels_of(x);
  return size(Operand(x.flat_values()), out_type);
}
Tensor rank(const RaggedTensor& x) { return to_tensor(x.shape().rank()); }

}  // namespace rill
