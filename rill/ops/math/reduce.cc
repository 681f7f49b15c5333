#include "rill/ops/math/reduce.h"

#include <algorithm>

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

namespace {

// Whether sizes and axes are there while a gradient is written.
bool all_known(GradContext& g) {
  return g.input_shape(0).is_fully_defined() && value_known(g.input(1));
}
}  // namespace

Tensor reduced_mask(GradContext& g) {
  const Tensor n = size(g.input_shape_tensor(0));
  const Tensor given = floormod(cast(reshape(g.input(1), {-1}), int32), n);
  return reduce_any(equal(expand_dims(range(n), 1), expand_dims(given, 0)), 1);
}

Tensor with_reduced_axes(GradContext& g, const Tensor& t) {
  const TensorShape& in = g.input_shape(0);
  if (all_known(g)) {
    TensorShape kept = in;
    for (std::int64_t a : as_dims(g.input(1), g.op().tag))
      kept.set_dim(normalize_axis(a, in.rank(), g.op().tag), 1);
    return reshape(t, kept);
  }
  if (g.bool_attr("keep_dims")) return t;
  if (in.has_rank() && value_known(g.input(1))) {
    std::vector<int> axes;
    for (std::int64_t a : as_dims(g.input(1), g.op().tag))
      axes.push_back(normalize_axis(a, in.rank(), g.op().tag));
    std::sort(axes.begin(), axes.end());
    Tensor kept = t;
    for (int a : axes) kept = expand_dims(kept, a);
    return kept;
  }
  const Tensor sizes = g.input_shape_tensor(0);
  return reshape(t, where(reduced_mask(g), ones_like(sizes), sizes));
}

Tensor spread_over_input(GradContext& g, const Tensor& t) {
  const Tensor kept = t.shape().rank() == 0 ? t : with_reduced_axes(g, t);
  return g.input_shape(0).is_fully_defined() ? broadcast_to(kept, g.input_shape(0))
                                             : broadcast_to(kept, g.input_shape_tensor(0));
}

Tensor reduced_count(GradContext& g) {
  const DType d = g.dy().dtype();
  if (all_known(g)) {
    std::int64_t n = 1;
    for (std::int64_t a : as_dims(g.input(1), g.op().tag))
      n *= g.input_shape(0).dim(static_cast<int>(a));
    return cast(constant(static_cast<double>(n > 0 ? n : 1), float64), d);
  }
  const Tensor sizes = cast(g.input_shape_tensor(0), int64);
  const Tensor n = reduce_prod(where(reduced_mask(g), sizes, ones_like(sizes)));
  return cast(cast(maximum(n, 1), float64), d);
}

std::vector<int> all_axes(const Operand& x) {
  const int rank = to_tensor(x).ndim();
  RILL_CHECK(rank >= 0, invalid_argument,
             "the rank of {} is not known while it is traced: name the axes, or set_shape() first",
             to_tensor(x).impl()->symbol->describe());
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Tensor reduce(const Op& op, const Operand& x, const std::vector<int>& axes, ReduceOptions options) {
  Tensor list = make_tensor(int32, TensorShape(Dims{static_cast<std::int64_t>(axes.size())}));
  std::copy(axes.begin(), axes.end(), mutable_data<std::int32_t>(list));
  return execute(op, {Arg(x), list}, {{"keep_dims", options.keepdims}});
}
Tensor reduce(const Op& op, const Operand& input, ReduceOptions options) {
  const Arg x(input);
  if (x->shape().has_rank()) return reduce(op, *x, all_axes(*x), options);
  return execute(op, {x, range(rank(*x))}, {{"keep_dims", options.keepdims}});
}

}  // namespace rill
