// Products across axes.
#include "rill/ops/array_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

// d prod / dx_k is the product of all others: of those before times those
// after, which is right also where x_k is 0.
void prod_grad(GradContext& g) {
  const TensorShape& shape = g.input_shape(0);
  const int rank = shape.rank();
  if (shape.num_elements() == 0 || rank == 0)
    return g.set(0, broadcast_to(reshape(g.dy(), kept_shape(g)), shape));
  // The reduced axes first and as one: [reduced, others]
  std::vector<int> order;
  std::vector<char> reduced(static_cast<std::size_t>(rank), 0);
  for (int a : axes_of(g))
    reduced[static_cast<std::size_t>(normalize_axis(a, rank, "reduce_prod"))] = 1;
  std::int64_t n = 1;
  for (int i = 0; i < rank; ++i)
    if (reduced[static_cast<std::size_t>(i)]) order.push_back(i), n *= shape.dim(i);
  for (int i = 0; i < rank; ++i)
    if (!reduced[static_cast<std::size_t>(i)]) order.push_back(i);
  TensorShape moved = TensorShape::scalar();
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved.push_back(shape.dim(order[i]));
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  const Tensor x =
      reshape(transpose(g.input(0), order), TensorShape({n, shape.num_elements() / n}));
  const Tensor before = cumprod(x, 0, {.exclusive = true}),
               after = cumprod(x, 0, {.exclusive = true, .reverse = true});
  const Tensor others = transpose(reshape(conj(before) * conj(after), moved), back);
  g.set(0, others * reshape(g.dy(), kept_shape(g)));
}
const Op& prod_op = reduce_op("Prod", "reduce_prod", kNumericTypes)
                        .doc("The product of elements across axes. An empty product is 1.")
                        .gradient(prod_grad, "input reduction_indices")
                        .define();

}  // namespace

RILL_DEFINE_REDUCTION(reduce_prod, prod_op)

}  // namespace rill
