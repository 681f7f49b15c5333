// Tensors joined: along an axis they have (concat), along a new one (stack).
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

void concat_shape(ShapeContext& c) {
  const int n = c.num_inputs() - 1;
  RILL_CHECK(n >= 1, invalid_argument, "[concat] needs at least one tensor");
  std::int64_t axis_value = 0;
  TensorShape out;
  for (int i = 0; i < n; ++i)
    if (c.input(i).has_rank() && !out.has_rank()) out = c.input(i);
  if (!out.has_rank()) return c.set_output(0, out);
  RILL_CHECK(out.rank() > 0, invalid_argument, "[concat] cannot join scalars; use tf::stack");
  if (!c.input_as_int(n, &axis_value))
    return c.set_output(0, TensorShape::unknown_dims(out.rank()));
  const int axis = normalize_axis(axis_value, out.rank(), c.tag());
  std::int64_t total = 0;
  for (int i = 0; i < n; ++i) {
    const TensorShape& s = c.input(i);
    RILL_CHECK(!s.has_rank() || s.rank() == out.rank(), invalid_argument,
               "[concat] values[{}] has shape {}, values[0] {}; ranks must be equal", i, s, out);
    for (int k = 0; s.has_rank() && k < s.rank(); ++k) {
      if (k == axis) continue;
      RILL_CHECK(s.dim(k) < 0 || out.dim(k) < 0 || s.dim(k) == out.dim(k), invalid_argument,
                 "[concat] values[{}] has shape {}, values[0] {}: only axis {} may differ", i, s,
                 c.input(0), axis);
      out.set_dim(k, s.dim(k) < 0 ? out.dim(k) : s.dim(k));
    }
    total = add_sizes(total, s.has_rank() ? s.dim(axis) : -1, c.tag());
  }
  out.set_dim(axis, total);
  c.set_output(0, out);
}

// The pieces of the gradient, where sizes are known only when the graph runs.
void concat_grad_by_sizes(GradContext& g) {
  const int n = g.num_inputs() - 1;
  const Tensor axes = rank(g.dy()),
               at = equal(range(axes), floormod(cast(g.input(n), int32), axes));
  Tensor begin = zeros_like(cast(at, int32));
  for (int i = 0; i < n; ++i) {
    const Tensor sizes = g.input_shape_tensor(i);
    if (g.needs(i)) g.set(i, slice(g.dy(), begin, sizes));
    if (i + 1 < n) begin = begin + where(at, sizes, zeros_like(sizes));
  }
}

// Each part gets its piece of the gradient.
void concat_grad(GradContext& g) {
  const int n = g.num_inputs() - 1, rank = g.output_shape().rank();
  if (rank < 0 || !value_known(g.input(n))) return concat_grad_by_sizes(g);
  const int axis = normalize_axis(g.input(n).item<std::int64_t>(), rank, "concat");
  for (int i = 0; i < n; ++i)
    if (!g.input_shape(i).has_rank() || g.input_shape(i).dim(axis) < 0)
      return concat_grad_by_sizes(g);
  std::vector<std::int32_t> begin(static_cast<std::size_t>(rank), 0);
  for (int i = 0; i < n; ++i) {
    if (g.needs(i)) g.set(i, slice(g.dy(), constant(begin), shape_of_input(g, i)));
    begin[static_cast<std::size_t>(axis)] += static_cast<std::int32_t>(g.input_shape(i).dim(axis));
  }
}

const Op& concat_op = OpBuilder("ConcatV2", "concat")
                          .input("values: N * T")
                          .input("axis: Tidx")
                          .output("output: T")
                          .type("T", kAllTypes)
                          .type("Tidx", kIndexTypes, int32)
                          .doc("The tensors joined along an axis; their other sizes must be equal.")
                          .shape(concat_shape)
                          .gradient(concat_grad, "axis")
                          .host("axis")
                          .define();

void pack_shape(ShapeContext& c) {
  TensorShape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorShape& s = c.input(i);
    if (!out.has_rank()) out = s;
    RILL_CHECK(out.is_compatible_with(s), invalid_argument,
               "[stack] values[{}] has shape {}, values[0] {}; all must be equal", i, s,
               c.input(0));
  }
  if (!out.has_rank()) return c.set_output(0, out);
  Dims dims = out.dims();
  const int axis = normalize_axis(c.int_attr("axis"), out.rank() + 1, c.tag());
  dims.insert(static_cast<std::size_t>(axis), c.num_inputs());
  c.set_output(0, TensorShape(dims));
}

void pack_grad(GradContext& g) {
  const Attr attrs[] = {{"num", g.num_inputs()}, {"axis", g.int_attr("axis")}};
  const In dy[] = {g.dy()};
  const auto parts = execute_all(find_op("Unpack"), dy, attrs, g.num_inputs());
  for (int i = 0; i < g.num_inputs(); ++i) g.set(i, parts[static_cast<std::size_t>(i)]);
}

const Op& pack_op = OpBuilder("Pack", "stack")
                        .input("values: N * T")
                        .output("output: T")
                        .attr("axis: int = 0")
                        .type("T", kAllTypes)
                        .doc("Tensors of one shape joined along a new axis.")
                        .shape(pack_shape)
                        .gradient(pack_grad)
                        .define();

}  // namespace

Tensor concat(const TensorList& values, int axis) {
  RILL_CHECK(values.size() > 0, invalid_argument, "[concat] needs at least one tensor");
  const Tensor at = to_tensor(axis);
  std::vector<In> inputs = as_inputs(values.tensors());
  inputs.push_back(at);
  return execute(concat_op, inputs, {});
}

Tensor concat_along(const std::vector<Tensor>& values, const Tensor& axis) {
  std::vector<In> inputs = as_inputs(values);
  inputs.push_back(axis);
  return execute(concat_op, inputs, {});
}

Tensor stack(const TensorList& values, int axis) {
  RILL_CHECK(values.size() > 0, invalid_argument, "[stack] needs at least one tensor");
  const Attr attrs[] = {{"axis", axis}};
  return execute(pack_op, as_inputs(values.tensors()), attrs);
}

}  // namespace rill
