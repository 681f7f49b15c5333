#pragma once
#include <string>

#include "rill/core/tensor.h"

namespace rill {

// A tensor as tf::print writes it: "[1 2 3]", strings in quotes, of an axis with more than
// 2 * keep elements only the ends: "[0 1 2 ... 7 8 9]". keep -1: all.
std::string tensor_summary(const Tensor& t, std::int64_t keep);

}  // namespace rill
