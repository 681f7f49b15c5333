// Elements and slices picked and put by coordinates.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

// indices [.., k] into `whole`: the shape of what they pick, [..] + whole[k:].
TensorShape picked_shape(const ShapeContext& c, const TensorShape& whole,
                         const TensorShape& indices) {
  RILL_CHECK(!indices.has_rank() || indices.rank() >= 1, invalid_argument,
             "[{}] indices must have rank 1 or more, got a scalar", c.tag());
  if (!whole.has_rank() || !indices.has_rank() || indices.dim(-1) < 0)
    return TensorShape::unknown_rank();
  const std::int64_t k = indices.dim(-1);
  RILL_CHECK(k <= whole.rank(), invalid_argument,
             "[{}] indices of shape {} have {} coordinates, but shape {} has {} axes", c.tag(),
             indices, k, whole, whole.rank());
  Dims out(indices.dims());
  out.pop_back();
  for (int i = static_cast<int>(k); i < whole.rank(); ++i) out.push_back(whole.dim(i));
  return TensorShape(out);
}
void check_updates(const ShapeContext& c, const TensorShape& whole, const TensorShape& indices,
                   const TensorShape& updates) {
  const TensorShape want = picked_shape(c, whole, indices);
  RILL_CHECK(want.is_compatible_with(updates), invalid_argument,
             "[{}] updates have shape {}; indices of shape {} into shape {} need {}", c.tag(),
             updates, indices, whole, want);
}

void gather_nd_shape(ShapeContext& c) {
  const TensorShape out = picked_shape(c, c.input(0), c.input(1));
  if (!out.has_rank()) return c.set_output(0, out);
  set_checked(c, 0, out.dims());
}
void gather_nd_grad(GradContext& g) {
  g.set(0, scatter_nd(g.input(1), g.dy(), cast(shape_of_input(g, 0), g.input(1).dtype())));
}
const Op& gather_nd_op =
    OpBuilder("GatherNd", "gather_nd")
        .input("params: Tparams")
        .input("indices: Tindices")
        .output("output: Tparams")
        .type("Tparams", kAllTypes)
        .type("Tindices", kIndexTypes)
        .doc("Elements or slices of params at the coordinates in the last axis of indices.")
        .shape(gather_nd_shape)
        .gradient(gather_nd_grad, "indices")
        .define();

void scatter_nd_shape(ShapeContext& c) {
  RILL_CHECK(!c.input(2).has_rank() || c.input(2).rank() == 1, invalid_argument,
             "[scatter_nd] shape must be a list, got a tensor of shape {}", c.input(2));
  const TensorShape shape = c.input_as_shape(2);
  if (c.input_value(2)) checked_num_elements(shape.dims(), c.tag());
  check_updates(c, shape, c.input(0), c.input(1));
  c.set_output(0, shape);
}
void scatter_nd_grad(GradContext& g) { g.set(1, gather_nd(g.dy(), g.input(0))); }
const Op& scatter_nd_op =
    OpBuilder("ScatterNd", "scatter_nd")
        .input("indices: Tindices")
        .input("updates: T")
        .input("shape: Tindices")
        .output("output: T")
        .type("T", kNumericTypes)
        .type("Tindices", kIndexTypes)
        .doc("Zeros of the given shape with updates added at the coordinates in indices.")
        .shape(scatter_nd_shape)
        .gradient(scatter_nd_grad, "indices")
        .host("shape")
        .define();

void tensor_scatter_shape(ShapeContext& c) {
  check_updates(c, c.input(0), c.input(1), c.input(2));
  c.set_output(0, c.input(0));
}
OpBuilder tensor_scatter_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("tensor: T")
      .input("indices: Tindices")
      .input("updates: T")
      .output("output: T")
      .type("T", types)
      .type("Tindices", kIndexTypes)
      .shape(tensor_scatter_shape);
  return b;
}

void update_grad(GradContext& g) {
  if (g.needs(0))
    g.set(0,
          tensor_scatter_nd_update(g.dy(), g.input(1), zeros_like(gather_nd(g.dy(), g.input(1)))));
  if (g.needs(2)) g.set(2, gather_nd(g.dy(), g.input(1)));
}
const Op& update_op =
    tensor_scatter_op("TensorScatterUpdate", "tensor_scatter_nd_update", kAllTypes)
        .doc("The tensor with updates in place of what is at the coordinates in indices.")
        .gradient(update_grad, "indices")
        .define();
