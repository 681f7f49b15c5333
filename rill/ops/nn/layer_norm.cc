// Normalisation of each row over its last axes.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn/normalizer.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// Where the axes begin that gamma covers.
void layer_norm_shape_of(ShapeContext& c, int xi, int gi) {
  const TensorShape &x = c.input(xi), &gamma = c.input(gi);
  if (!x.has_rank() || !gamma.has_rank()) return;
  bool fits = gamma.rank() >= 1 && gamma.rank() <= x.rank();
  for (int i = 1; fits && i <= gamma.rank(); ++i)
    fits = x.dim(-i) < 0 || gamma.dim(-i) < 0 || x.dim(-i) == gamma.dim(-i);
  RILL_CHECK(fits, invalid_argument,
             "[{}] {} has shape {}; expected that of the last axes of x, which has shape {}",
             c.tag(), c.op().inputs[static_cast<std::size_t>(gi)].name, gamma, x);
}
void layer_norm_shape(ShapeContext& c) {
  layer_norm_shape_of(c, 0, 1);
  layer_norm_shape_of(c, 0, 2);
  RILL_CHECK(c.input(1).is_compatible_with(c.input(2)), invalid_argument,
             "[layer_norm] gamma has shape {}, beta {}; expected equal shapes", c.input(1),
             c.input(2));
  c.set_output(0, c.input(0));
}
void layer_norm_grad_shape(ShapeContext& c) {
  RILL_CHECK(c.input(0).is_compatible_with(c.input(1)), invalid_argument,
             "[{}] y_backprop has shape {}, x {}; expected equal shapes", c.tag(), c.input(0),
             c.input(1));
  layer_norm_shape_of(c, 1, 2);
  c.set_output(0, c.input(1));
  for (int i : {1, 2}) c.set_output(i, c.input(2));
}
void layer_norm_grad_grad(GradContext& g) {
  const DType d = g.input_dtype(1), wide = d == float64 ? float64 : float32;
  const int rank = g.input_shape(1).rank(), over = g.input_shape(2).rank();
  RILL_CHECK(rank >= 0 && over >= 0, unimplemented,
             "[layer_norm] the second derivative needs the ranks of x ({}) and gamma ({})",
             g.input_shape(1), g.input_shape(2));
  std::vector<int> axes, rows;
  for (int i = 0; i < rank; ++i) (i < rank - over ? rows : axes).push_back(i);
  const Tensor dy = cast(g.input(0), wide), x = cast(g.input(1), wide),
               gamma = cast(g.input(2), wide);
  const Tensor off = x - reduce_mean(x, axes, {.keepdims = true});
  const Tensor r =
      rsqrt(reduce_mean(square(off), axes, {.keepdims = true}) + g.float_attr("epsilon"));
  const Normalizer n{off * r, r, axes};
  const Tensor u = cast(g.dy(0), wide), p = cast(g.dy(1), wide), q = cast(g.dy(2), wide);
  if (g.needs(0)) g.set(0, cast(gamma * n.project(u) + p * n.z + q, d));
  if (g.needs(1)) g.set(1, cast(n.second(u, gamma * dy, p * dy), d));
  if (g.needs(2))
    g.set(2, cast(rows.empty() ? dy * n.project(u) : reduce_sum(dy * n.project(u), rows), d));
}
const Op& layer_norm_grad_op =
    OpBuilder("LayerNormGrad", "layer_norm_grad")
        .input("y_backprop: T")
        .input("x: T")
        .input("gamma: T")
        .output("x_backprop: T")
        .output("gamma_backprop: T")
        .output("beta_backprop: T")
        .attr("epsilon: float = 0.001")
        .type("T", kFloatTypes)
        .doc("The gradients of layer_norm; the statistics are computed again.")
        .shape(layer_norm_grad_shape)
        .gradient(layer_norm_grad_grad, "y_backprop x gamma")
        .define();
void layer_norm_grad(GradContext& g) {
  const auto grads = execute_all(layer_norm_grad_op, {g.dy(), g.input(0), g.input(1)},
                                 {{"epsilon", g.float_attr("epsilon")}});
  for (int i = 0; i < 3; ++i) g.set(i, grads[static_cast<std::size_t>(i)]);
}
const Op& layer_norm_op = OpBuilder("LayerNorm", "layer_norm")
                              .input("x: T")
                              .input("gamma: T")
                              .input("beta: T")
                              .output("y: T")
                              .attr("epsilon: float = 0.001")
                              .type("T", kFloatTypes)
                              .doc(
                                  "gamma * (x - mean) / sqrt(variance + epsilon) + beta over the "
                                  "last axes of x, those of gamma.")
                              .shape(layer_norm_shape)
                              .gradient(layer_norm_grad, "x gamma")
                              .define();

}  // namespace

namespace nn {

Tensor layer_norm(const Operand& input, const Operand& gamma, const Operand& beta,
                  LayerNormOptions o) {
  const Arg x(input), s(gamma, x->dtype()), b(beta, x->dtype());
  if (x->shape().has_rank() && s->shape().has_rank()) {
    const int at = normalize_axis(o.begin_axis, x->ndim(), "layer_norm", "begin_axis");
    RILL_CHECK(
        s->ndim() == x->ndim() - at, invalid_argument,
        "[layer_norm] gamma has shape {}; expected rank {}, for begin_axis {} of x of shape {}",
        s->shape(), x->ndim() - at, o.begin_axis, x->shape());
  }
  return execute(layer_norm_op, {x, s, b}, {{"epsilon", o.epsilon}});
}

}  // namespace nn
}  // namespace rill
