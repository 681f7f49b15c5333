// A tensor repeated to a larger shape.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void broadcast_to_shape(ShapeContext& c) {
  const TensorShape out = c.input_as_shape(1);
  if (c.input_value(1)) checked_num_elements(out.dims(), c.tag());
  if (c.input(0).has_rank() && out.is_fully_defined())
    RILL_CHECK(c.input(0).rank() <= out.rank() && broadcast_shapes(c.input(0), out, c.tag()) == out,
               invalid_argument, "[broadcast_to] shape {} cannot be repeated to {}", c.input(0),
               out);
  c.set_output(0, out);
}

void broadcast_to_grad(GradContext& g) { set_reduced(g, 0, g.dy()); }

const Op& broadcast_to_op =
    OpBuilder("BroadcastTo", "broadcast_to")
        .input("input: T")
        .input("shape: Tidx")
        .output("output: T")
        .type("T", kAllTypes)
        .type("Tidx", kIndexTypes, int32)
        .doc("The tensor repeated along axes of size 1 (and new leading axes) to a shape.")
        .shape(broadcast_to_shape)
        .gradient(broadcast_to_grad)
        .host("shape")
        .define();

}  // namespace

Tensor broadcast_to(const Operand& x, const Operand& shape) {
  const Arg a(x), s(shape, sizes_dtype(shape));
  if (shape.kind() == Operand::Kind::shape && a->shape() == shape.shape()) return *a;
  return execute(broadcast_to_op, {a, s});
}

}  // namespace rill
