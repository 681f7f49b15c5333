#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Ops on the state behind resource tensors. Programs use tf::Variable; these
// are what it is made of.
namespace rill RILL_API {

struct Attr;

// The shape of what a variable holds now, which its own shape may leave open.
TensorShape value_shape(const Tensor& handle);

Tensor read_variable(const Tensor& handle);
void assign_variable(const Tensor& handle, const Operand& value);
void assign_add_variable(const Tensor& handle, const Operand& value);
void assign_sub_variable(const Tensor& handle, const Operand& value);

// var -= alpha * delta
void apply_gradient_descent(const Tensor& var, const Operand& alpha, const Operand& delta);

// One update of an optimizer: the op's inputs in the order of its schema.
void run_update(std::string_view op, const std::vector<Tensor>& inputs,
                std::span<const Attr> attrs);

// Rows of a variable by index.
void scatter_update_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_add_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_sub_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_mul_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_div_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_max_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
void scatter_min_variable(const Tensor& handle, const Operand& indices, const Operand& updates);
Tensor gather_variable(const Tensor& handle, const Operand& indices);

}  // namespace RILL_API
