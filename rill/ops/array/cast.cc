// Elements of one dtype as another.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void cast_grad(GradContext& g) { g.set(0, cast(g.dy(), g.input_dtype(0))); }
const Op& cast_op = OpBuilder("Cast", "cast")
                        .input("x: SrcT")
                        .output("y: DstT")
                        .type("SrcT", kPlainTypes)
                        .type("DstT", kPlainTypes)
                        .attr("Truncate: bool = false")
                        .doc(
                            "x converted to another dtype. Fractions are cut towards zero; a "
                            "non-zero number is true.")
                        .shape(unchanged_shape)
                        .gradient(cast_grad)
                        .elementwise()
                        .define();

}  // namespace

Tensor cast(const Operand& x, DType dtype) {
  const Arg a(x);
  return a->dtype() == dtype ? *a : execute(cast_op, {a}, {{"DstT", dtype}});
}

}  // namespace rill
