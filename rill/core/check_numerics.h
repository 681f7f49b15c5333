#pragma once
#include <span>

#include "rill/core/execute.h"

namespace rill {

// What CallContext::checks_numerics asks for, after each op: InvalidArgument for the first number
// of a result that is not finite, unless the op only moves elements.
void check_numerics_of(const Op& op, std::span<const In> inputs, std::span<const Tensor> outputs);

}  // namespace rill
