// Tensors of one value: fill, zeros, ones and their _like forms.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void fill_shape(ShapeContext& c) {
  RILL_CHECK(!c.input(0).has_rank() || c.input(0).rank() <= 1, invalid_argument,
             "[fill] dims must be a list, got shape {}", c.input(0));
  require_rank(c, 1, 0, "value");
  const TensorShape shape = c.input_as_shape(0);
  if (c.input_value(0)) checked_num_elements(shape.dims(), c.tag());
  c.set_output(0, shape);
}
void fill_grad(GradContext& g) { g.set(1, reduce_sum(g.dy())); }
const Op& fill_op = OpBuilder("Fill", "fill")
                        .input("dims: index_type")
                        .input("value: T")
                        .output("output: T")
                        .type("T", kAllTypes)
                        .type("index_type", kIndexTypes, int32)
                        .doc("A tensor of shape dims filled with a scalar value.")
                        .shape(fill_shape)
                        .gradient(fill_grad)
                        .host("dims")
                        .define();

Tensor filled(const Operand& shape, const Tensor& value) {
  // Sizes may come as one number: zeros(3).
  const Arg s(shape, sizes_dtype(shape));
  return execute(fill_op, {s->ndim() == 0 ? reshape(*s, {1}) : *s, value});
}

Tensor one_value(DType dtype, int v) {
  RILL_CHECK(dtype != string || v == 0, invalid_argument,
             "[ones] dtype is string, which has no one; expected a number's or bool");
  if (dtype == string) return constant("");
  if (dtype == bool_) return constant(v != 0);
  return to_tensor(v, dtype.defined() ? dtype : float32);
}

Tensor like(const Operand& x, DType dtype, int v) {
  const Arg a(x);
  return filled(sizes_of(*a), one_value(dtype.defined() ? dtype : a->dtype(), v));
}

}  // namespace

Tensor fill(const Operand& dims, const Operand& value) { return filled(dims, Arg(value)); }
Tensor zeros(const Operand& shape, DType dtype) { return filled(shape, one_value(dtype, 0)); }
Tensor ones(const Operand& shape, DType dtype) { return filled(shape, one_value(dtype, 1)); }
Tensor zeros_like(const Operand& x, DType dtype) { return like(x, dtype, 0); }
Tensor ones_like(const Operand& x, DType dtype) { return like(x, dtype, 1); }

}  // namespace rill
