// Elementary and special functions of one argument.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

constexpr TypeSet kFractions = kFloatTypes | kComplexTypes;

// Defines an op whose gradient is dy * (an expression of x and y, conjugated).
#define RILL_FUNCTION(name, Name, types, text, saves, ...) \
  void name##_grad(GradContext& g) { __VA_ARGS__; }        \
  const Op& name##_op =                                    \
      unary_op(Name, #name, types).doc(text).gradient(name##_grad, saves).define();

RILL_FUNCTION(exp, "Exp", kFractions, "e^x.", "y", g.set(0, g.dy() * conj(g.output())))
RILL_FUNCTION(expm1, "Expm1", kFractions, "e^x - 1, exact near 0.", "x",
              g.set(0, g.dy() * conj(exp(g.input(0)))))
RILL_FUNCTION(log, "Log", kFractions, "Natural logarithm.", "x",
              g.set(0, g.dy() / conj(g.input(0))))
RILL_FUNCTION(log1p, "Log1p", kFractions, "log(1 + x), exact near 0.", "x",
              g.set(0, g.dy() / (1 + conj(g.input(0)))))
RILL_FUNCTION(sin, "Sin", kFractions, "Sine.", "x", g.set(0, g.dy() * cos(conj(g.input(0)))))
RILL_FUNCTION(cos, "Cos", kFractions, "Cosine.", "x",
              g.set(0, negative(g.dy()) * sin(conj(g.input(0)))))
RILL_FUNCTION(tan, "Tan", kFractions, "Tangent.", "y",
              g.set(0, g.dy() * (1 + square(conj(g.output())))))
RILL_FUNCTION(asin, "Asin", kFractions, "Inverse sine.", "x",
              g.set(0, g.dy() / sqrt(1 - square(conj(g.input(0))))))
RILL_FUNCTION(acos, "Acos", kFractions, "Inverse cosine.", "x",
              g.set(0, negative(g.dy()) / sqrt(1 - square(conj(g.input(0))))))
RILL_FUNCTION(atan, "Atan", kFractions, "Inverse tangent.", "x",
              g.set(0, g.dy() / (1 + square(conj(g.input(0))))))
RILL_FUNCTION(sinh, "Sinh", kFractions, "Hyperbolic sine.", "x",
              g.set(0, g.dy() * cosh(conj(g.input(0)))))
RILL_FUNCTION(cosh, "Cosh", kFractions, "Hyperbolic cosine.", "x",
              g.set(0, g.dy() * sinh(conj(g.input(0)))))
RILL_FUNCTION(asinh, "Asinh", kFractions, "Inverse hyperbolic sine.", "y",
              g.set(0, g.dy() / conj(cosh(g.output()))))
RILL_FUNCTION(acosh, "Acosh", kFractions, "Inverse hyperbolic cosine.", "y",
              g.set(0, g.dy() / conj(sinh(g.output()))))
RILL_FUNCTION(atanh, "Atanh", kFractions, "Inverse hyperbolic tangent.", "x",
              g.set(0, g.dy() / (1 - square(conj(g.input(0))))))

constexpr double kTwoOverRootPi = 1.1283791670955125738961589031215452;
RILL_FUNCTION(erf, "Erf", kFloatTypes, "The error function.", "x",
              g.set(0, g.dy() * (kTwoOverRootPi * exp(negative(square(g.input(0)))))))
RILL_FUNCTION(erfc, "Erfc", kFloatTypes, "1 - erf(x), exact for large x.", "x",
              g.set(0, g.dy() * (-kTwoOverRootPi * exp(negative(square(g.input(0)))))))
constexpr double kHalfRootPi = 0.88622692545275801364908374167057259;
RILL_FUNCTION(erfinv, "Erfinv", kFloatTypes, "The inverse of erf.", "y",
              g.set(0, g.dy() * (kHalfRootPi * exp(square(g.output())))))
constexpr double kRootTwoPi = 2.50662827463100050241576528481104525;
RILL_FUNCTION(ndtri, "Ndtri", kFloatTypes, "The quantile of the standard normal distribution.", "y",
              g.set(0, g.dy() * (kRootTwoPi * exp(square(g.output()) / 2))))
RILL_FUNCTION(lgamma, "Lgamma", kFloatTypes, "log |gamma(x)|.", "x",
              g.set(0, g.dy() * digamma(g.input(0))))
RILL_FUNCTION(digamma, "Digamma", kFloatTypes, "The derivative of lgamma.", "x",
              g.set(0, g.dy() * polygamma(ones_like(g.input(0)), g.input(0))))

// y and dy: from the result, which is cheaper than from x.
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
Tensor tanh_grad(const Tensor& y, const Tensor& dy);
void tanh_grad_grad(GradContext& g) {
  const Tensor y = conj(g.input(0)), dy = conj(g.input(1));
  if (g.needs(0)) g.set(0, g.dy() * -2 * dy * y);
  if (g.needs(1)) g.set(1, tanh_grad(y, g.dy()));
}
const Op& tanh_grad_op = grad_op("TanhGrad", "tanh_grad")
                             .doc("dy (1 - y^2): the gradient of y = tanh(x).")
                             .gradient(tanh_grad_grad, "y dy")
                             .define();
Tensor tanh_grad(const Tensor& y, const Tensor& dy) { return execute(tanh_grad_op, {y, dy}); }
RILL_FUNCTION(tanh, "Tanh", kFractions, "Hyperbolic tangent.", "y",
              g.set(0, tanh_grad(conj(g.output()), g.dy())))

Tensor sigmoid_grad(const Tensor& y, const Tensor& dy);
void sigmoid_grad_grad(GradContext& g) {
  const Tensor y = conj(g.input(0)), dy = conj(g.input(1));
  if (g.needs(0)) g.set(0, g.dy() * dy * (1 - 2 * y));
  if (g.needs(1)) g.set(1, sigmoid_grad(y, g.dy()));
}
const Op& sigmoid_grad_op = grad_op("SigmoidGrad", "sigmoid_grad")
                                .doc("dy y (1 - y): the gradient of y = sigmoid(x).")
                                .gradient(sigmoid_grad_grad, "y dy")
                                .define();
Tensor sigmoid_grad(const Tensor& y, const Tensor& dy) { return execute(sigmoid_grad_op, {y, dy}); }
const Op& sigmoid_op =
    unary_op("Sigmoid", "sigmoid", kFractions)
        .doc("1 / (1 + e^-x).")
        .gradient([](GradContext& g) { g.set(0, sigmoid_grad(conj(g.output()), g.dy())); }, "y")
        .define();

// Derivatives by the first argument have no closed form.
void zeta_grad(GradContext& g) {
  if (g.needs(1))
    set_reduced(g, 1, g.dy() * negative(g.input(0)) * zeta(g.input(0) + 1, g.input(1)));
}
const Op& zeta_op = OpBuilder("Zeta", "zeta")
                        .input("x: T")
                        .input("q: T")
                        .output("z: T")
                        .type("T", kRealFloatTypes)
                        .doc("Hurwitz's zeta function: the sum of (q + n)^-x over n >= 0.")
                        .shape(broadcast_shape)
                        .gradient(zeta_grad, "x q")
                        .define();
void polygamma_grad(GradContext& g) {
  if (g.needs(1)) set_reduced(g, 1, g.dy() * polygamma(g.input(0) + 1, g.input(1)));
}
const Op& polygamma_op = OpBuilder("Polygamma", "polygamma")
                             .input("a: T")
                             .input("x: T")
                             .output("z: T")
                             .type("T", kRealFloatTypes)
                             .doc("The derivative of order a of digamma(x).")
                             .shape(broadcast_shape)
                             .gradient(polygamma_grad, "a x")
                             .define();

const Op& floor_op = unary_op("Floor", "floor", kFloatTypes)
                         .doc("The largest integer not above x.")
                         .no_gradient()
                         .define();
const Op& ceil_op = unary_op("Ceil", "ceil", kFloatTypes)
                        .doc("The smallest integer not below x.")
                        .no_gradient()
                        .define();
const Op& rint_op = unary_op("Rint", "rint", kFloatTypes)
                        .doc("The nearest integer; halves to even.")
                        .no_gradient()
                        .define();
const Op& round_op = unary_op("Round", "round", kFloatTypes | kSignedTypes)
                         .doc("The nearest integer; halves to even.")
                         .no_gradient()
                         .define();

OpBuilder predicate_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("x: T")
      .output("y: bool")
      .type("T", kFloatTypes)
      .shape(unchanged_shape)
      .elementwise()
      .no_gradient();
  return b;
}
const Op& is_nan_op = predicate_op("IsNan", "is_nan").doc("Whether x is not a number.").define();
const Op& is_inf_op = predicate_op("IsInf", "is_inf").doc("Whether x is infinite.").define();
const Op& is_finite_op =
    predicate_op("IsFinite", "is_finite").doc("Whether x is neither infinite nor NaN.").define();

