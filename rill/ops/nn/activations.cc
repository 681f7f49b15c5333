// Activations and the ops that are their gradients.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

OpBuilder activation_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("features: T")
      .output("activations: T")
      .type("T", types)
      .shape(unchanged_shape)
      .elementwise();
  return b;
}

void same_shapes(ShapeContext& c) {
  const TensorShape &dy = c.input(0), &x = c.input(1);
  RILL_CHECK(dy.is_compatible_with(x), invalid_argument,
             "[{}] gradients have shape {}, {} {}; expected equal shapes", c.tag(), dy,
             c.op().inputs[1].name, x);
  TensorShape out = dy.has_rank() ? dy : x;
  for (int i = 0; x.has_rank() && i < out.rank(); ++i)
    if (out.dim(i) < 0) out.set_dim(i, x.dim(i));
  c.set_output(0, out);
}
// backprops = gradients * f'(features), or f' as a function of the result.
OpBuilder activation_grad_op(std::string_view name, std::string_view tag, std::string_view second,
                             TypeSet types) {
  OpBuilder b(name, tag);
  b.input("gradients: T")
      .input(second)
      .output("backprops: T")
      .type("T", types)
      .shape(same_shapes)
      .elementwise();
  return b;
}

constexpr TypeSet kReluTypes = kRealTypes;

// ---- relu, relu6, leaky_relu: piecewise linear, so that the second input of
// their gradients has gradient zero.
template <int which>
void piecewise_grad(GradContext& g);

const Op& relu_grad_op = activation_grad_op("ReluGrad", "relu_grad", "features: T", kReluTypes)
                             .doc("gradients where features > 0, else 0.")
                             .gradient(piecewise_grad<0>, "features")
                             .define();
const Op& relu6_grad_op = activation_grad_op("Relu6Grad", "relu6_grad", "features: T", kReluTypes)
                              .doc("gradients where 0 < features < 6, else 0.")
                              .gradient(piecewise_grad<1>, "features")
                              .define();
const Op& leaky_relu_grad_op =
    activation_grad_op("LeakyReluGrad", "leaky_relu_grad", "features: T", kFloatTypes)
        .attr("alpha: float = 0.2")
        .doc("gradients where features > 0, else alpha * gradients.")
        .gradient(piecewise_grad<2>, "features")
        .define();

template <int which>
void piecewise_grad(GradContext& g) {
  if (g.needs(0)) {
    if constexpr (which == 2)
      g.set(0, execute(g.op(), {g.dy(), g.input(1)}, {{"alpha", g.float_attr("alpha")}}));
    else
      g.set(0, execute(g.op(), {g.dy(), g.input(1)}));
  }
  if (g.needs(1)) g.set(1, zeros_like(g.input(1)));
}

// The sign of the result tells the sign of x.
const Op& relu_op = activation_op("Relu", "relu", kReluTypes)
                        .doc("max(x, 0).")
                        .gradient(
                            [](GradContext& g) {
                              g.set(0, execute(relu_grad_op, {g.dy(), g.output()}));
                            },
                            "activations")
                        .define();
const Op& relu6_op = activation_op("Relu6", "relu6", kReluTypes)
                         .doc("min(max(x, 0), 6).")
                         .gradient(
                             [](GradContext& g) {
                               g.set(0, execute(relu6_grad_op, {g.dy(), g.output()}));
                             },
                             "activations")
                         .define();
const Op& leaky_relu_op = activation_op("LeakyRelu", "leaky_relu", kFloatTypes)
                              .attr("alpha: float = 0.2")
                              .doc("x where x > 0, else alpha * x.")
                              .gradient(
                                  [](GradContext& g) {
                                    g.set(0, execute(leaky_relu_grad_op, {g.dy(), g.input(0)},
                                                     {{"alpha", g.float_attr("alpha")}}));
                                  },
                                  "features")
                              .define();

// a where y < 0, else 0.
Tensor where_negative(const Tensor& a, const Tensor& y) {
  return execute(relu_grad_op, {a, negative(y)});
}

// ---- elu and selu: below 0, f' = f + a constant.
void elu_grad_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, execute(g.op(), {g.dy(), g.input(1)}));
  if (g.needs(1)) g.set(1, where_negative(g.dy() * g.input(0), g.input(1)));
}
const Op& elu_grad_op = activation_grad_op("EluGrad", "elu_grad", "outputs: T", kFloatTypes)
                            .doc("gradients * (outputs + 1) where outputs < 0, else gradients.")
                            .gradient(elu_grad_grad, "gradients outputs")
                            .define();
