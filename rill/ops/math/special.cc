// Bessel functions, integrals that no elementary function gives, incomplete gamma and beta
// functions.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

using namespace math;
using namespace math::special;

// Defines an op of one argument; the gradient is dy times an expression of x and y.
#define RILL_SPECIAL_OP(name, Name, text, saves, ...)                        \
  void name##_gradient(GradContext& g) {                                     \
    [[maybe_unused]] auto x = [&]() -> const Tensor& { return g.input(0); }; \
    [[maybe_unused]] auto y = [&]() -> const Tensor& { return g.output(); }; \
    g.set(0, g.dy() * (__VA_ARGS__));                                        \
  }                                                                          \
  const Op& name##_op = unary_op(Name, "math." #name, kFloatTypes)           \
                            .doc(text)                                       \
                            .gradient(name##_gradient, saves)                \
                            .define();

// f(x) away from 0; at 0, where f divides by it, its limit.
template <class F>
Tensor except_at_zero(const Tensor& x, double limit, F f) {
  const Tensor zero = equal(x, 0);
  return where(zero, limit, f(where(zero, ones_like(x), x)));
}

RILL_SPECIAL_OP(bessel_i0, "BesselI0", "The modified Bessel function I0.", "x", bessel_i1(x()))
RILL_SPECIAL_OP(bessel_i0e, "BesselI0e", "e^-|x| I0(x).", "x y", bessel_i1e(x()) - sign(x()) * y())
// At 0 the derivative is 1/2, where TensorFlow says 1.
RILL_SPECIAL_OP(bessel_i1, "BesselI1", "The modified Bessel function I1.", "x y",
                except_at_zero(x(), 0.5, [&](const Tensor& v) { return bessel_i0(v) - y() / v; }))
RILL_SPECIAL_OP(bessel_i1e, "BesselI1e", "e^-|x| I1(x).", "x y",
                except_at_zero(x(), 0.5, [&](const Tensor& v) {
                  return bessel_i0e(v) - y() * (sign(v) + reciprocal(v));
                }))
RILL_SPECIAL_OP(bessel_k0, "BesselK0", "The modified Bessel function K0.", "x",
                negative(bessel_k1(x())))
RILL_SPECIAL_OP(bessel_k0e, "BesselK0e", "e^x K0(x).", "x y", y() - bessel_k1e(x()))
RILL_SPECIAL_OP(bessel_k1, "BesselK1", "The modified Bessel function K1.", "x y",
                negative(bessel_k0(x())) - y() / x())
RILL_SPECIAL_OP(bessel_k1e, "BesselK1e", "e^x K1(x).", "x y",
                y() * (1 - reciprocal(x())) - bessel_k0e(x()))
RILL_SPECIAL_OP(bessel_j0, "BesselJ0", "The Bessel function J0.", "x", negative(bessel_j1(x())))
RILL_SPECIAL_OP(bessel_j1, "BesselJ1", "The Bessel function J1.", "x y",
                except_at_zero(x(), 0.5, [&](const Tensor& v) { return bessel_j0(v) - y() / v; }))
RILL_SPECIAL_OP(bessel_y0, "BesselY0", "The Bessel function Y0.", "x", negative(bessel_y1(x())))
RILL_SPECIAL_OP(bessel_y1, "BesselY1", "The Bessel function Y1.", "x y", bessel_y0(x()) - y() / x())
RILL_SPECIAL_OP(dawsn, "Dawsn", "Dawson's integral.", "x y", 1 - 2 * x() * y())
RILL_SPECIAL_OP(expint, "Expint", "The exponential integral Ei.", "x", exp(x()) / x())
constexpr double kHalfPi = 1.57079632679489661923;
RILL_SPECIAL_OP(fresnel_cos, "FresnelCos", "The integral of cos(pi t^2 / 2) from 0 to x.", "x",
                cos(kHalfPi* square(x())))
RILL_SPECIAL_OP(fresnel_sin, "FresnelSin", "The integral of sin(pi t^2 / 2) from 0 to x.", "x",
                sin(kHalfPi* square(x())))
void spence_gradient(GradContext& g) {
  const Tensor& x = g.input(0);
  const Tensor one = equal(x, 1), v = where(one, 2 * ones_like(x), x);
  g.set(0, g.dy() * where(one, -1, log(v) / (1 - v)));
}
const Op& spence_op = unary_op("Spence", "math.spence", kFloatTypes)
                          .doc("The integral of log(t) / (1 - t) from 1 to x.")
                          .gradient(spence_gradient, "x")
                          .define();

// ---- incomplete gamma functions
OpBuilder gamma_pair(const char* name, const char* tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("a: T").input("x: T").output("z: T").type("T", types).shape(broadcast_shape);
  return b;
}
const Op& igamma_grad_a_op = gamma_pair("IgammaGradA", "math.igamma_grad_a", kRealFloatTypes)
                                 .doc("The derivative of igamma(a, x) by a.")
                                 .no_gradient()
                                 .define();
void igamma_gradients(GradContext& g, bool upper) {
  const Tensor &a = g.input(0), &x = g.input(1), dy = upper ? negative(g.dy()) : g.dy();
  if (g.needs(0)) {
    const bool half = a.dtype() == float16 || a.dtype() == bfloat16;
    const Tensor wa = half ? cast(a, float32) : a, wx = half ? cast(x, float32) : x;
    const Tensor d = execute(igamma_grad_a_op, {wa, wx});
    set_reduced(g, 0, dy * (half ? cast(d, a.dtype()) : d));
  }
  if (g.needs(1)) set_reduced(g, 1, dy * exp((a - 1) * log(x) - x - lgamma(a)));
}
const Op& igamma_op = gamma_pair("Igamma", "math.igamma", kFloatTypes)
                          .doc("The lower regularised incomplete gamma function P(a, x).")
                          .gradient([](GradContext& g) { igamma_gradients(g, false); }, "a x")
                          .define();
const Op& igammac_op = gamma_pair("Igammac", "math.igammac", kFloatTypes)
                           .doc("The upper regularised incomplete gamma function Q(a, x).")
                           .gradient([](GradContext& g) { igamma_gradients(g, true); }, "a x")
                           .define();

// ---- incomplete beta function: shapes are equal, or scalars
void betainc_shape(ShapeContext& c) {
  TensorShape out = TensorShape::scalar();
  bool unknown = false;
  for (int i = 0; i < 3; ++i) {
    const TensorShape& s = c.input(i);
    if (!s.has_rank()) unknown = true;
    if (!s.has_rank() || s.rank() == 0) continue;
    RILL_CHECK(out.rank() == 0 || out.is_compatible_with(s), invalid_argument,
               "[{}] arguments have shapes {}, {} and {}; expected equal shapes, or scalars",
               c.tag(), c.input(0), c.input(1), c.input(2));
    out = out.rank() == 0 ? s : merge_shapes(out, s);
  }
  c.set_output(0, unknown && out.rank() == 0 ? TensorShape::unknown_rank() : out);
}
// As in TensorFlow there is none for a and b.
void betainc_grad(GradContext& g) {
  const Tensor &a = g.input(0), &b = g.input(1), &x = g.input(2);
  if (!g.needs(2)) return;
  const Tensor log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  set_reduced(g, 2, g.dy() * exp((b - 1) * log1p(negative(x)) + (a - 1) * log(x) - log_beta));
}
const Op& betainc_op = OpBuilder("Betainc", "math.betainc")
                           .input("a: T")
                           .input("b: T")
                           .input("x: T")
                           .output("z: T")
                           .type("T", kRealFloatTypes)
                           .doc("The regularised incomplete beta function I_x(a, b).")
                           .shape(betainc_shape)
                           .gradient(betainc_grad, "a b x")
                           .define();

}  // namespace

