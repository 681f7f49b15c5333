// var -= alpha * delta
#include "rill/ops/op_helpers.h"
#include "rill/ops/state_ops.h"

namespace rill {
namespace {

void shape(ShapeContext& c) {
  require_rank(c, 1, 0, "alpha");
  const Tensor* handle = c.input_value(0);
  if (!handle) return;
  const VariableCell& cell = variable_cell(*handle);
  RILL_CHECK(cell.shape.is_compatible_with(c.input(2)), invalid_argument,
             "[{}] variable \"{}\" has shape {}, its gradient has shape {}", c.tag(), cell.name, cell.shape, c.input(2));
}

const Op& op = OpBuilder("ResourceApplyGradientDescent", "apply_gradient_descent")
                   .input("var: resource").input("alpha: T").input("delta: T")
                   .attr("use_locking: bool = false").type("T", kFloatTypes)
                   .doc("One step of gradient descent: var -= alpha * delta.")
                   .shape(shape).no_gradient().updates().define();

}  // namespace

void apply_gradient_descent(const Tensor& var, const Operand& alpha, const Operand& delta) {
  const DType d = variable_cell(var).dtype;
  execute_all(op, {var, Arg(alpha, d), Arg(delta, d)});
}

}  // namespace rill
