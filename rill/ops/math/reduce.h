#pragma once
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

// A reduction: "input: T, reduction_indices: Tidx" -> "output: T", keep_dims.
OpBuilder reduce_op(std::string_view name, std::string_view tag, TypeSet types);
void reduce_shape(ShapeContext& c);
// All axes of a tensor; InvalidArgument where its rank is not known.
std::vector<int> all_axes(const Operand& x);
Tensor reduce(const Op& op, const Operand& x, const std::vector<int>& axes, ReduceOptions options);
// Over all axes, also of unknown rank.
Tensor reduce(const Op& op, const Operand& x, ReduceOptions options);

// In gradients: `t`, of the output's shape, repeated over the reduced axes.
Tensor spread_over_input(GradContext& g, const Tensor& t);
// In gradients: which axes of the input were reduced, as a list of bools.
Tensor reduced_mask(GradContext& g);
// In gradients: `t`, of the output's shape, with the reduced axes as axes of size 1.
Tensor with_reduced_axes(GradContext& g, const Tensor& t);
// In gradients: the number of elements that went into one output, but at least 1, as a scalar
// of dy's dtype.
Tensor reduced_count(GradContext& g);

}  // namespace rill

// The public forms of a reduction.
#define RILL_DEFINE_REDUCTION(name, op)                                                         \
  Tensor name(const Operand& x, ReduceOptions o) {                                              \
    return o.axis.list() ? reduce(op, x, *o.axis.list(), o) : reduce(op, x, o);                 \
  }                                                                                             \
  Tensor name(const Operand& x, int axis, ReduceOptions o) { return reduce(op, x, {axis}, o); } \
  Tensor name(const Operand& x, Axes axis, ReduceOptions o) {                                   \
    return reduce(op, x, std::vector<int>(axis), o);                                            \
  }                                                                                             \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions o) {         \
    return reduce(op, x, axis, o);                                                              \
  }

// The same from a function (x, axes, options).
#define RILL_DEFINE_COMPOSITE_REDUCTION(name, function)                                       \
  Tensor name(const Operand& x, ReduceOptions o) {                                            \
    return function(x, o.axis.list() ? *o.axis.list() : all_axes(x), o);                      \
  }                                                                                           \
  Tensor name(const Operand& x, int axis, ReduceOptions o) { return function(x, {axis}, o); } \
  Tensor name(const Operand& x, Axes axis, ReduceOptions o) {                                 \
    return function(x, std::vector<int>(axis), o);                                            \
  }                                                                                           \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions o) {       \
    return function(x, axis, o);                                                              \
  }
