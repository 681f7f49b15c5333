#pragma once
#include "rill/base/api.h"

namespace rill RILL_API {

// Whether products and convolutions of float32 may round their operands to TF32 (10 bits of
// fraction) on devices that are faster so. Off unless a program asks.
bool tensor_float_32_allowed();
void allow_tensor_float_32(bool allowed);

}  // namespace RILL_API
