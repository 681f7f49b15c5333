// Where the largest and the smallest elements are.
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void arg_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 0, "axis");
  std::int64_t value = 0;
  if (!in.has_rank()) return c.set_output(0, TensorShape::unknown_rank());
  if (!c.input_as_int(1, &value))
    return c.set_output(
        0, in.rank() ? TensorShape::unknown_dims(in.rank() - 1) : TensorShape::unknown_rank());
  const int axis = normalize_axis(value, in.rank(), c.tag());
  RILL_CHECK(in.dim(axis) != 0, invalid_argument,
             "[{}] axis {} of shape {} is empty; expected 1 element or more", c.tag(), axis, in);
  Dims out = in.dims();
  out.erase(static_cast<std::size_t>(axis));
  c.set_output(0, TensorShape(out));
}
OpBuilder arg_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("input: T").input("dimension: Tidx").output("output: output_type");
  b.type("T", kRealTypes | TypeSet{bool_})
      .type("Tidx", kIndexTypes, int32)
      .type("output_type", kIndexTypes, int64);
  b.shape(arg_shape).host("dimension").no_gradient();
  return b;
}
const Op& arg_max_op = arg_op("ArgMax", "argmax")
                           .doc("Where along an axis the largest element is; the first of equals.")
                           .define();
const Op& arg_min_op = arg_op("ArgMin", "argmin")
                           .doc("Where along an axis the smallest element is; the first of equals.")
                           .define();

Tensor arg(const Op& op, const Operand& input, int axis, DType output_type) {
  return execute(op, {Arg(input), to_tensor(axis)}, {{"output_type", output_type}});
}

}  // namespace

Tensor argmax(const Operand& input, int axis, DType output_type) {
  return arg(arg_max_op, input, axis, output_type);
}
Tensor argmax(const Operand& input, ArgOptions o) {
  return arg(arg_max_op, input, o.axis, o.output_type);
}
Tensor argmax(const Operand& input, int axis, ArgOptions o) {
  return arg(arg_max_op, input, axis, o.output_type);
}
Tensor argmin(const Operand& input, int axis, DType output_type) {
  return arg(arg_min_op, input, axis, output_type);
}
Tensor argmin(const Operand& input, ArgOptions o) {
  return arg(arg_min_op, input, o.axis, o.output_type);
}
Tensor argmin(const Operand& input, int axis, ArgOptions o) {
  return arg(arg_min_op, input, axis, o.output_type);
}

}  // namespace rill
