#include "rill/ops/op_helpers.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {

OpBuilder unary_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("x: T").output("y: T").type("T", types).shape(unchanged_shape).elementwise();
  return b;
}

OpBuilder binary_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("x: T")
      .input("y: T")
      .output("z: T")
      .type("T", types)
      .shape(broadcast_shape)
      .elementwise();
  return b;
}

OpBuilder compare_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("x: T")
      .input("y: T")
      .output("z: bool")
      .type("T", types)
      .shape(broadcast_shape)
      .elementwise()
      .no_gradient();
  return b;
}

Tensor unary(const Op& op, const Operand& x) { return execute(op, {Arg(x)}); }

Tensor binary(const Op& op, const Operand& x, const Operand& y) {
  const ArgPair a(x, y);
  return execute(op, {a.first(), a.second()});
}

Tensor sizes_of(const Tensor& t) {
  return t.shape().is_fully_defined() ? to_tensor(t.shape()) : shape(t);
}

bool value_known(const Tensor& t) {
  return !t.is_symbolic() || t.impl()->symbol->known_value() != nullptr;
}

void set_reduced(GradContext& g, int i, const Tensor& grad) {
  const TensorShape& shape = g.input_shape(i);
  if (grad.shape() == shape && shape.is_fully_defined()) return g.set(i, grad);
  if (!grad.shape().is_fully_defined() || !shape.is_fully_defined()) {
    // Which axes were repeated is known only when the graph runs.
    const Tensor sizes = g.input_shape_tensor(i);
    const Tensor axes = broadcast_gradient_args(sizes, sizes_of(grad)).t[0];
    return g.set(i, reshape(sum_over(grad, axes), sizes));
  }
  // [.., 1, ..] <- sum over the repeated axis; leading axes disappear.
  const int extra = grad.shape().rank() - shape.rank();
  std::vector<int> axes;
  for (int k = 0; k < grad.shape().rank(); ++k)
    if (k < extra || (shape.dim(k - extra) == 1 && grad.shape().dim(k) != 1)) axes.push_back(k);
  if (static_cast<int>(axes.size()) == extra && extra > 0) return g.set(i, reduce_sum(grad, axes));
  const Tensor sum = axes.empty() ? grad : reduce_sum(grad, axes, {.keepdims = true});
  g.set(i, sum.shape() == shape ? sum : reshape(sum, shape));
}

DType sizes_dtype(const Operand& sizes) {
  auto large = [](std::int64_t n) { return n > INT32_MAX || n < INT32_MIN; };
  if (sizes.kind() == Operand::Kind::integer) return large(sizes.integer()) ? int64 : int32;
  if (sizes.kind() == Operand::Kind::shape) {
    for (std::int64_t d : sizes.shape().dims())
      if (large(d)) return int64;
  }
  if (sizes.kind() == Operand::Kind::list) {
    for (const Operand& e : sizes)
      if (!e.is_literal() || sizes_dtype(e) == int64) return e.is_literal() ? int64 : DType();
  }
  return int32;
}

}  // namespace rill
