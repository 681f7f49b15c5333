#pragma once
#include "rill/core/tensor.h"

namespace rill::keras {

// [1, Tq, Tv]: true where the value does not come after the query; the lengths are scalars.
Tensor causal_mask(const Tensor& query_length, const Tensor& value_length);
// Where both hold; either may be undefined.
Tensor both(const Tensor& a, const Tensor& b);
// What is added to scores so that softmax gives nothing to places where the mask is false.
Tensor mask_penalty(const Tensor& mask, DType dtype);

}  // namespace rill::keras
