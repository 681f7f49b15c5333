// The largest and the smallest of elements; the truth of all or any.
#include "rill/ops/array_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

// Elements that tie share the gradient.
void extreme_grad(GradContext& g) {
  const Tensor best = with_reduced_axes(g, g.output());
  const Tensor winners = cast(equal(g.input(0), best), g.dy().dtype());
  const Tensor share = with_reduced_axes(g, g.dy()) / sum_over(winners, g.input(1), true);
  g.set(0, winners * share);
}
const Op& max_op = reduce_op("Max", "reduce_max", kRealTypes)
                       .doc("The largest element across axes; NaN if one is NaN.")
                       .gradient(extreme_grad, "input reduction_indices output")
                       .define();
const Op& min_op = reduce_op("Min", "reduce_min", kRealTypes)
                       .doc("The smallest element across axes; NaN if one is NaN.")
                       .gradient(extreme_grad, "input reduction_indices output")
                       .define();

OpBuilder truth_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("input: bool").input("reduction_indices: Tidx").output("output: bool");
  b.attr("keep_dims: bool = false")
      .type("Tidx", kIndexTypes, int32)
      .shape(reduce_shape)
      .host("reduction_indices")
      .no_gradient();
  return b;
}
const Op& all_op = truth_op("All", "reduce_all")
                       .doc("Whether all elements across axes hold; true of none.")
                       .define();
const Op& any_op = truth_op("Any", "reduce_any")
                       .doc("Whether any element across axes holds; false of none.")
                       .define();

}  // namespace

RILL_DEFINE_REDUCTION(reduce_max, max_op)
RILL_DEFINE_REDUCTION(reduce_min, min_op)
RILL_DEFINE_REDUCTION(reduce_all, all_op)
RILL_DEFINE_REDUCTION(reduce_any, any_op)

}  // namespace rill
