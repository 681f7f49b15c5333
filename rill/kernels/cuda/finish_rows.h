#pragma once
#include <string>

#include "rill/core/kernel.h"

namespace rill::cuda {

// The output [.., n] of a call in place: input 2, of n numbers, is added to each row
// (`bias`), then the activation ("Relu", "Tanh", "Sigmoid", "": none).
void finish_rows(KernelContext& c, bool bias, const std::string& activation);

}  // namespace rill::cuda
