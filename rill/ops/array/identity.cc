// The tensor itself, with or without its gradient.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void share(const AttrReader&, std::span<const In> in, std::span<const TensorShape> shapes, std::span<Tensor> out) {
  out[0] = make_view(*in[0], shapes[0]);
}

void identity_grad(GradContext& g) { g.set(0, g.raw_dy()); }
const Op& identity_op = OpBuilder("Identity", "identity")
                            .input("input: T").output("output: T")
                            .doc("The tensor itself under an identity of its own.")
                            .shape(unchanged_shape)
                            .gradient(identity_grad)
                            .forward(share)
                            .define();

const Op& stop_gradient_op = OpBuilder("StopGradient", "stop_gradient")
                                 .input("input: T").output("output: T")
                                 .doc("The tensor itself; no gradient goes through.")
                                 .shape(unchanged_shape)
                                 .no_gradient()
                                 .forward(share)
                                 .define();

}  // namespace

Tensor identity(const Operand& x) { return execute(identity_op, {Arg(x)}); }
Tensor stop_gradient(const Operand& x) { return execute(stop_gradient_op, {Arg(x)}); }

}  // namespace rill
