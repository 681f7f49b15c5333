#pragma once
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Ops on the state behind resource tensors. Programs use tf::Variable; these
// are what it is made of.
namespace rill RILL_API {

Tensor read_variable(const Tensor& handle);
void assign_variable(const Tensor& handle, const Operand& value);
void assign_add_variable(const Tensor& handle, const Operand& value);
void assign_sub_variable(const Tensor& handle, const Operand& value);

// var -= alpha * delta
void apply_gradient_descent(const Tensor& var, const Operand& alpha, const Operand& delta);

}  // namespace rill
