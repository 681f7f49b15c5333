#pragma once
#include "rill/core/kernel.h"

namespace rill::cuda {

// y [m, n] = op(a) [m, k] x op(b) [k, n], to what y holds where `add`; rows after rows, dense.
struct Product {
  std::int64_t m, n, k;
  bool transpose_a = false, transpose_b = false, add = false;
};
// Fails the call when it cannot be.
void product(KernelContext& c, DType dtype, const Product& p, const void* a, const void* b,
             void* y);

}  // namespace rill::cuda
