// Parts of complex numbers.
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void conj_grad(GradContext& g) { g.set(0, conj(g.dy())); }
const Op& conj_op = OpBuilder("Conj", "conj")
                        .input("input: T").output("output: T")
                        .type("T", kComplexTypes)
                        .doc("The complex conjugate.")
                        .shape(unchanged_shape)
                        .gradient(conj_grad)
                        .define();

}  // namespace

Tensor conj(const Operand& x) {
  const Arg a(x);
  return a->dtype().is_complex() ? execute(conj_op, {a}) : *a;
}

}  // namespace rill