const Op& selu_grad_op =
    activation_grad_op("SeluGrad", "selu_grad", "outputs: T", kFloatTypes)
        .doc("gradients * (outputs + scale * alpha) where outputs < 0, else gradients * scale.")
        .gradient(elu_grad_grad, "gradients outputs")
        .define();
const Op& elu_op = activation_op("Elu", "elu", kFloatTypes)
                       .doc("x where x > 0, else exp(x) - 1.")
                       .gradient(
                           [](GradContext& g) {
                             g.set(0, execute(elu_grad_op, {g.dy(), g.output()}));
                           },
                           "activations")
                       .define();
const Op& selu_op = activation_op("Selu", "selu", kFloatTypes)
                        .doc("scale * x where x > 0, else scale * alpha * (exp(x) - 1).")
                        .gradient(
                            [](GradContext& g) {
                              g.set(0, execute(selu_grad_op, {g.dy(), g.output()}));
                            },
                            "activations")
                        .define();

// ---- softplus: f' = sigmoid(x), f'' = sigmoid(x) sigmoid(-x).
void softplus_grad_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, execute(g.op(), {g.dy(), g.input(1)}));
  if (g.needs(1))
    g.set(1, execute(g.op(),
                     {execute(g.op(), {g.dy() * g.input(0), g.input(1)}), negative(g.input(1))}));
}
const Op& softplus_grad_op =
    activation_grad_op("SoftplusGrad", "softplus_grad", "features: T", kFloatTypes)
        .doc("gradients / (1 + exp(-features)).")
        .gradient(softplus_grad_grad, "gradients features")
        .define();
const Op& softplus_op = activation_op("Softplus", "softplus", kFloatTypes)
                            .doc("log(1 + exp(x)).")
                            .gradient(
                                [](GradContext& g) {
                                  g.set(0, execute(softplus_grad_op, {g.dy(), g.input(0)}));
                                },
                                "features")
                            .define();

// ---- softsign: f' = 1 / (1 + |x|)^2, f'' = -2 sign(x) / (1 + |x|)^3.
void softsign_grad_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, execute(g.op(), {g.dy(), g.input(1)}));
  if (g.needs(1)) {
    const Tensor& x = g.input(1);
    const Tensor signed_part =
        execute(leaky_relu_grad_op, {-2 * g.dy() * g.input(0), x}, {{"alpha", -1.0}});
    g.set(1, execute(g.op(), {signed_part, x}) / (1 + nn::leaky_relu(x, -1)));
  }
}
const Op& softsign_grad_op =
    activation_grad_op("SoftsignGrad", "softsign_grad", "features: T", kFloatTypes)
        .doc("gradients / (1 + |features|)^2.")
        .gradient(softsign_grad_grad, "gradients features")
        .define();
const Op& softsign_op = activation_op("Softsign", "softsign", kFloatTypes)
                            .doc("x / (1 + |x|).")
                            .gradient(
                                [](GradContext& g) {
                                  g.set(0, execute(softsign_grad_op, {g.dy(), g.input(0)}));
                                },
                                "features")
                            .define();

}  // namespace

namespace nn {

Tensor relu(const Operand& x) { return unary(relu_op, x); }
Tensor relu6(const Operand& x) { return unary(relu6_op, x); }
Tensor leaky_relu(const Operand& x) { return leaky_relu(x, 0.2); }
Tensor leaky_relu(const Operand& x, double alpha) {
  const Arg a(x);
  // An integer is meant as a number.
  return execute(leaky_relu_op, {a->dtype().is_integer() ? cast(*a, float32) : *a},
                 {{"alpha", alpha}});
}
Tensor elu(const Operand& x) { return unary(elu_op, x); }
Tensor selu(const Operand& x) { return unary(selu_op, x); }
Tensor softplus(const Operand& x) { return unary(softplus_op, x); }
Tensor softsign(const Operand& x) { return unary(softsign_op, x); }
Tensor crelu(const Operand& x) { return crelu(x, -1); }
Tensor crelu(const Operand& x, int axis) {
  const Arg a(x);
  return concat({relu(*a), relu(negative(*a))}, axis);
}

}  // namespace nn
}  // namespace rill
