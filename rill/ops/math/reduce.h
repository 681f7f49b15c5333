#pragma once
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

// A reduction: "input: T, reduction_indices: Tidx" -> "output: T", keep_dims.
OpBuilder reduce_op(std::string_view name, std::string_view tag, TypeSet types);
void reduce_shape(ShapeContext& c);
// All axes of a tensor of that rank.
std::vector<int> all_axes(const Operand& x);
Tensor reduce(const Op& op, const Operand& x, const std::vector<int>& axes, ReduceOptions options);

// In gradients: `t`, of the output's shape, repeated over the reduced axes.
Tensor spread_over_input(GradContext& g, const Tensor& t);
// In gradients: the shape of the input with the reduced axes set to 1, and the
// number of elements that went into one output.
TensorShape kept_shape(GradContext& g);
std::int64_t reduced_count(GradContext& g);
std::vector<int> axes_of(GradContext& g);  // as given

}  // namespace rill

// The public forms of a reduction.
#define RILL_DEFINE_REDUCTION(name, op)                                                         \
  Tensor name(const Operand& x, ReduceOptions o) { return reduce(op, x, all_axes(x), o); }      \
  Tensor name(const Operand& x, int axis, ReduceOptions o) { return reduce(op, x, {axis}, o); } \
  Tensor name(const Operand& x, Axes axis, ReduceOptions o) {                                   \
    return reduce(op, x, std::vector<int>(axis), o);                                            \
  }                                                                                             \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions o) {         \
    return reduce(op, x, axis, o);                                                              \
  }

// The same from a function (x, axes, options).
#define RILL_DEFINE_COMPOSITE_REDUCTION(name, function)                                       \
  Tensor name(const Operand& x, ReduceOptions o) { return function(x, all_axes(x), o); }      \
  Tensor name(const Operand& x, int axis, ReduceOptions o) { return function(x, {axis}, o); } \
  Tensor name(const Operand& x, Axes axis, ReduceOptions o) {                                 \
    return function(x, std::vector<int>(axis), o);                                            \
  }                                                                                           \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions o) {       \
    return function(x, axis, o);                                                              \
  }
