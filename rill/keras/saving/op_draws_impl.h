#pragma once
#include "rill/keras/saving/op_forms_impl.h"

// Calls in files as calls of Rill's functions.
namespace rill::keras {

// The op of the form itself: its inputs and attributes are the arguments.
std::vector<Tensor> draw_op(const WrittenCall& call, const ReadOperand& operand);

// Functions that choose among ops, or call several.
std::vector<Tensor> draw_divide(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_abs(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_round(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_softmax(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_log_softmax(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_l2_normalize(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_matmul(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_clip(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_gather(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_one_hot(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_pad(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_slices(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_split(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_unstack(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_zeros_like(const WrittenCall& call, const ReadOperand& operand);
std::vector<Tensor> draw_ones_like(const WrittenCall& call, const ReadOperand& operand);

// What null means: all axes of a tensor, or all from the last to the first.
Tensor every_axis(const Tensor& x);
Tensor axes_backwards(const Tensor& x);

}  // namespace rill::keras
