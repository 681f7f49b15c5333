// Products across axes.
#include "rill/ops/array_ops.h"
#include "rill/ops/math/reduce.h"

namespace rill {
namespace {

// d prod / dx_k is the product of all others: of those before times those
// after, which is right also where x_k is 0.
void prod_grad(GradContext& g) {
  const TensorShape& shape = g.input_shape(0);
  if (shape.rank() == 0 || shape.num_elements() == 0) return g.set(0, spread_over_input(g, g.dy()));
  // The reduced axes first and as one: [reduced, others]
  Tensor order, back, moved, as_rows;
  if (shape.is_fully_defined() && value_known(g.input(1))) {
    std::vector<char> reduced(shape.size(), 0);
    for (std::int64_t a : as_dims(g.input(1), "reduce_prod"))
      reduced[static_cast<std::size_t>(normalize_axis(a, shape.rank(), "reduce_prod"))] = 1;
    std::vector<std::int32_t> axes, inverse(shape.size());
    std::int64_t n = 1;
    for (char first : {1, 0})
      for (int i = 0; i < shape.rank(); ++i) {
        if (reduced[static_cast<std::size_t>(i)] != first) continue;
        inverse[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(axes.size());
        axes.push_back(i);
        if (first) n *= shape.dim(i);
      }
    TensorShape sizes = TensorShape::scalar();
    for (std::int32_t a : axes) sizes.push_back(shape.dim(a));
    order = constant(axes);
    back = constant(inverse);
    moved = to_tensor(sizes);
    as_rows = to_tensor(TensorShape({n, shape.num_elements() / n}));
  } else {
    const Tensor sizes = g.input_shape_tensor(0), mask = reduced_mask(g);
    order = argsort(cast(mask, int32), -1, "DESCENDING");
    back = invert_permutation(order);
    moved = gather(sizes, order);
    const Tensor one = ones_like(sizes);
    as_rows = stack({reduce_prod(where(mask, sizes, one)), reduce_prod(where(mask, one, sizes))});
  }
  const Tensor x = reshape(transpose_by(g.input(0), order), as_rows);
  const Tensor before = cumprod(x, 0, {.exclusive = true}),
               after = cumprod(x, 0, {.exclusive = true, .reverse = true});
  const Tensor others = transpose_by(reshape(conj(before) * conj(after), moved), back);
  g.set(0, others * with_reduced_axes(g, g.dy()));
}
const Op& prod_op = reduce_op("Prod", "reduce_prod", kNumericTypes)
                        .doc("The product of elements across axes. An empty product is 1.")
                        .gradient(prod_grad, "input reduction_indices")
                        .define();

}  // namespace

RILL_DEFINE_REDUCTION(reduce_prod, prod_op)

}  // namespace rill
