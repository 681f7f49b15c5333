#pragma once
#include "rill/core/dtype.h"

namespace rill {

// Of two dtypes the one to which the other is cast with the least loss, for advice in messages:
// complex before floating before integer before bool, then the larger.
inline DType wider_dtype(DType a, DType b) {
  const auto kind = [](DType d) {
    return d.is_complex() ? 3 : d.is_floating() ? 2 : d.is_integer() ? 1 : 0;
  };
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  return b.itemsize() > a.itemsize() ? b : a;
}

}  // namespace rill