#define RILL_SPECIAL_FUNCTION(name) \
  Tensor name(const Operand& x) { return unary(name##_op, x); }
namespace math {
RILL_SPECIAL_FUNCTION(bessel_i0)
RILL_SPECIAL_FUNCTION(bessel_i0e)
RILL_SPECIAL_FUNCTION(bessel_i1)
RILL_SPECIAL_FUNCTION(bessel_i1e)
namespace special {
RILL_SPECIAL_FUNCTION(bessel_k0)
RILL_SPECIAL_FUNCTION(bessel_k0e)
RILL_SPECIAL_FUNCTION(bessel_k1)
RILL_SPECIAL_FUNCTION(bessel_k1e)
RILL_SPECIAL_FUNCTION(bessel_j0)
RILL_SPECIAL_FUNCTION(bessel_j1)
RILL_SPECIAL_FUNCTION(bessel_y0)
RILL_SPECIAL_FUNCTION(bessel_y1)
RILL_SPECIAL_FUNCTION(dawsn)
RILL_SPECIAL_FUNCTION(expint)
RILL_SPECIAL_FUNCTION(fresnel_cos)
RILL_SPECIAL_FUNCTION(fresnel_sin)
RILL_SPECIAL_FUNCTION(spence)
}  // namespace special

Tensor igamma(const Operand& a, const Operand& x) { return binary(igamma_op, a, x); }
Tensor igammac(const Operand& a, const Operand& x) { return binary(igammac_op, a, x); }
Tensor betainc(const Operand& a, const Operand& b, const Operand& x) {
  const ArgPair p(a, x);
  return execute(betainc_op, {p.first(), Arg(b, p.first().dtype()), p.second()});
}
Tensor lbeta(const Operand& x) {
  const Arg v(x);
  return reduce_sum(lgamma(*v), -1) - lgamma(reduce_sum(*v, -1));
}

}  // namespace math
}  // namespace rill
