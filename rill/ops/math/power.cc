// Powers and roots, magnitudes and signs.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

constexpr TypeSet kFractions = kFloatTypes | kComplexTypes;
constexpr TypeSet kSignedNumbers = kFractions | kSignedTypes;

// y x^(y-1), and 0 for x^0 also at x = 0: the exponent -1 is not used there, so
// that no order of derivative meets 0 * inf. A base that is not positive has no
// real derivative by the exponent; it counts as 0.
void pow_grad(GradContext& g) {
  const Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.needs(0)) {
    const Tensor flat = g.needs(1) ? logical_and(equal(y, 0), equal(x, 0)) : equal(y, 0);
    set_reduced(g, 0, g.dy() * y * pow(x, where(flat, 0, y - 1)));
  }
  if (g.needs(1)) {
    const Tensor mask = x.dtype().is_complex() ? not_equal(x, 0) : greater(x, 0);
    const Tensor log_x = where(mask, log(where(mask, x, 1)), 0);
    set_reduced(g, 1, g.dy() * conj(g.output()) * log_x);
  }
}
const Op& pow_op = binary_op("Pow", "pow", kSignedNumbers)
                       .doc("x to the power y. An integer power must not be negative.")
                       .gradient(pow_grad, "x y z")
                       .define();

void squared_difference_grad(GradContext& g) {
  const Tensor d = g.dy() * (2 * (g.input(0) - g.input(1)));
  set_reduced(g, 0, d);
  if (g.needs(1)) set_reduced(g, 1, negative(d));
}
const Op& squared_difference_op =
    binary_op("SquaredDifference", "squared_difference", kFractions | kIndexTypes)
        .doc("(x - y)^2.")
        .gradient(squared_difference_grad, "x y")
        .define();

void atan2_grad(GradContext& g) {
  const Tensor &y = g.input(0), &x = g.input(1);
  const Tensor d = g.dy() / (square(x) + square(y));
  if (g.needs(0)) set_reduced(g, 0, x * d);
  if (g.needs(1)) set_reduced(g, 1, negative(y) * d);
}
const Op& atan2_op = OpBuilder("Atan2", "atan2")
                         .input("y: T")
                         .input("x: T")
                         .output("z: T")
                         .type("T", kFloatTypes)
                         .doc("The angle of the point (x, y), in [-pi, pi].")
                         .shape(broadcast_shape)
                         .elementwise()
                         .gradient(atan2_grad, "y x")
                         .define();

void abs_grad(GradContext& g) { g.set(0, g.dy() * sign(g.input(0))); }
const Op& abs_op =
    unary_op("Abs", "abs", kFloatTypes | kSignedTypes).doc("|x|.").gradient(abs_grad, "x").define();
void sign_grad(GradContext& g) { g.set(0, zeros_like(g.dy())); }
const Op& sign_op = unary_op("Sign", "sign", kSignedNumbers)
                        .doc("-1, 0 or 1; of complex numbers x / |x|.")
                        .gradient(sign_grad)
                        .define();

// The gradient ops take the result y and dy; they fuse what would be several
// passes, and training graphs hold them.
OpBuilder grad_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("y: T")
      .input("dy: T")
      .output("z: T")
      .type("T", kFractions)
      .shape(broadcast_shape)
      .elementwise();
  return b;
}

Tensor reciprocal_grad(const Tensor& y, const Tensor& dy);
void reciprocal_grad_grad(GradContext& g) {
  const Tensor y = conj(g.input(0)), dy = conj(g.input(1));
  if (g.needs(0)) g.set(0, g.dy() * -2 * dy * y);
  if (g.needs(1)) g.set(1, reciprocal_grad(y, g.dy()));
}
const Op& reciprocal_grad_op = grad_op("ReciprocalGrad", "reciprocal_grad")
                                   .doc("-dy y^2: the gradient of y = 1 / x.")
                                   .gradient(reciprocal_grad_grad, "y dy")
                                   .define();
