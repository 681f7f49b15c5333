// One of two tensors, element by element.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void select_shape(ShapeContext& c) {
  const TensorShape both = broadcast_shapes(c.input(1), c.input(2), c.tag());
  c.set_output(0, broadcast_shapes(c.input(0), both, c.tag()));
}

// [..] <- dy where it was picked, 0 elsewhere
void select_grad(GradContext& g) {
  if (g.needs(1)) set_reduced(g, 1, where(g.input(0), g.dy(), 0));
  if (g.needs(2)) set_reduced(g, 2, where(g.input(0), 0, g.dy()));
}

const Op& select_op = OpBuilder("SelectV2", "where")
                          .input("condition: bool")
                          .input("t: T")
                          .input("e: T")
                          .output("output: T")
                          .type("T", kAllTypes)
                          .doc("t where the condition holds, e elsewhere; all three broadcast.")
                          .shape(select_shape)
                          .gradient(select_grad, "condition")
                          .define();

}  // namespace

Tensor where(const Operand& c, const Operand& x, const Operand& y) {
  const Arg condition(c, bool_);
  const ArgPair p(x, y);
  return execute(select_op, {*condition, p.first(), p.second()});
}

}  // namespace rill
