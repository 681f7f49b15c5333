// A tensor that must have no NaN and no infinity.
#include "rill/ops/debugging.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// What flows back must be finite, too.
void check_numerics_grad(GradContext& g) {
  g.set(0,
        debugging::check_numerics(
            g.dy(), format("Not a number (NaN) or infinity (Inf) values detected in gradient. {}",
                           g.string_attr("message"))));
}
const Op& check_numerics_op = OpBuilder("CheckNumerics", "debugging.check_numerics")
                                  .input("tensor: T")
                                  .output("output: T")
                                  .attr("message: string")
                                  .type("T", kFloatTypes)
                                  .doc("The tensor itself; InvalidArgument for NaN or infinity.")
                                  .shape(unchanged_shape)
                                  .gradient(check_numerics_grad)
                                  .define();

}  // namespace

Tensor debugging::check_numerics(const Operand& tensor, const std::string& message) {
  return execute(check_numerics_op, {Arg(tensor)}, {{"message", message}});
}

}  // namespace rill