[[maybe_unused]] const Op& inv_grad_op = grad_op("InvGrad", "reciprocal_grad")
                                             .doc("-dy y^2: the gradient of y = 1 / x.")
                                             .gradient(reciprocal_grad_grad, "y dy")
                                             .define();
Tensor reciprocal_grad(const Tensor& y, const Tensor& dy) {
  return execute(reciprocal_grad_op, {y, dy});
}
void reciprocal_gradient(GradContext& g) { g.set(0, reciprocal_grad(g.output(), g.dy())); }
const Op& reciprocal_op = unary_op("Reciprocal", "reciprocal", kSignedNumbers)
                              .doc("1 / x.")
                              .gradient(reciprocal_gradient, "y")
                              .define();
[[maybe_unused]] const Op& inv_op = unary_op("Inv", "reciprocal", kSignedNumbers)
                                        .doc("1 / x.")
                                        .gradient(reciprocal_gradient, "y")
                                        .define();

Tensor sqrt_grad(const Tensor& y, const Tensor& dy);
void sqrt_grad_grad(GradContext& g) {
  const Tensor& y = g.input(0);
  const Tensor ga = g.dy() / y;
  if (g.needs(0)) g.set(0, negative(conj(ga)) * g.output());
  if (g.needs(1)) g.set(1, 0.5 * ga);
}
const Op& sqrt_grad_op = grad_op("SqrtGrad", "sqrt_grad")
                             .doc("dy / (2 y): the gradient of y = sqrt(x).")
                             .gradient(sqrt_grad_grad, "y z")
                             .define();
Tensor sqrt_grad(const Tensor& y, const Tensor& dy) { return execute(sqrt_grad_op, {y, dy}); }
void sqrt_gradient(GradContext& g) { g.set(0, sqrt_grad(g.output(), g.dy())); }
const Op& sqrt_op = unary_op("Sqrt", "sqrt", kFractions)
                        .doc("The square root.")
                        .gradient(sqrt_gradient, "y")
                        .define();

Tensor rsqrt_grad(const Tensor& y, const Tensor& dy);
void rsqrt_grad_grad(GradContext& g) {
  const Tensor y = conj(g.input(0)), dy = conj(g.input(1));
  if (g.needs(0)) g.set(0, -1.5 * g.dy() * dy * square(y));
  if (g.needs(1)) g.set(1, rsqrt_grad(y, g.dy()));
}
const Op& rsqrt_grad_op = grad_op("RsqrtGrad", "rsqrt_grad")
                              .doc("-dy y^3 / 2: the gradient of y = 1 / sqrt(x).")
                              .gradient(rsqrt_grad_grad, "y dy")
                              .define();
Tensor rsqrt_grad(const Tensor& y, const Tensor& dy) { return execute(rsqrt_grad_op, {y, dy}); }
void rsqrt_gradient(GradContext& g) { g.set(0, rsqrt_grad(g.output(), g.dy())); }
const Op& rsqrt_op = unary_op("Rsqrt", "rsqrt", kFractions)
                         .doc("1 / sqrt(x).")
                         .gradient(rsqrt_gradient, "y")
                         .define();

}  // namespace

Tensor pow(const Operand& x, const Operand& y) { return binary(pow_op, x, y); }
Tensor squared_difference(const Operand& x, const Operand& y) {
  return binary(squared_difference_op, x, y);
}
Tensor atan2(const Operand& y, const Operand& x) { return binary(atan2_op, y, x); }
Tensor abs(const Operand& x) {
  const Arg a(x);
  return a->defined() && a->dtype().is_complex() ? complex_abs(*a) : execute(abs_op, {a});
}
Tensor sign(const Operand& x) { return unary(sign_op, x); }
Tensor reciprocal(const Operand& x) { return unary(reciprocal_op, x); }
Tensor sqrt(const Operand& x) { return unary(sqrt_op, x); }
Tensor rsqrt(const Operand& x) { return unary(rsqrt_op, x); }

}  // namespace rill
