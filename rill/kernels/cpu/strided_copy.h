#pragma once
#include "rill/kernels/functors/strided_copy.h"

namespace rill::cpu {

// The one loop behind transpose, slice, pad, tile, broadcast, reverse, split and
// concat. Works on any dtype: elements are `itemsize` plain bytes, or std::strings.
void strided_copy(DType dtype, const void* in, void* out, StridedCopy copy);

}  // namespace rill::cpu
