#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "rill/core/observer.h"

namespace rill {

// Floating-point operations of one call, a multiplication and an addition counted as two;
// 0 for ops that are bound by memory, and where shapes are not known.
std::int64_t flops_of(std::string_view op, const std::vector<ObservedValue>& inputs,
                      const std::vector<ObservedValue>& outputs);

}  // namespace rill
