// Axes in another order.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void transpose_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  if (!c.input_value(1)) {
    const TensorShape perm = c.input_as_shape(1);
    return c.set_output(0, in.has_rank()     ? TensorShape::unknown_dims(in.rank())
                           : perm.has_rank() ? TensorShape::unknown_dims(perm.rank())
                                             : perm);
  }
  const Dims perm = as_dims(*c.input_value(1), c.tag());
  if (!in.has_rank())
    return c.set_output(0, TensorShape::unknown_dims(static_cast<int>(perm.size())));
  RILL_CHECK(static_cast<int>(perm.size()) == in.rank(), invalid_argument,
             "[transpose] perm has {} entries for shape {}; expected one an axis", perm.size(), in);
  Dims out;
  SmallVector<char, 8> seen(perm.size(), 0);
  for (std::int64_t p : perm) {
    const auto axis = static_cast<std::size_t>(normalize_axis(p, in.rank(), c.tag(), "perm entry"));
    RILL_CHECK(!seen[axis], invalid_argument, "[transpose] axis {} is twice in perm {}", axis,
               TensorShape(perm));
    seen[axis] = 1;
    out.push_back(in.dims()[axis]);
  }
  c.set_output(0, TensorShape(out));
}

void transpose_grad(GradContext& g) {
  if (!value_known(g.input(1))) {
    const Tensor& order = g.input(1);
    return g.set(0, transpose_by(g.dy(), invert_permutation(floormod(order, size(order)))));
  }
  const Dims perm = as_dims(g.input(1), "transpose");
  std::vector<int> inverse(perm.size());
  const int rank = static_cast<int>(perm.size());
  for (int i = 0; i < rank; ++i)
    inverse[static_cast<std::size_t>(
        normalize_axis(perm[static_cast<std::size_t>(i)], rank, "transpose"))] = i;
  g.set(0, transpose(g.dy(), inverse));
}

const Op& transpose_op = OpBuilder("Transpose", "transpose")
                             .input("x: T")
                             .input("perm: Tperm")
                             .output("y: T")
                             .type("T", kAllTypes)
                             .type("Tperm", kIndexTypes, int32)
                             .doc("The tensor with its axes in the order perm.")
                             .shape(transpose_shape)
                             .gradient(transpose_grad, "perm")
                             .host("perm")
                             .define();

}  // namespace

Tensor transpose(const Operand& x, const std::vector<int>& perm) {
  const Arg a(x);
  std::vector<std::int32_t> order(perm.begin(), perm.end());
  if (order.empty() && !a->shape().has_rank()) {  // the reverse, once the rank is known
    const Tensor n = rank(*a);
    return execute(transpose_op, {a, n - 1 - range(n)});
  }
  if (order.empty())
    for (int i = a->ndim(); i-- > 0;) order.push_back(i);
  return execute(transpose_op, {a, constant(order)});
}
Tensor transpose_by(const Tensor& x, const Tensor& perm) {
  return execute(transpose_op, {x, perm});
}
Tensor transpose(const Operand& x, std::initializer_list<int> perm) {
  return transpose(x, std::vector<int>(perm));
}

}  // namespace rill
