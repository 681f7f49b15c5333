#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
constexpr TypeSet kFractions = kFloatTypes | kComplexTypes;

}  // namespace

RILL_ROWS(math_division) {
  row("Div")
      .sample({x({2, 3}), x({2, 3}, 1, 3)})
      .sample({x({4}, {7, 5, 100, 3}), x({4}, {2, 3, 7, 4})})
      .dtypes(kNumericTypes);
  for (const char* name : {"FloorDiv", "TruncateDiv"})
    row(name)
        .sample({x({2, 3}, {7.5, 5, 100, 3, 0, 1}), x({3}, {2, 3, 7})})
        .sample({values(int32, {4}, {-7, 7, -7, 7}), values(int32, {4}, {2, -2, -2, 2})})
        .sample({x({}), x({2}, 1, 3)})
        .dtypes(kRealTypes)
        .error({values(int32, {2}, {1, 2}), values(int32, {2}, {1, 0})}, {},
               "element 1 of y is 0 \\(integer division by zero\\)");
  row("FloorMod")
      .sample({x({2, 3}, {7.5, 5, 100, 3, 0.25, 1.5}), x({3}, {2, 3, 7})})
      .sample({values(int32, {4}, {-7, 7, -7, 7}), values(int32, {4}, {2, -2, -2, 2})})
      .sample({values(float32, {4}, {-7, 7, -7.5, 7}), values(float32, {4}, {2, -2, -2, inf})})
      .dtypes(kRealTypes)
      .error({values(int64, {1}, {1}), values(int64, {1}, {0})}, {}, "integer division by zero");
  for (const char* name : {"TruncateMod", "Mod"})
    row(name)
        .sample({x({2, 3}, {7.5, 5, 100, 3, 0.25, 1.5}), x({3}, {2, 3, 7})})
        .sample({x({4}, {-7, 7, -7.5, 7}), x({4}, {2, -2, -2, 2})})
        .dtypes(kFloatTypes | kIndexTypes);
  row("DivNoNan")
      .sample({x({2, 3}), x({3}, 1, 3)})
      .sample({x({2}), fixed(x({2}, {0, 2}))})
      .sample({values(float32, {3}, {nan, inf, 1}), values(float32, {3}, {0, 0, 2})})
      .dtypes(kFractions);
  row("MulNoNan")
      .sample({x({2, 3}), x({3}, 1, 3)})
      .sample({values(float32, {3}, {nan, inf, 1}), values(float32, {3}, {0, 0, 2})})
      .dtypes(kFractions);
  row("Xdivy")
      .sample({x({2, 3}, 1, 2), x({3}, 1, 3)})
      .sample({values(float32, {4}, {0, 0, 0, 1}), values(float32, {4}, {0, nan, inf, 2})})
      .dtypes(kFractions);
  row("Xlogy")
      .sample({x({2, 3}, 1, 2), x({3}, 1, 3)})
      .sample({values(float32, {4}, {0, 0, 0, 1}), values(float32, {4}, {0, nan, inf, 2})})
      .dtypes(kFractions);
  row("Xlog1py")
      .sample({x({2, 3}, 1, 2), x({3}, 1, 3)})
      .sample({values(float32, {4}, {0, 0, 0, 1}), values(float32, {4}, {-1, nan, inf, 2})})
      .dtypes(kFractions);
}