// As in TensorFlow: a step of one number counts as none.
void next_after_grad(GradContext& g) {
  set_reduced(g, 0, g.dy());
  if (g.needs(1)) set_reduced(g, 1, zeros_like(g.dy()));
}
const Op& next_after_op = OpBuilder("NextAfter", "nextafter")
                              .input("x1: T")
                              .input("x2: T")
                              .output("output: T")
                              .type("T", kRealFloatTypes, float32)
                              .doc("The number next to x1 on the way to x2.")
                              .shape(broadcast_shape)
                              .elementwise()
                              .gradient(next_after_grad)
                              .define();

}  // namespace

#define RILL_PUBLIC(name) \
  Tensor name(const Operand& x) { return unary(name##_op, x); }
RILL_PUBLIC(exp)
RILL_PUBLIC(expm1)
RILL_PUBLIC(log)
RILL_PUBLIC(log1p)
RILL_PUBLIC(sin)
RILL_PUBLIC(cos)
RILL_PUBLIC(tan)
RILL_PUBLIC(asin)
RILL_PUBLIC(acos)
RILL_PUBLIC(atan)
RILL_PUBLIC(sinh)
RILL_PUBLIC(cosh)
RILL_PUBLIC(tanh)
RILL_PUBLIC(asinh)
RILL_PUBLIC(acosh)
RILL_PUBLIC(atanh)
RILL_PUBLIC(erf)
RILL_PUBLIC(erfc)
RILL_PUBLIC(erfinv)
RILL_PUBLIC(ndtri)
RILL_PUBLIC(lgamma)
RILL_PUBLIC(digamma)
RILL_PUBLIC(sigmoid)
RILL_PUBLIC(floor)
RILL_PUBLIC(ceil)
RILL_PUBLIC(rint)
RILL_PUBLIC(is_nan)
RILL_PUBLIC(is_inf)
RILL_PUBLIC(is_finite)

// Integers are round already.
Tensor round(const Operand& x) {
  const Arg a(x);
  return a->defined() && a->dtype().is_integer() ? *a : execute(round_op, {a});
}
Tensor zeta(const Operand& x, const Operand& q) { return binary(zeta_op, x, q); }
Tensor polygamma(const Operand& a, const Operand& x) { return binary(polygamma_op, a, x); }
Tensor nextafter(const Operand& x1, const Operand& x2) { return binary(next_after_op, x1, x2); }

}  // namespace rill
