// Order and equality of elements, logic, and bits.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

const Op& less_op = compare_op("Less", "less", kRealTypes).doc("x < y.").define();
const Op& less_equal_op = compare_op("LessEqual", "less_equal", kRealTypes).doc("x <= y.").define();
const Op& greater_op = compare_op("Greater", "greater", kRealTypes).doc("x > y.").define();
const Op& greater_equal_op =
    compare_op("GreaterEqual", "greater_equal", kRealTypes).doc("x >= y.").define();

bool broadcastable(const TensorShape& a, const TensorShape& b) {
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    const std::int64_t x = a.dim(-i), y = b.dim(-i);
    if (x != y && x != 1 && y != 1 && x >= 0 && y >= 0) return false;
  }
  return true;
}
// Whatever sizes turn up where they are unknown.
bool surely_broadcastable(const TensorShape& a, const TensorShape& b) {
  if (!a.has_rank() || !b.has_rank()) return a.rank() == 0 || b.rank() == 0;
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    const std::int64_t x = a.dim(-i), y = b.dim(-i);
    if (x != 1 && y != 1 && (x < 0 || x != y)) return false;
  }
  return true;
}
// Without incompatible_shape_error, tensors that do not broadcast are unequal
// as a whole: a scalar.
void equal_shape(ShapeContext& c) {
  if (c.bool_attr("incompatible_shape_error")) return broadcast_shape(c);
  const TensorShape &a = c.input(0), &b = c.input(1);
  if (a.is_fully_defined() && b.is_fully_defined() && !broadcastable(a, b))
    return c.set_output(0, TensorShape::scalar());
  // What is unknown may turn out not to fit.
  if (!surely_broadcastable(a, b)) return c.set_output(0, TensorShape::unknown_rank());
  broadcast_shape(c);
}
OpBuilder equality_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("x: T")
      .input("y: T")
      .output("z: bool")
      .type("T", kAllTypes)
      .attr("incompatible_shape_error: bool = true");
  b.shape(equal_shape).elementwise().no_gradient();
  return b;
}
const Op& equal_op = equality_op("Equal", "equal").doc("x == y. NaN equals nothing.").define();
const Op& not_equal_op =
    equality_op("NotEqual", "not_equal").doc("x != y. NaN equals nothing.").define();
Tensor compare(const Op& op, const Operand& x, const Operand& y) {
  const ArgPair a(x, y);
  return execute(op, {a.first(), a.second()}, {{"incompatible_shape_error", false}});
}

OpBuilder logical_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("x: bool")
      .input("y: bool")
      .output("z: bool")
      .shape(broadcast_shape)
      .elementwise()
      .no_gradient();
  return b;
}
const Op& logical_and_op = logical_op("LogicalAnd", "logical_and").doc("x and y.").define();
const Op& logical_or_op = logical_op("LogicalOr", "logical_or").doc("x or y.").define();
const Op& logical_not_op = OpBuilder("LogicalNot", "logical_not")
                               .input("x: bool")
                               .output("y: bool")
                               .doc("not x.")
                               .shape(unchanged_shape)
                               .elementwise()
                               .no_gradient()
                               .define();

OpBuilder bitwise_op(std::string_view name, std::string_view tag) {
  return binary_op(name, tag, kIntegerTypes).no_gradient();
}
const Op& and_op = bitwise_op("BitwiseAnd", "bitwise_and").doc("The bits set in both.").define();
const Op& or_op =
    bitwise_op("BitwiseOr", "bitwise_or").doc("The bits set in one or both.").define();
const Op& xor_op =
    bitwise_op("BitwiseXor", "bitwise_xor").doc("The bits set in exactly one.").define();
const Op& left_shift_op = bitwise_op("LeftShift", "left_shift")
                              .doc("x shifted y bits up; y is clamped to [0, bits - 1].")
                              .define();
const Op& right_shift_op =
    bitwise_op("RightShift", "right_shift")
        .doc("x shifted y bits down, keeping the sign; y is clamped to [0, bits - 1].")
        .define();
