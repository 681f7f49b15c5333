// Pooling to a size that the strides of a window do not reach: cells of two sizes, by chance.
#include <cmath>

#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/seeds.h"

namespace rill {
namespace {

void fractional_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "value");
  const auto ratios = c.floats_attr("pooling_ratio");
  RILL_CHECK(ratios.size() == 4 && ratios[0] == 1 && ratios[3] == 1, invalid_argument,
             "[{}] pooling_ratio must be 1 for the batch and the channels, got {} numbers", c.tag(),
             ratios.size());
  TensorShape out = c.input(0).has_rank() ? c.input(0) : TensorShape::unknown_dims(4);
  for (int axis : {1, 2}) {
    const double ratio = ratios[static_cast<std::size_t>(axis)];
    RILL_CHECK(ratio >= 1, invalid_argument, "[{}] pooling_ratio is {}; expected 1 or more",
               c.tag(), ratio);
    if (out.dim(axis) < 0) continue;
    // In float32, as TensorFlow divides.
    out.set_dim(axis, static_cast<std::int64_t>(std::floor(static_cast<float>(out.dim(axis)) /
                                                           static_cast<float>(ratio))));
    RILL_CHECK(out.dim(axis) > 0, invalid_argument,
               "[{}] axis {} of shape {} is smaller than pooling_ratio {}", c.tag(), axis,
               c.input(0), ratio);
  }
  c.set_output(0, out);
  for (int axis : {1, 2})
    c.set_output(axis, TensorShape(Dims{out.dim(axis) < 0 ? -1 : out.dim(axis) + 1}));
}
constexpr TypeSet kPooled{float32, float64, int32, int64};
OpBuilder fractional_op(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.input("value: T")
      .output("output: T")
      .output("row_pooling_sequence: int64")
      .output("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float)")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("_offset: int = 0")
      .type("T", kPooled)
      .shape(fractional_shape)
      .random();
  return b;
}
void fractional_max_grad_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "orig_input");
  require_rank(c, 2, 4, "out_backprop");
  c.set_output(0, c.input(0));
}
void fractional_avg_grad_shape(ShapeContext& c) {
  require_rank(c, 1, 4, "out_backprop");
  const TensorShape in = c.input_as_shape(0);
  RILL_CHECK(!in.has_rank() || in.rank() == 4, invalid_argument,
             "[{}] orig_input_tensor_shape has {} sizes; expected 4", c.tag(), in.rank());
  c.set_output(0, in);
}
const Op& fractional_max_grad_op = OpBuilder("FractionalMaxPoolGrad", "fractional_max_pool_grad")
                                       .input("orig_input: T")
                                       .input("orig_output: T")
                                       .input("out_backprop: T")
                                       .input("row_pooling_sequence: int64")
                                       .input("col_pooling_sequence: int64")
                                       .output("output: T")
                                       .attr("overlapping: bool = false")
                                       .type("T", kPooled)
                                       .doc("out_backprop put where the largest of each cell is.")
                                       .shape(fractional_max_grad_shape)
                                       .no_gradient()
                                       .define();
const Op& fractional_avg_grad_op = OpBuilder("FractionalAvgPoolGrad", "fractional_avg_pool_grad")
                                       .input("orig_input_tensor_shape: int64")
                                       .input("out_backprop: T")
                                       .input("row_pooling_sequence: int64")
                                       .input("col_pooling_sequence: int64")
                                       .output("output: T")
                                       .attr("overlapping: bool = false")
                                       .type("T", kPooled)
                                       .doc("out_backprop spread evenly over each cell.")
                                       .shape(fractional_avg_grad_shape)
                                       .no_gradient()
                                       .host("orig_input_tensor_shape")
                                       .define();
void fractional_max_grad(GradContext& g) {
  g.set(0,
        execute(fractional_max_grad_op, {g.input(0), g.output(0), g.dy(), g.output(1), g.output(2)},
                {{"overlapping", g.bool_attr("overlapping")}}));
}
void fractional_avg_grad(GradContext& g) {
  const Tensor sizes = cast(g.input_shape_tensor(0), int64);
  g.set(0, execute(fractional_avg_grad_op, {sizes, g.dy(), g.output(1), g.output(2)},
                   {{"overlapping", g.bool_attr("overlapping")}}));
}
const Op& fractional_max_op =
    fractional_op("FractionalMaxPool", "fractional_max_pool")
        .doc("The largest of each cell of a random grid.")
        .gradient(fractional_max_grad, "value output row_pooling_sequence col_pooling_sequence")
        .define();
const Op& fractional_avg_op =
    fractional_op("FractionalAvgPool", "fractional_avg_pool")
        .doc("The mean of each cell of a random grid.")
        .gradient(fractional_avg_grad, "row_pooling_sequence col_pooling_sequence")
        .define();

Tensors<3> fractional(const Op& op, const Operand& value, const std::vector<double>& ratio,
                      const nn::FractionalPoolOptions& o) {
  const Arg v(value);
  std::vector<double> all = ratio;
  if (all.size() == 1) all.push_back(all[0]);
  if (all.size() == 2) all = {1, all[0], all[1], 1};
  // With a seed every call has the same cells; otherwise the stream of the program goes on.
  const bool fixed = o.seed != 0;
  RandomStream s{0, 0, 0};
  if (fixed)
    s = next_stream(o.seed, 0);
  else
    s = call_context().executor ? graph_stream(-1) : next_stream(-1, 2);
  std::vector<Tensor> out = execute_all(op, {v},
                                        {{"pooling_ratio", std::span<const double>(all)},
                                         {"pseudo_random", o.pseudo_random},
                                         {"overlapping", o.overlapping},
                                         {"deterministic", fixed},
                                         {"seed", s.seed},
                                         {"seed2", s.seed2},
                                         {"_offset", fixed ? 0 : s.offset}});
  return {{out[0], out[1], out[2]}};
}

}  // namespace

Tensors<3> nn::fractional_max_pool(const Operand& value, const std::vector<double>& pooling_ratio,
                                   const FractionalPoolOptions& options) {
  return fractional(fractional_max_op, value, pooling_ratio, options);
}
Tensors<3> nn::fractional_avg_pool(const Operand& value, const std::vector<double>& pooling_ratio,
                                   const FractionalPoolOptions& options) {
  return fractional(fractional_avg_op, value, pooling_ratio, options);
}

}  // namespace rill
