// Batch normalisation with what comes after it, for the passes over graphs: programs never
// write it.
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// As that of FusedBatchNormV3; reserve_space_3 has a bit for each element of x.
void batch_norm_relu_shape(ShapeContext& c) {
  find_op("FusedBatchNormV3").shape(c);
  RILL_CHECK(c.num_inputs() <= 6, invalid_argument, "[{}] it takes one side input", c.tag());
  if (c.num_inputs() == 6)
    RILL_CHECK(c.input(5).is_compatible_with(c.input(0)), invalid_argument,
               "[{}] side has shape {}, x {}; expected equal shapes", c.tag(), c.input(5),
               c.input(0));
  if (!c.bool_attr("signs")) return;
  const TensorShape& x = c.input(0);
  TensorShape words = TensorShape::scalar();
  words.push_back(x.is_fully_defined() ? (x.num_elements() + 31) / 32 : -1);
  c.set_output(5, words);
}
void batch_norm_relu_grad_shape(ShapeContext& c) { find_op("FusedBatchNormGradV3").shape(c); }

[[maybe_unused]] const Op& batch_norm_relu_op =
    OpBuilder("_BatchNormRelu", "fused_batch_norm")
        .input("x: T")
        .input("scale: U")
        .input("offset: U")
        .input("mean: U")
        .input("variance: U")
        .input("side: num_sides * T")
        .output("y: T")
        .output("batch_mean: U")
        .output("batch_variance: U")
        .output("reserve_space_1: U")
        .output("reserve_space_2: U")
        .output("reserve_space_3: U")
        .type("T", kFloatTypes)
        .type("U", kRealFloatTypes)
        .attr("epsilon: float = 0.0001")
        .attr("exponential_avg_factor: float = 1.0")
        .attr("data_format: string = 'NHWC'")
        .attr("is_training: bool = true")
        .attr("signs: bool = false")
        .doc(
            "relu(fused_batch_norm(x) + side), of at most one side. With signs, reserve_space_3 "
            "tells the gradient where y is above 0: a bit an element, 8 to a byte.")
        .shape(batch_norm_relu_shape)
        .no_gradient()
        .define();

[[maybe_unused]] const Op& batch_norm_relu_grad_op =
    OpBuilder("_BatchNormReluGrad", "fused_batch_norm_grad")
        .input("y_backprop: T")
        .input("x: T")
        .input("scale: U")
        .input("reserve_space_1: U")
        .input("reserve_space_2: U")
        .input("signs: U")
        .output("x_backprop: T")
        .output("scale_backprop: U")
        .output("offset_backprop: U")
        .output("reserve_space_4: U")
        .output("reserve_space_5: U")
        .type("T", kFloatTypes)
        .type("U", kRealFloatTypes)
        .attr("epsilon: float = 0.0001")
        .attr("data_format: string = 'NHWC'")
        .attr("is_training: bool = true")
        .doc("fused_batch_norm_grad of the gradient where y was above 0, else of 0.")
        .shape(batch_norm_relu_grad_shape)
        .no_gradient()
        .define();

}  // namespace
}  // namespace rill
