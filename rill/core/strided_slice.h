#pragma once
#include <optional>

#include "rill/core/shape_inference.h"

namespace rill {

// What x[begin:end:stride, ...] means for one input shape. Per axis of the
// input: where it starts, by how much it steps, how many it takes; and the
// shape of the result, in which shrunk axes are gone and new ones are 1.
struct StridedSliceSpec {
  Dims begin, stride, size;  // size -1: unknown
  TensorShape output;

  // The first element taken. REQUIRES: sizes known.
  RILL_API std::int64_t offset(const Dims& input) const;
  // The result is one unbroken run of the input's elements.
  bool is_contiguous(const Dims& input) const;
};

// The masks of the op StridedSlice and of its gradient.
struct StridedSliceMasks {
  std::int64_t begin, end, ellipsis, new_axis, shrink_axis;
  RILL_API static StridedSliceMasks of(const AttrReader& attrs);
};

// `begin`, `end`, `stride` are null where their values are not known; `entries`
// is their common length. OutOfRange for a number outside its axis,
// InvalidArgument for a zero stride or too many indices.
RILL_API StridedSliceSpec resolve_strided_slice(const TensorShape& input, std::size_t entries,
                                                const Dims* begin, const Dims* end,
                                                const Dims* stride, const StridedSliceMasks& masks,
                                                std::string_view tag);

}  // namespace rill
