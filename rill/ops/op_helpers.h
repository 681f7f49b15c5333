#pragma once
#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/core/grad_context.h"
#include "rill/core/op.h"
#include "rill/core/operand.h"
#include "rill/core/shape_inference.h"
#include "rill/core/tensor_impl.h"

// What the files of ops share: schemas of the common families and pieces of
// gradients.
namespace rill {

// y = f(x), element by element: "x: T" -> "y: T".
OpBuilder unary_op(std::string_view name, std::string_view tag, TypeSet types);
// z = f(x, y) with broadcasting: "x: T, y: T" -> "z: T".
OpBuilder binary_op(std::string_view name, std::string_view tag, TypeSet types);
// The same with a bool result and no gradient.
OpBuilder compare_op(std::string_view name, std::string_view tag, TypeSet types);

// The body of a public unary or binary function.
Tensor unary(const Op& op, const Operand& x);
Tensor binary(const Op& op, const Operand& x, const Operand& y);

// The dtype of a list of sizes written in place: int32, or int64 where a size
// needs it. That of a tensor is its own.
DType sizes_dtype(const Operand& sizes);

// The sizes of a tensor as a tensor: a constant where they are known, else an op.
Tensor sizes_of(const Tensor& t);

// Whether the value is there already: eagerly always, while tracing of constants.
bool value_known(const Tensor& t);

// Functions of axes that may be known only when the graph runs.
Tensor sum_over(const Tensor& x, const Tensor& axes, bool keepdims = false);
Tensor concat_along(const std::vector<Tensor>& values, const Tensor& axis);
Tensor transpose_by(const Tensor& x, const Tensor& perm);

// For forward functions that call other ops: tapes see the op that is being run alone.
class UnrecordedScope {
  const ScopedContext<&CallContext::recorder> scope_{nullptr};
};

// For gradients of broadcasting ops: `grad` has the broadcast shape; it is
// summed over what was repeated to fit input i, and set.
void set_reduced(GradContext& g, int i, const Tensor& grad);

}  // namespace rill
