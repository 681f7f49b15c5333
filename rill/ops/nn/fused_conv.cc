// A convolution with what comes after it, for the passes over graphs: programs never
// write it.
#include "rill/ops/flops.h"
#include "rill/ops/nn/windows.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// As Conv2D's; the rest was checked when that was written.
void fused_conv_shape(ShapeContext& c) { find_op("Conv2D").shape(c); }

[[maybe_unused]] const Op& fused_conv_op =
    OpBuilder("_FusedConv2D", "conv2d")
        .input("input: T")
        .input("filter: T")
        .input("args: num_args * T")
        .output("output: T")
        .type("T", kRealFloatTypes)
        .attr("strides: list(int)")
        .attr("use_cudnn_on_gpu: bool = true")
        .attr("padding: string")
        .attr("explicit_paddings: list(int) = []")
        .attr("data_format: string = 'NHWC'")
        .attr("dilations: list(int) = [1, 1, 1, 1]")
        .attr("fused_ops: list(string) = []")
        .doc("A convolution, plus a number a channel, through an activation.")
        .shape(fused_conv_shape)
        .no_gradient()
        .packed_input("filter")
        .flops(flops::of_conv)
        .define();

}  // namespace
}  // namespace rill
