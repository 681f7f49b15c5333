// Running sums and products along an axis.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void cumulative_shape(ShapeContext& c) {
  std::int64_t axis = 0;
  require_rank(c, 1, 0, "axis");
  if (c.input(0).has_rank() && c.input_as_int(1, &axis))
    normalize_axis(axis, c.input(0).rank(), c.tag());
  unchanged_shape(c);
}
OpBuilder cumulative_op(std::string_view name, std::string_view tag,
                        TypeSet types = kNumericTypes) {
  OpBuilder b(name, tag);
  b.input("x: T").input("axis: Tidx").output("out: T");
  b.attr("exclusive: bool = false").attr("reverse: bool = false");
  b.type("T", types).type("Tidx", kIndexTypes, int32).shape(cumulative_shape).host("axis");
  return b;
}
extern const Op& cumsum_op;
// Sums of `t` along the same axis from the other end.
Tensor sums_back(GradContext& g, const Tensor& t) {
  return execute(cumsum_op, {t, g.input(1)},
                 {{"exclusive", g.bool_attr("exclusive")}, {"reverse", !g.bool_attr("reverse")}});
}

// An element is in every sum from its own on.
void cumsum_grad(GradContext& g) { g.set(0, sums_back(g, g.dy())); }
const Op& cumsum_op = cumulative_op("Cumsum", "cumsum")
                          .doc("Running sums along an axis; exclusive: without the element itself.")
                          .gradient(cumsum_grad, "axis")
                          .define();

// dx_k = (sum of dy_i y_i over the products that hold x_k) / x_k; 0 where x_k is 0.
void cumprod_grad(GradContext& g) {
  const Tensor sums = sums_back(g, conj(g.output()) * g.dy());
  g.set(0, divide_no_nan(sums, conj(g.input(0))));
}
const Op& cumprod_op =
    cumulative_op("Cumprod", "cumprod")
        .doc("Running products along an axis; exclusive: without the element itself.")
        .gradient(cumprod_grad, "x axis out")
        .define();

// dx_k = e^x_k times the sum of dy_i e^-y_i over the sums that hold x_k; in logarithms, those of
// positive and of negative dy by themselves.
extern const Op& cumulative_logsumexp_op;
void cumulative_logsumexp_grad(GradContext& g) {
  const Tensor &x = g.input(0), &y = g.output(), &dy = g.dy();
  auto part = [&](const Tensor& mine, const Tensor& size) {
    const double lowest = x.dtype() == float64    ? -1.7976931348623157e308
                          : x.dtype() == float16  ? -65504.
                          : x.dtype() == bfloat16 ? -3.3895e38
                                                  : -3.4028234663852886e38;
    const Tensor log_size = where(mine, log(where(mine, size, ones_like(size))), lowest);
    // A sum of nothing (exclusive) has no share in any gradient.
    const Tensor empty = is_inf(y), sums = where(empty, zeros_like(y), y);
    return exp(
        execute(cumulative_logsumexp_op, {where(empty, lowest, log_size - sums), g.input(1)},
                {{"exclusive", g.bool_attr("exclusive")}, {"reverse", !g.bool_attr("reverse")}}) +
        x);
  };
  g.set(0, part(greater(dy, 0), dy) - part(less(dy, 0), negative(dy)));
}
const Op& cumulative_logsumexp_op =
    cumulative_op("CumulativeLogsumexp", "math.cumulative_logsumexp", kFloatTypes)
        .doc("Running log(sum(exp(x))) along an axis; exclusive: without the element itself.")
        .gradient(cumulative_logsumexp_grad, "x axis out")
        .define();

}  // namespace

Tensor math::cumulative_logsumexp(const Operand& x, int axis, CumulativeOptions o) {
  return execute(cumulative_logsumexp_op, {Arg(x), to_tensor(axis)},
                 {{"exclusive", o.exclusive}, {"reverse", o.reverse}});
}
Tensor cumsum(const Operand& x, int axis, CumulativeOptions o) {
  return execute(cumsum_op, {Arg(x), to_tensor(axis)},
                 {{"exclusive", o.exclusive}, {"reverse", o.reverse}});
}
Tensor cumprod(const Operand& x, int axis, CumulativeOptions o) {
  return execute(cumprod_op, {Arg(x), to_tensor(axis)},
                 {{"exclusive", o.exclusive}, {"reverse", o.reverse}});
}

}  // namespace rill
