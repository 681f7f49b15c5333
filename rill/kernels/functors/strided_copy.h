#pragma once
#include "rill/core/shape.h"

namespace rill {

// out[i0, i1, ..] = in[i0, i1, ..] over `dims`, each side walked by its own
// strides, in elements (0 repeats, negative walks backwards).
struct StridedCopy {
  Dims dims, in_strides, out_strides;
};

// Strides of a row-major array.
inline Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace rill
