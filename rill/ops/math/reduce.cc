#include "rill/ops/math/reduce.h"

#include "rill/ops/array_ops.h"

namespace rill {

void reduce_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const bool keep = c.bool_attr("keep_dims");
  const Tensor* axes = c.input_value(1);
  if (!in.has_rank()) return c.set_output(0, TensorShape::unknown_rank());
  if (!axes)
    return c.set_output(0,
                        keep ? TensorShape::unknown_dims(in.rank()) : TensorShape::unknown_rank());
  Dims out = in.dims();
  SmallVector<char, 8> gone(out.size(), 0);
  for (std::int64_t a : as_dims(*axes, c.tag())) {
    const int axis = normalize_axis(a, in.rank(), c.tag());
    RILL_CHECK(!gone[static_cast<std::size_t>(axis)], invalid_argument,
               "[{}] axis {} is given twice", c.tag(), axis);
    gone[static_cast<std::size_t>(axis)] = 1;
    out[static_cast<std::size_t>(axis)] = 1;
  }
  if (!keep)
    for (std::size_t i = gone.size(); i-- > 0;)
      if (gone[i]) out.erase(i);
  c.set_output(0, TensorShape(out));
}

OpBuilder reduce_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("input: T")
      .input("reduction_indices: Tidx")
      .output("output: T")
      .attr("keep_dims: bool = false")
      .type("T", types)
      .type("Tidx", kIndexTypes, int32)
      .shape(reduce_shape)
      .host("reduction_indices");
  return b;
}

Tensor spread_over_input(GradContext& g, const Tensor& t) {
  return broadcast_to(t.ndim() == 0 ? t : reshape(t, kept_shape(g)), g.input_shape(0));
}

std::vector<int> all_axes(const Operand& x) {
  const int rank = to_tensor(x).ndim();
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Tensor reduce(const Op& op, const Operand& x, const std::vector<int>& axes, ReduceOptions options) {
  Tensor list = make_tensor(int32, TensorShape(Dims{static_cast<std::int64_t>(axes.size())}));
  std::copy(axes.begin(), axes.end(), mutable_data<std::int32_t>(list));
  return execute(op, {Arg(x), list}, {{"keep_dims", options.keepdims}});
}

TensorShape kept_shape(GradContext& g) {
  TensorShape s = g.input_shape(0);
  for (std::int64_t a : as_dims(g.input(1), g.op().tag))
    s.set_dim(normalize_axis(a, s.rank(), g.op().tag), 1);
  return s;
}

std::vector<int> axes_of(GradContext& g) {
  const Dims axes = as_dims(g.input(1), g.op().tag);
  return std::vector<int>(axes.begin(), axes.end());
}

std::int64_t reduced_count(GradContext& g) {
  std::int64_t n = 1;
  for (std::int64_t a : as_dims(g.input(1), g.op().tag))
    n *= g.input_shape(0).dim(static_cast<int>(a));
  return n;
}

}  // namespace rill
