#pragma once
#include "rill/core/kernel.h"

namespace rill::cpu {

// The output of a call, rows of the length of input 2, in place: input 2 is added to each
// row, then the second of the attribute fused_ops is applied ("Relu", "Tanh", "Sigmoid";
// none: nothing), while the row is in the cache. float32 and float64.
void finish_rows(KernelContext& c) noexcept;

}  // namespace rill::cpu