RILL_ROWS(math_power) {
  constexpr TypeSet kSignedNumbers = kFractions | kSignedTypes;
  row("Pow")
      .sample({x({2, 3}, 1, 3), x({2, 3}, 0, 2)})
      .sample({x({2, 3}, 1, 3), fixed(x({}, {2}))})
      .sample({fixed(x({}, {2})), x({3}, 0, 2)})
      .sample({x({4}, {0, 2, 3, 1}), fixed(x({4}, {2, 0, 1, 3}))})
      .dtypes(kSignedNumbers)
      .tolerance(4e-6)
      .error({values(int32, {2}, {1, 2}), values(int32, {2}, {1, -1})}, {},
             "element 1 of y is -1; a negative power is a fraction");
  // At base 0: both gradients are finite, also of higher order.
  row("pow_at_zero")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{pow(in[0], 3), pow(in[0], 2), pow(in[0], 1), pow(in[0], 0)};
      })
      .tf("[x0 ** 3, x0 ** 2, x0 ** 1, x0 ** 0]")
      .sample({x({4}, {0, 1, -1, 2})});
  row("SquaredDifference")
      .sample({x({2, 3}), x({3})})
      .sample({x({}), x({2, 2})})
      .dtypes(kFractions | kIndexTypes);
  row("Atan2")
      .sample({x({2, 3}), x({3}, 0.5, 2)})
      .sample({x({4}, {0, 0, inf, nan}), x({4}, {1, -1, inf, 1})})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  row("Abs")
      .sample({x({2, 3})})
      .sample({x({})})
      .sample({x({3}, {-inf, nan, -0.0})})
      .dtypes(kFloatTypes | kSignedTypes);
  row("Sign").sample({x({2, 3})}).sample({x({3}, {-inf, nan, 0})}).dtypes(kSignedNumbers);
  for (const char* name : {"Reciprocal", "Inv"})
    row(name).sample({x({2, 3}, 1, 3)}).sample({values(float32, {2}, {0, inf})}).dtypes(kFractions);
  row("Sqrt").sample({x({2, 3}, 0.5, 4)}).sample({x({4}, {0, inf, -1, nan})}).dtypes(kFractions);
  row("Rsqrt").sample({x({2, 3}, 0.5, 4)}).sample({x({4}, {0, inf, -1, nan})}).dtypes(kFloatTypes);
  row("rsqrt_complex")
      .call([](const std::vector<Tensor>& in) { return std::vector<Tensor>{rsqrt(in[0])}; })
      .tf("tf.math.rsqrt(x0)")
      .sample({x({2, 3}, 0.5, 4)})
      .dtypes(kComplexTypes);
  for (const char* name :
       {"ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad"})
    row(name)
        .sample({x({2, 3}, 0.5, 2), x({2, 3})})
        .sample({values(float32, {4}, {0, inf, nan, 0.5}), values(float32, {4}, {0, 0, 0, 2})})
        .dtypes(kFractions)
        .tolerance(4e-6);
}

RILL_ROWS(math_comparison) {
  for (const char* name : {"Less", "LessEqual", "Greater"})
    row(name)
        .sample({x({2, 3}), x({2, 3})})
        .sample({x({3}, {1, 2, 3}), x({}, {2})})
        .sample({values(float32, {4}, {nan, 1, inf, -0.0}), values(float32, {4}, {1, 1, inf, 0})})
        .dtypes(kRealTypes);
  for (const char* name : {"Equal", "NotEqual"})
    row(name)
        .sample({x({2, 3}), x({2, 3})})
        .sample({x({3}, {1, 0, 1}), x({2, 1}, {1, 0})})
        .sample({values(float32, {4}, {nan, 1, inf, -0.0}), values(float32, {4}, {nan, 1, inf, 0})})
        .sample({strings({2, 2}, {"a", "b", "", "d"}), strings({2}, {"a", "c"})})
        .sample({x({2}, {1, 0}), x({3}, {1, 0, 1})}, {{"incompatible_shape_error", false}})
        .sample({x({2}, {1, 0}), x({2}, {1, 1})}, {{"incompatible_shape_error", false}})
        .dtypes(kPlainTypes)
        .error({x({2}), x({3})}, {}, "shapes \\[2\\] and \\[3\\] cannot be broadcast");
  for (const char* name : {"LogicalAnd", "LogicalOr"})
    row(name)
        .sample({bools({4}, {0, 0, 1, 1}), bools({4}, {0, 1, 0, 1})})
        .sample({bools({2, 1}, {0, 1}), bools({2}, {0, 1})})
        .dtypes({float32})
        .error({x({2}), bools({2}, {0, 1})}, {}, "bool");
  row("LogicalNot").sample({bools({2}, {0, 1})}).sample({bools({}, {0})}).dtypes({float32});
  row("logical_xor")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{logical_xor(in[0], in[1]), in[0] ^ in[1], in[0] & in[1],
                                   in[0] | in[1], ~in[0]};
      })
      .tf("[tf.math.logical_xor(x0, x1), x0 ^ x1, x0 & x1, x0 | x1, ~x0]")
      .sample({bools({4}, {0, 0, 1, 1}), bools({4}, {0, 1, 0, 1})})
      .dtypes({float32})
      .error({x({2}), x({2})}, {}, "expected bool");
  row("operators")
      .call([](const std::vector<Tensor>& in) {
        const Tensor &a = in[0], &b = in[1];
        return std::vector<Tensor>{a<b, a <= b, a> b,
                                   a >= b,
                                   a == b,
                                   a != b,
                                   a % b,
                                   a == 1,
                                   1 != a,
                                   a & b,
                                   a | b,
                                   a ^ b,
                                   ~a};
      })
      .tf("[x0 < x1, x0 <= x1, x0 > x1, x0 >= x1, x0 == x1, x0 != x1, x0 % x1, x0 == 1, 1 != x0, "
          "x0 & x1, x0 | x1, x0 ^ x1, ~x0]")
      .sample({x({4}, {1, 5, 7, 1}), x({4}, {2, 3, 7, 1})})
      .dtypes(kIndexTypes);
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    row(name)
        .sample({x({4}, {0, 1, 12, 127}), x({4}, {5, 3, 10, 64})})
        .sample({x({2, 1}, {3, 6}), x({2}, {2, 5})})
        .dtypes(kIntegerTypes);
  for (const char* name : {"LeftShift", "RightShift"})
    row(name)
        .sample({x({4}, {0, 1, 12, 127}), x({4}, {1, 3, 2, 0})})
        .sample({x({2, 1}, {3, 6}), x({2}, {1, 2})})
        .dtypes(kIntegerTypes);
  row("Invert").sample({x({4}, {0, 1, 12, 127})}).dtypes(kIntegerTypes);
}

