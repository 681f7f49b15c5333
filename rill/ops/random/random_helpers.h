#pragma once
#include "rill/core/operand.h"
#include "rill/core/shape_inference.h"

// What the stateful and the stateless random ops share.
namespace rill {

// Shape functions: the output's shape is the value of the first input ...
void sizes_shape(ShapeContext& c);
// ... or [batch, num_samples], from logits and a number.
void multinomial_shape(ShapeContext& c);

// InvalidArgument unless input i is a seed of two integers.
void require_two_words(const ShapeContext& c, int i);
// The same of the inputs key and counter, 1 and 2.
void require_key_and_counter(const ShapeContext& c);

// A shape argument as a vector of integers.
Tensor sizes_of(const Operand& shape);
// x * scale + shift, left out where it changes nothing.
Tensor affine(const Tensor& x, double scale, double shift);

}  // namespace rill
