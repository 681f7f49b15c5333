// Sums on shapes and permutations, for graphs that compute them.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void lists_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    require_rank(c, i, 1, c.op().inputs[static_cast<std::size_t>(i)].name);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape::unknown_dims(1));
}
void broadcast_args_shape(ShapeContext& c) {
  lists_shape(c);
  const TensorShape &a = c.input(0), &b = c.input(1);
  if (a.is_fully_defined() && b.is_fully_defined())
    c.set_output(0, TensorShape(Dims{std::max(a.dim(0), b.dim(0))}));
}
const Op& broadcast_args_op = OpBuilder("BroadcastArgs", "broadcast_dynamic_shape")
                                  .input("s0: T")
                                  .input("s1: T")
                                  .output("r0: T")
                                  .type("T", kIndexTypes, int32)
                                  .doc("The shape to which tensors of shapes s0 and s1 broadcast.")
                                  .shape(broadcast_args_shape)
                                  .no_gradient()
                                  .host("s0 s1")
                                  .define();
const Op& broadcast_gradient_args_op =
    OpBuilder("BroadcastGradientArgs", "broadcast_gradient_args")
        .input("s0: T")
        .input("s1: T")
        .output("r0: T")
        .output("r1: T")
        .type("T", kIndexTypes, int32)
        .doc("The axes over which the gradient of a broadcast is summed for each side.")
        .shape(lists_shape)
        .no_gradient()
        .host("s0 s1")
        .define();

void invert_permutation_shape(ShapeContext& c) {
  require_rank(c, 0, 1, "x");
  c.set_output(0, c.input(0).has_rank() ? c.input(0) : TensorShape::unknown_dims(1));
}
const Op& invert_permutation_op = OpBuilder("InvertPermutation", "math.invert_permutation")
                                      .input("x: T")
                                      .output("y: T")
                                      .type("T", kIndexTypes, int32)
                                      .doc("y[x[i]] = i for a permutation x of 0 .. n - 1.")
                                      .shape(invert_permutation_shape)
                                      .no_gradient()
                                      .define();

}  // namespace

Tensor broadcast_dynamic_shape(const Operand& shape_x, const Operand& shape_y) {
  const ArgPair s(shape_x, shape_y);
  return execute(broadcast_args_op, {s.first(), s.second()});
}
Tensors<2> broadcast_gradient_args(const Operand& shape_x, const Operand& shape_y) {
  const ArgPair s(shape_x, shape_y);
  const auto out = execute_all(broadcast_gradient_args_op, {s.first(), s.second()});
  return {{out[0], out[1]}};
}
TensorShape broadcast_static_shape(const TensorShape& x, const TensorShape& y) {
  return broadcast_shapes(x, y, "broadcast_static_shape");
}
Tensor invert_permutation(const Operand& x) { return execute(invert_permutation_op, {Arg(x)}); }

}  // namespace rill
