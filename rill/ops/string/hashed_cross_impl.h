#pragma once
#include <cstdint>
#include <vector>

#include "rill/core/tensor.h"

namespace rill {

// A bucket for each tuple of values of tensors of one shape, strings or integers: int64, as
// tf.sparse.cross_hashed gives it.
Tensor hashed_cross(const std::vector<Tensor>& inputs, std::int64_t num_buckets);

}  // namespace rill