RILL_ROWS(math_elementary) {
  struct Range {
    const char* name;
    double low, high;
  };
  for (const Range r : {Range{"Expm1", -2, 2},
                        {"Log1p", -0.5, 3},
                        {"Sin", -4, 4},
                        {"Cos", -4, 4},
                        {"Tan", -1, 1},
                        {"Asin", -0.9, 0.9},
                        {"Acos", -0.9, 0.9},
                        {"Atan", -3, 3},
                        {"Sinh", -3, 3},
                        {"Cosh", -3, 3},
                        {"Tanh", -3, 3},
                        {"Asinh", -3, 3},
                        {"Atanh", -0.8, 0.8},
                        {"Sigmoid", -4, 4}})
    row(r.name)
        .sample({x({2, 3}, r.low, r.high)})
        .sample({x({}, r.low, r.high)})
        .sample({x({0})})
        .dtypes(kFractions)
        .tolerance(4e-6);
  row("Acosh")
      .sample({x({2, 3}, 1.5, 4)})
      .sample({x({3}, {1, inf, 0.5})})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  // Beyond the unit disc the branch is TensorFlow's own; inside it is everyone's.
  row("acosh_complex")
      .call([](const std::vector<Tensor>& in) { return std::vector<Tensor>{acosh(in[0])}; })
      .tf("tf.math.acosh(x0)")
      .sample({x({2, 3}, 1.5, 4)})
      .dtypes(kComplexTypes)
      .tolerance(4e-6);
  row("elementary_extremes")
      .call([](const std::vector<Tensor>& in) {
        const Tensor& a = in[0];
        return std::vector<Tensor>{expm1(a), log1p(a),   atan(a), sinh(a), cosh(a), tanh(a),
                                   asinh(a), sigmoid(a), erf(a),  erfc(a), exp(a)};
      })
      .tf("[tf.math.expm1(x0), tf.math.log1p(x0), tf.atan(x0), tf.sinh(x0), tf.cosh(x0), "
          "tf.tanh(x0), tf.asinh(x0), tf.sigmoid(x0), "
          "tf.math.erf(x0), tf.math.erfc(x0), tf.exp(x0)]")
      .sample({x({10}, {inf, -inf, nan, 80, -80, 1e-7, -1e-7, 0, 20, -20})})
      .tolerance(4e-6);
  row("Erfinv")
      .sample({x({2, 3}, -0.95, 0.95)})
      .sample({fixed(x({6}, {-1, 1, 0, 0.5, -0.999, 1.5}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  row("Ndtri")
      .sample({x({2, 3}, 0.05, 0.95)})
      .sample({fixed(x({10}, {0, 1, 0.5, 0.25, 0.999, 1e-6, 1e-30, 1e-300, -0.5, 1.5}))})
      .sample({fixed(x({3}, {nan, inf, -inf}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  row("Erf").sample({x({2, 3}, -3, 3)}).dtypes(kFloatTypes).tolerance(4e-6);
  row("Erfc").sample({x({2, 3}, -3, 3)}).dtypes(kFloatTypes).tolerance(4e-6);
  row("Lgamma")
      .sample({x({2, 3}, 0.3, 6)})
      .sample({fixed(x({4}, {-0.5, -1.5, 0, inf}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  row("Digamma")
      .sample({x({2, 3}, 0.3, 6)})
      .sample({fixed(x({3}, {-0.5, -1.5, 30}))})
      .sample({fixed(x({6}, {0, -0.0, -1, inf, -inf, nan}))})
      .dtypes(kFloatTypes)
      .tolerance(8e-6);
  row("Polygamma")
      .sample({fixed(x({3}, {1, 2, 3})), x({2, 3}, 0.5, 6)})
      .sample({fixed(x({7}, {0, 1, 2, 0, 1, -1, 1.5})), fixed(x({7}, {0, 0, 0, -1, -1, 1, 1}))})
      .sample({fixed(x({5}, {3, 4, 5, 2, 3})), fixed(x({5}, {0, 0, -2, -1, -1.5}))})
      .tolerance(8e-6);
  row("Zeta")
      .sample({fixed(x({3}, {1.5, 2, 5})), x({2, 3}, 0.5, 6)})
      .sample({fixed(x({2}, {1, 3})), fixed(x({2}, {2, 30}))})
      .sample({fixed(x({6}, {1, 2, 3, 4, 5, 2.5})), fixed(x({6}, {0, 0, 0, -1, -2, -1}))})
      .tolerance(8e-6);
  for (const char* name : {"Floor", "Ceil", "Rint"})
    row(name)
        .sample({x({6}, {1.5, -1.5, 2.5, 0.4, -0.6, 3})})
        .sample({x({3}, {inf, -inf, nan})})
        .dtypes(kFloatTypes);
  row("Round")
      .sample({x({6}, {1.5, -1.5, 2.5, 0.4, -0.6, 3})})
      .sample({x({})})
      .dtypes(kFloatTypes | kSignedTypes);
  for (const char* name : {"IsNan", "IsInf", "IsFinite"})
    row(name).sample({x({5}, {1, inf, -inf, nan, 0})}).dtypes(kFloatTypes);
  row("NextAfter")
      .sample({x({2, 3}), x({3})})
      .sample({x({}), x({2, 2})})
      .sample({fixed(x({8}, {1, 1, -1, 0, 0, inf, nan, 1})),
               fixed(x({8}, {2, 1, 0, 1, -1, 0, 1, nan}))})
      .tolerance(0)
      .error({x({2}), x({3})}, {}, "\\[2\\].*\\[3\\]");
}

RILL_ROWS(math_complex) {
  for (const char* name : {"Real", "Imag", "Angle", "ComplexAbs"})
    row(name)
        .sample({x({2, 3})})
        .sample({x({})})
        .dtypes({complex64})
        .error({values(complex128, {1}, {1})}, {},
               "Tout is float32 for an input of complex128; expected float64");
  row("Complex")
      .sample({x({2, 3}), x({3})})
      .sample({x({}), x({})})
      .dtypes({float32})
      .error({values(float64, {1}, {1}), values(float64, {1}, {1})}, {}, "expected complex128");
  row("complex_parts")
      .call([](const std::vector<Tensor>& in) {
        const Tensor z = complex(in[0], in[1]);
        return std::vector<Tensor>{abs(z),       real(z * z),   imag(z * z),       angle(z),
                                   real(exp(z)), imag(sqrt(z)), real(conj(z) / z), imag(sin(z))};
      })
      .tf("(lambda z: [tf.abs(z), tf.math.real(z * z), tf.math.imag(z * z), tf.math.angle(z), "
          "tf.math.real(tf.exp(z)), "
          "tf.math.imag(tf.sqrt(z)), tf.math.real(tf.math.conj(z) / z), "
          "tf.math.imag(tf.sin(z))])(tf.complex(x0, x1))")
      .sample({x({2, 2}, 0.5, 2), x({2, 2}, 0.5, 2)})
      .tolerance(4e-6);
}

RILL_ROWS(where) {
  row("SelectV2")
      .sample({bools({2, 3}, {1, 0, 1, 0, 0, 1}), x({2, 3}), x({2, 3})})
      .sample({bools({2, 1}, {1, 0}), x({3}), x({2, 2, 1})})
      .sample({bools({}, {1}), x({2}), x({3, 2})})
      .sample({bools({3}, {1, 0, 1}), x({}), x({})})
      .sample({bools({0}, {}), x({}), x({0})})
      .sample({bools({2}, {1, 0}), strings({2}, {"a", "b"}), strings({}, {"c"})})
      .dtypes(kPlainTypes)
      .error({bools({2}, {1, 0}), x({3}), x({3})}, {},
             "shapes \\[2\\] and \\[3\\] cannot be broadcast");
}

}  // namespace rill::conformance