const Op& invert_op =
    unary_op("Invert", "invert", kIntegerTypes).doc("Every bit flipped.").no_gradient().define();

bool is_bool(const Operand& x) {
  if (x.is_literal()) return x.kind() == Operand::Kind::boolean;
  const Arg a(x);
  return a->defined() && a->dtype() == bool_;
}

}  // namespace

Tensor less(const Operand& x, const Operand& y) { return binary(less_op, x, y); }
Tensor less_equal(const Operand& x, const Operand& y) { return binary(less_equal_op, x, y); }
Tensor greater(const Operand& x, const Operand& y) { return binary(greater_op, x, y); }
Tensor greater_equal(const Operand& x, const Operand& y) { return binary(greater_equal_op, x, y); }
Tensor equal(const Operand& x, const Operand& y) { return binary(equal_op, x, y); }
Tensor not_equal(const Operand& x, const Operand& y) { return binary(not_equal_op, x, y); }

Tensor logical_and(const Operand& x, const Operand& y) {
  return execute(logical_and_op, {Arg(x, bool_), Arg(y, bool_)});
}
Tensor logical_or(const Operand& x, const Operand& y) {
  return execute(logical_or_op, {Arg(x, bool_), Arg(y, bool_)});
}
Tensor logical_not(const Operand& x) { return execute(logical_not_op, {Arg(x, bool_)}); }
Tensor logical_xor(const Operand& x, const Operand& y) {
  const Arg a(x, bool_), b(y, bool_);
  RILL_CHECK(a->dtype() == bool_ && b->dtype() == bool_, invalid_argument,
             "[logical_xor] x is {} and y is {}; expected bool", a->dtype(), b->dtype());
  return not_equal(*a, *b);
}

namespace bitwise {
Tensor bitwise_and(const Operand& x, const Operand& y) { return binary(and_op, x, y); }
Tensor bitwise_or(const Operand& x, const Operand& y) { return binary(or_op, x, y); }
Tensor bitwise_xor(const Operand& x, const Operand& y) { return binary(xor_op, x, y); }
Tensor left_shift(const Operand& x, const Operand& y) { return binary(left_shift_op, x, y); }
Tensor right_shift(const Operand& x, const Operand& y) { return binary(right_shift_op, x, y); }
Tensor invert(const Operand& x) { return unary(invert_op, x); }
}  // namespace bitwise

namespace math {
namespace {
// Of each element but the last, beside the one after it.
Tensor everywhere(Tensor (*compare)(const Operand&, const Operand&), const Operand& x) {
  const Tensor flat = reshape(x, {-1});
  return reduce_all(compare(flat(slice(None, -1)), flat(slice(1, None))));
}
}  // namespace
Tensor is_non_decreasing(const Operand& x) { return everywhere(less_equal, x); }
Tensor is_strictly_increasing(const Operand& x) { return everywhere(less, x); }
}  // namespace math

Tensor operator<(const Operand& x, const Operand& y) { return less(x, y); }
Tensor operator<=(const Operand& x, const Operand& y) { return less_equal(x, y); }
Tensor operator>(const Operand& x, const Operand& y) { return greater(x, y); }
Tensor operator>=(const Operand& x, const Operand& y) { return greater_equal(x, y); }
Tensor operator==(const Operand& x, const Operand& y) { return compare(equal_op, x, y); }
Tensor operator!=(const Operand& x, const Operand& y) { return compare(not_equal_op, x, y); }
Tensor operator~(const Operand& x) { return is_bool(x) ? logical_not(x) : bitwise::invert(x); }
Tensor operator&(const Operand& x, const Operand& y) {
  return is_bool(x) || is_bool(y) ? logical_and(x, y) : bitwise::bitwise_and(x, y);
}
Tensor operator|(const Operand& x, const Operand& y) {
  return is_bool(x) || is_bool(y) ? logical_or(x, y) : bitwise::bitwise_or(x, y);
}
Tensor operator^(const Operand& x, const Operand& y) {
  return is_bool(x) || is_bool(y) ? logical_xor(x, y) : bitwise::bitwise_xor(x, y);
}

}  // namespace rill