void add_grad(GradContext& g) {
  g.set(0, g.dy());
  if (g.needs(2)) g.set(2, gather_nd(g.dy(), g.input(1)));
}
const Op& add_op = tensor_scatter_op("TensorScatterAdd", "tensor_scatter_nd_add", kNumericTypes)
                       .doc("The tensor with updates added at the coordinates in indices.")
                       .gradient(add_grad, "indices")
                       .define();
void sub_grad(GradContext& g) {
  g.set(0, g.dy());
  if (g.needs(2)) g.set(2, negative(gather_nd(g.dy(), g.input(1))));
}
const Op& sub_op = tensor_scatter_op("TensorScatterSub", "tensor_scatter_nd_sub", kNumericTypes)
                       .doc("The tensor with updates subtracted at the coordinates in indices.")
                       .gradient(sub_grad, "indices")
                       .define();

// All that equal the winner share its gradient.
template <bool kMax>
void extreme_grad(GradContext& g) {
  const Tensor &t = g.input(0), &indices = g.input(1), &updates = g.input(2), &y = g.output();
  const DType d = g.dy().dtype();
  auto wins = [&](const Tensor& a, const Tensor& best) {
    return cast(kMax ? greater_equal(a, best) : greater_equal(best, a), d);
  };
  const Tensor tensor_wins = wins(t, y), updates_win = wins(updates, gather_nd(y, indices));
  const Tensor share = g.dy() / tensor_scatter_nd_add(tensor_wins, indices, updates_win);
  g.set(0, share * tensor_wins);
  if (g.needs(2)) g.set(2, gather_nd(share, indices) * updates_win);
}
const Op& max_op =
    tensor_scatter_op("TensorScatterMax", "tensor_scatter_nd_max", kRealTypes)
        .doc("The tensor with the larger of itself and updates at the coordinates in indices.")
        .gradient(extreme_grad<true>, "tensor indices updates output")
        .define();
const Op& min_op =
    tensor_scatter_op("TensorScatterMin", "tensor_scatter_nd_min", kRealTypes)
        .doc("The tensor with the smaller of itself and updates at the coordinates in indices.")
        .gradient(extreme_grad<false>, "tensor indices updates output")
        .define();

Tensor scatter_into(const Op& op, const Operand& tensor, const Operand& indices,
                    const Operand& updates) {
  const ArgPair values(tensor, updates);
  return execute(op, {values.first(), Arg(indices), values.second()});
}

}  // namespace

Tensor gather_nd(const Operand& params, const Operand& indices) {
  return execute(gather_nd_op, {Arg(params), Arg(indices)});
}

// The batch coordinates are written before the given ones.
Tensor gather_nd(const Operand& params, const Operand& indices, GatherNdOptions o) {
  const Arg p(params), i(indices);
  RILL_CHECK(i->shape().has_rank() && o.batch_dims >= 0 && o.batch_dims < std::max(1, i->ndim()),
             invalid_argument,
             "[gather_nd] batch_dims {} must be less than the rank of indices of shape {}",
             o.batch_dims, i->shape());
  if (o.batch_dims == 0) return gather_nd(*p, *i);
  const Tensor sizes = rill::shape(*i);
  const Tensor column = concat({sizes(slice(0, -1)), constant({1})}, 0);
  std::vector<Tensor> parts;
  for (int k = 0; k < o.batch_dims; ++k) {
    std::vector<int> line(static_cast<std::size_t>(i->ndim()), 1);
    line[static_cast<std::size_t>(k)] = -1;
    parts.push_back(
        broadcast_to(reshape(cast(range(sizes[k]), i->dtype()), constant(line)), column));
  }
  parts.push_back(*i);
  return gather_nd(*p, concat(parts, -1));
}
Tensor scatter_nd(const Operand& indices, const Operand& updates, const Operand& shape) {
  const Arg i(indices), s(shape, i->dtype());
  return execute(scatter_nd_op, {i, Arg(updates), cast(*s, i->dtype())});
}
Tensor tensor_scatter_nd_update(const Operand& t, const Operand& i, const Operand& u) {
  return scatter_into(update_op, t, i, u);
}
Tensor tensor_scatter_nd_add(const Operand& t, const Operand& i, const Operand& u) {
  return scatter_into(add_op, t, i, u);
}
Tensor tensor_scatter_nd_sub(const Operand& t, const Operand& i, const Operand& u) {
  return scatter_into(sub_op, t, i, u);
}
Tensor tensor_scatter_nd_max(const Operand& t, const Operand& i, const Operand& u) {
  return scatter_into(max_op, t, i, u);
}
Tensor tensor_scatter_nd_min(const Operand& t, const Operand& i, const Operand& u) {
  return scatter_into(min_op, t, i, u);
}

}  // namespace rill
