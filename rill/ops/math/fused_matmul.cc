// Matrix products with what comes after them, for the passes over graphs: programs
// never write these.
#include "rill/ops/flops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void product_shape(ShapeContext& c) {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const TensorShape &a = c.input(0), &b = c.input(1);
  c.set_output(0, TensorShape(Dims{a.has_rank() ? a.dim(ta ? 1 : 0) : -1,
                                   b.has_rank() ? b.dim(tb ? 0 : 1) : -1}));
}

[[maybe_unused]] const Op& matmul_add_op = OpBuilder("_MatMulAdd", "matmul")
                                               .input("a: T")
                                               .input("b: T")
                                               .input("c: T")
                                               .output("sum: T")
                                               .attr("transpose_a: bool = false")
                                               .attr("transpose_b: bool = false")
                                               .type("T", kRealFloatTypes)
                                               .doc("c plus the matrix product of a and b.")
                                               .shape(product_shape)
                                               .no_gradient()
                                               .adds_to("c")
                                               .flops(flops::of_matmul)
                                               .define();

[[maybe_unused]] const Op& fused_matmul_op =
    OpBuilder("_FusedMatMul", "matmul")
        .input("a: T")
        .input("b: T")
        .input("args: num_args * T")
        .output("product: T")
        .attr("transpose_a: bool = false")
        .attr("transpose_b: bool = false")
        .attr("fused_ops: list(string) = []")
        .type("T", kRealFloatTypes)
        .doc("The matrix product of a and b, plus a row, through an activation.")
        .shape(product_shape)
        .no_gradient()
        .flops(flops::of_matmul)
        .define();

}  // namespace
}  // namespace rill
