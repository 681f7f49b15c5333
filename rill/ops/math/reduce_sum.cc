// Sum and mean.
#include "rill/ops/array_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

// Every summand gets the gradient of its sum.
void sum_grad(GradContext& g) { g.set(0, spread_over_input(g, g.dy())); }
const Op& sum_op = reduce_op("Sum", "reduce_sum", kNumericTypes)
                       .doc("The sum of elements across axes. An empty sum is 0.")
                       .gradient(sum_grad, "reduction_indices")
                       .define();

void mean_grad(GradContext& g) { g.set(0, spread_over_input(g, g.dy() / reduced_count(g))); }
const Op& mean_op = reduce_op("Mean", "reduce_mean", kNumericTypes)
                        .doc("The mean of elements across axes. The mean of nothing is NaN.")
                        .gradient(mean_grad, "reduction_indices")
                        .define();

}  // namespace

RILL_DEFINE_REDUCTION(reduce_sum, sum_op)
Tensor sum_over(const Tensor& x, const Tensor& axes, bool keepdims) {
  return execute(sum_op, {x, axes}, {{"keep_dims", keepdims}});
}
RILL_DEFINE_REDUCTION(reduce_mean, mean_op)

}  // namespace rill
