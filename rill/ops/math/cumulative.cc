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
OpBuilder cumulative_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("x: T").input("axis: Tidx").output("out: T");
  b.attr("exclusive: bool = false").attr("reverse: bool = false");
  b.type("T", kNumericTypes).type("Tidx", kIndexTypes, int32).shape(cumulative_shape).host("axis");
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

}  // namespace

Tensor cumsum(const Operand& x, int axis, CumulativeOptions o) {
  return execute(cumsum_op, {Arg(x), to_tensor(axis)},
                 {{"exclusive", o.exclusive}, {"reverse", o.reverse}});
}
Tensor cumprod(const Operand& x, int axis, CumulativeOptions o) {
  return execute(cumprod_op, {Arg(x), to_tensor(axis)},
                 {{"exclusive", o.exclusive}, {"reverse", o.reverse}});
}

}  // namespace rill
