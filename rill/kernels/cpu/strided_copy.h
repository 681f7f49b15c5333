#pragma once
#include "rill/core/shape.h"

namespace rill::cpu {

// out[i0, i1, ..] = in[i0, i1, ..] over `dims`, each side walked by its own
// strides, in elements (0 repeats, negative walks backwards). The one loop
// behind transpose, slice, pad, tile, broadcast, reverse, split and concat.
// Works on any dtype: elements are `itemsize` plain bytes, or std::strings.
struct StridedCopy {
  Dims dims, in_strides, out_strides;
};
void strided_copy(DType dtype, const void* in, void* out, StridedCopy copy);

// Strides of a row-major array.
Dims row_major(const Dims& dims);

}  // namespace rill::cpu
