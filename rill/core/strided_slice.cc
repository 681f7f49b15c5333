#include "rill/core/strided_slice.h"

#include <algorithm>

#include "rill/base/check.h"

namespace rill {
namespace {

bool bit(std::int64_t mask, std::size_t i) { return i < 63 && (mask >> i & 1) != 0; }

// The elements of [begin:end:stride] along an axis of known size; None where a mask says so.
std::int64_t range_size(std::int64_t dim, std::int64_t& begin, std::int64_t end,
                        std::int64_t stride, bool no_begin, bool no_end) {
  const std::int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
  auto place = [&](std::int64_t i) { return std::clamp(i < 0 ? i + dim : i, low, high); };
  begin = no_begin ? (stride > 0 ? low : high) : place(begin);
  end = no_end ? (stride > 0 ? high : low) : place(end);
  if (stride > 0) return end > begin ? (end - begin - 1) / stride + 1 : 0;
  return begin > end ? (begin - end - 1) / -std::max(stride, -INT64_MAX) + 1 : 0;
}

}  // namespace

std::int64_t StridedSliceSpec::offset(const Dims& input) const {
  std::int64_t at = 0, step = 1;
  for (std::size_t i = input.size(); i-- > 0;) {
    at += begin[i] * step;
    step *= input[i];
  }
  return at;
}

bool StridedSliceSpec::is_contiguous(const Dims& input) const {
  std::size_t i = 0;
  while (i < size.size() && size[i] == 1) ++i;
  if (i < size.size() && stride[i] != 1) return false;
  for (++i; i < size.size(); ++i)
    if (size[i] != input[i] || (size[i] > 1 && stride[i] != 1)) return false;
  return true;
}

StridedSliceMasks StridedSliceMasks::of(const AttrReader& a) {
  return {a.int_attr("begin_mask"), a.int_attr("end_mask"), a.int_attr("ellipsis_mask"),
          a.int_attr("new_axis_mask"), a.int_attr("shrink_axis_mask")};
}

StridedSliceSpec resolve_strided_slice(const TensorShape& input, std::size_t entries,
                                       const Dims* begin, const Dims* end, const Dims* stride,
                                       const StridedSliceMasks& masks, std::string_view tag) {
  StridedSliceSpec spec;
  std::size_t used = 0, dots = entries;
  for (std::size_t i = 0; i < entries; ++i) {
    if (bit(masks.ellipsis, i)) {
      RILL_CHECK(dots == entries, invalid_argument, "[{}] an index may have one ellipsis, got two",
                 tag);
      dots = i;
    } else {
      used += !bit(masks.new_axis, i);
    }
  }
  if (!input.has_rank()) return spec;
  const auto rank = static_cast<std::size_t>(input.rank());
  RILL_CHECK(used <= rank, invalid_argument,
             "[{}] {} indices are too many for a tensor of shape {}", tag, used, input);
  Dims out;
  auto take_whole = [&](std::size_t n) {
    for (; n > 0; --n) {
      spec.begin.push_back(0);
      spec.stride.push_back(1);
      spec.size.push_back(input.dims()[spec.size.size()]);
      out.push_back(spec.size.back());
    }
  };
  for (std::size_t i = 0; i < entries; ++i) {
    if (i == dots) {
      take_whole(rank - used);
      continue;
    }
    if (bit(masks.new_axis, i)) {
      out.push_back(1);
      continue;
    }
    const std::size_t axis = spec.size.size();
    const std::int64_t dim = input.dims()[axis], step = stride ? (*stride)[i] : 1;
    const bool shrink = bit(masks.shrink_axis, i), no_begin = bit(masks.begin, i),
               no_end = bit(masks.end, i);
    RILL_CHECK(step != 0, invalid_argument,
               "[{}] the step of index {} is 0; expected a step of at least 1, or a negative one",
               tag, i);
    RILL_CHECK(!shrink || step > 0, invalid_argument,
               "[{}] index {} is a number, but has the step {}; only 1 makes sense", tag, i, step);
    std::int64_t first = begin ? (*begin)[i] : 0, size = -1;
    if (shrink) {
      if (begin && dim >= 0) {
        RILL_CHECK(first >= -dim && first < dim, out_of_range,
                   "[{}] slice index {} of dimension {} out of bounds: axis {} of shape {} has {} "
                   "elements",
                   tag, first, axis, axis, input, dim);
        if (first < 0) first += dim;
      }
      size = 1;
    } else {
      const bool known = dim >= 0 && stride && (begin || no_begin) && (end || no_end);
      if (known) size = range_size(dim, first, end ? (*end)[i] : 0, step, no_begin, no_end);
      out.push_back(size);
    }
    spec.begin.push_back(first);
    spec.stride.push_back(step);
    spec.size.push_back(size);
  }
  if (dots == entries) take_whole(rank - used);
  spec.output = TensorShape(out);
  return spec;
}

}  // namespace rill
