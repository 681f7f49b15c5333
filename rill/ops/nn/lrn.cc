// Local response normalisation.
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void lrn_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    require_rank(c, i, 4, c.op().inputs[static_cast<std::size_t>(i)].name);
    RILL_CHECK(c.input(i).is_compatible_with(c.input(0)), invalid_argument,
               "[{}] {} has shape {}, {} {}; expected equal shapes", c.tag(),
               c.op().inputs[static_cast<std::size_t>(i)].name, c.input(i), c.op().inputs[0].name,
               c.input(0));
  }
  RILL_CHECK(c.int_attr("depth_radius") >= 0, invalid_argument,
             "[{}] depth_radius is {}; expected 0 or more", c.tag(), c.int_attr("depth_radius"));
  c.set_output(0, c.input(0).has_rank() ? c.input(0) : TensorShape::unknown_dims(4));
}
OpBuilder lrn_attrs(OpBuilder b) {
  b.attr("depth_radius: int = 5")
      .attr("bias: float = 1.0")
      .attr("alpha: float = 1.0")
      .attr("beta: float = 0.5")
      .type("T", kFloatTypes)
      .shape(lrn_shape);
  return b;
}
const Op& lrn_grad_op = lrn_attrs(OpBuilder("LRNGrad", "local_response_normalization_grad")
                                      .input("input_grads: T")
                                      .input("input_image: T")
                                      .input("output_image: T")
                                      .output("output: T"))
                            .doc("The gradient of local_response_normalization.")
                            .no_gradient()
                            .define();
void lrn_grad(GradContext& g) {
  g.set(0, execute(lrn_grad_op, {g.dy(), g.input(0), g.output()},
                   {{"depth_radius", g.int_attr("depth_radius")},
                    {"bias", g.float_attr("bias")},
                    {"alpha", g.float_attr("alpha")},
                    {"beta", g.float_attr("beta")}}));
}
const Op& lrn_op =
    lrn_attrs(
        OpBuilder("LRN", "local_response_normalization").input("input: T").output("output: T"))
        .doc("input / (bias + alpha * sum of squares of the channels within depth_radius)^beta.")
        .gradient(lrn_grad, "input output")
        .define();

}  // namespace

namespace nn {

Tensor local_response_normalization(const Operand& input, LocalResponseOptions o) {
  const Arg x(input);
  return execute(
      lrn_op, {x},
      {{"depth_radius", o.depth_radius}, {"bias", o.bias}, {"alpha", o.alpha}, {"beta", o.beta}});
}
Tensor lrn(const Operand& input, LocalResponseOptions o) {
  return local_response_normalization(input, o);
}

}  // namespace nn
}  // namespace rill
