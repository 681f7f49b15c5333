// x + y, x - y, x * y, x / y, -x, x^2.
#include "rill/core/wider_dtype.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void add_grad(GradContext& g) {
  set_reduced(g, 0, g.dy());
  set_reduced(g, 1, g.dy());
}
const Op& add_op = binary_op("AddV2", "add", kNumericTypes)
                       .doc("x + y, element by element with broadcasting.")
                       .gradient(add_grad)
                       .define();
// The older op of the same meaning; it alone joins strings.
const Op& add_v1_op = binary_op("Add", "add", kNumericTypes | TypeSet{string})
                          .doc("x + y, element by element with broadcasting. Strings are joined.")
                          .gradient(add_grad)
                          .define();

void sub_grad(GradContext& g) {
  set_reduced(g, 0, g.dy());
  if (g.needs(1)) set_reduced(g, 1, negative(g.dy()));
}
const Op& sub_op = binary_op("Sub", "subtract", kNumericTypes)
                       .doc("x - y, element by element with broadcasting.")
                       .gradient(sub_grad)
                       .define();

// The conjugate matters for complex numbers only; conj() is the identity on others.
void mul_grad(GradContext& g) {
  if (g.needs(0)) set_reduced(g, 0, g.dy() * conj(g.input(1)));
  if (g.needs(1)) set_reduced(g, 1, g.dy() * conj(g.input(0)));
}
const Op& mul_op = binary_op("Mul", "multiply", kNumericTypes)
                       .doc("x * y, element by element with broadcasting.")
                       .gradient(mul_grad, "x y")
                       .define();

void div_grad(GradContext& g) {
  const Tensor x_bar = g.dy() / conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, x_bar);
  if (g.needs(1)) set_reduced(g, 1, x_bar * conj(negative(g.input(0) / g.input(1))));
}
const Op& div_op =
    binary_op("RealDiv", "divide", kFloatTypes | kComplexTypes)
        .doc("x / y for floating-point tensors, element by element with broadcasting.")
        .gradient(div_grad, "x y")
        .define();

void neg_grad(GradContext& g) { g.set(0, negative(g.dy())); }
const Op& neg_op =
    unary_op("Neg", "negative", kNumericTypes).doc("-x.").gradient(neg_grad).define();

void square_grad(GradContext& g) { g.set(0, g.dy() * (2 * conj(g.input(0)))); }
const Op& square_op =
    unary_op("Square", "square", kNumericTypes).doc("x * x.").gradient(square_grad, "x").define();

// The side that won gets the gradient; x, when they are equal.
void maximum_grad(GradContext& g) {
  const Tensor x_wins = cast(greater_equal(g.input(0), g.input(1)), g.dy().dtype());
  set_reduced(g, 0, g.dy() * x_wins);
  if (g.needs(1)) set_reduced(g, 1, g.dy() * (1 - x_wins));
}
const Op& maximum_op = binary_op("Maximum", "maximum", kRealTypes)
                           .doc("The larger of x and y, element by element; NaN if one is NaN.")
                           .gradient(maximum_grad, "x y")
                           .define();
void minimum_grad(GradContext& g) {
  const Tensor x_wins = cast(greater_equal(g.input(1), g.input(0)), g.dy().dtype());
  set_reduced(g, 0, g.dy() * x_wins);
  if (g.needs(1)) set_reduced(g, 1, g.dy() * (1 - x_wins));
}
const Op& minimum_op = binary_op("Minimum", "minimum", kRealTypes)
                           .doc("The smaller of x and y, element by element; NaN if one is NaN.")
                           .gradient(minimum_grad, "x y")
                           .define();

}  // namespace

Tensor maximum(const Operand& x, const Operand& y) { return binary(maximum_op, x, y); }
Tensor minimum(const Operand& x, const Operand& y) { return binary(minimum_op, x, y); }
Tensor add(const Operand& x, const Operand& y) {
  const ArgPair a(x, y);
  return execute(a.first().defined() && a.first().dtype() == string ? add_v1_op : add_op,
                 {a.first(), a.second()});
}
Tensor subtract(const Operand& x, const Operand& y) { return binary(sub_op, x, y); }
Tensor multiply(const Operand& x, const Operand& y) { return binary(mul_op, x, y); }
Tensor negative(const Operand& x) { return unary(neg_op, x); }
Tensor square(const Operand& x) { return unary(square_op, x); }

Tensor truediv(const Operand& x, const Operand& y) {
  // The partner of a literal decides what is divided: uint8 / 255.f is float32.
  auto real = [](DType d) { return !d.is_integer() ? d : d.itemsize() <= 2 ? float32 : float64; };
  auto dtype_of = [](const Operand& o) { return o.is_literal() ? DType() : to_tensor(o).dtype(); };
  DType d = dtype_of(x).defined() ? dtype_of(x) : dtype_of(y);
  if (d.defined() && !d.is_integer()) return binary(div_op, x, y);
  if (!d.defined())
    d = x.kind() == Operand::Kind::floating || y.kind() == Operand::Kind::floating ? float32
                                                                                   : int32;
  const Arg a(x, x.is_literal() ? real(d) : DType()), b(y, y.is_literal() ? real(d) : DType());
  const DType to = wider_dtype(a->dtype(), b->dtype());
  RILL_CHECK(x.is_literal() || y.is_literal() || a->dtype() == b->dtype(), invalid_argument,
             "[truediv] x is {} and y is {}: dtypes are not promoted. Write tf::cast({}, tf::{})",
             a->dtype(), b->dtype(), to == a->dtype() ? "y" : "x", to);
  return execute(div_op, {cast(*a, real(d)), cast(*b, real(d))});
}
Tensor divide(const Operand& x, const Operand& y) { return truediv(x, y); }

Tensor operator+(const Operand& x, const Operand& y) { return add(x, y); }
Tensor operator-(const Operand& x, const Operand& y) { return subtract(x, y); }
Tensor operator*(const Operand& x, const Operand& y) { return multiply(x, y); }
Tensor operator/(const Operand& x, const Operand& y) { return truediv(x, y); }
Tensor operator-(const Operand& x) { return negative(x); }

}  // namespace rill
