#pragma once
#include "rill/core/kernel.h"
#include "rill/kernels/functors/strided_copy.h"

namespace rill::cuda {

// Elements of plain dtypes from place to place by strides, on the device.
void strided_copy(KernelContext& c, DType dtype, const void* in, void* out,
                  const StridedCopy& copy);

}  // namespace rill::cuda
