// Strings joined: side by side, and along axes.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

// Scalars go with every element; all others must have one shape.
void join_shape(ShapeContext& c) {
  TensorShape out = TensorShape::scalar();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorShape& in = c.input(i);
    if (!in.has_rank()) return c.set_output(0, {});
    if (in.rank() == 0) continue;
    if (out.rank() == 0) {
      out = in;
      continue;
    }
    RILL_CHECK(out.is_compatible_with(in), invalid_argument,
               "[strings.join] shapes {} and {} differ; expected equal shapes, or scalars", out,
               in);
    for (int k = 0; k < in.rank(); ++k)
      if (out.dim(k) < 0) out.set_dim(k, in.dim(k));
  }
  c.set_output(0, out);
}
const Op& join_op =
    OpBuilder("StringJoin", "strings.join")
        .input("inputs: N * string")
        .output("output: string")
        .attr("separator: string = ''")
        .doc("The strings of several tensors one after the other, with a separator between them.")
        .shape(join_shape)
        .no_gradient()
        .define();

void reduce_join_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  RILL_CHECK(!c.input(1).has_rank() || c.input(1).rank() <= 1, invalid_argument,
             "[{}] axes must be a list, got shape {}", c.tag(), c.input(1));
  if (!in.has_rank() || !c.input_value(1)) {
    return c.set_output(0, in.has_rank() && c.bool_attr("keep_dims")
                               ? TensorShape::unknown_dims(in.rank())
                               : TensorShape());
  }
  Dims keep = in.dims();
  for (std::int64_t a : as_dims(*c.input_value(1), c.tag())) {
    std::int64_t& size = keep[static_cast<std::size_t>(normalize_axis(a, in.rank(), c.tag()))];
    RILL_CHECK(size != -2, invalid_argument, "[{}] axis {} is listed twice", c.tag(), a);
    size = -2;
  }
  Dims out;
  for (std::int64_t d : keep) {
    if (d != -2)
      out.push_back(d);
    else if (c.bool_attr("keep_dims"))
      out.push_back(1);
  }
  c.set_output(0, TensorShape(out));
}
const Op& reduce_join_op =
    OpBuilder("ReduceJoin", "strings.reduce_join")
        .input("inputs: string")
        .input("reduction_indices: int32")
        .output("output: string")
        .attr("keep_dims: bool = false")
        .attr("separator: string = ''")
        .doc("The strings along axes joined; the first axis listed varies fastest.")
        .shape(reduce_join_shape)
        .no_gradient()
        .host("reduction_indices")
        .define();

Tensor reduce(const Operand& inputs, const Tensor& axes, const strings::ReduceJoinOptions& o) {
  return execute(reduce_join_op, {Arg(inputs), axes},
                 {{"keep_dims", o.keepdims}, {"separator", o.separator}});
}

}  // namespace

namespace strings {

Tensor join(const TensorList& inputs, const std::string& separator) {
  const auto in = as_inputs(inputs.tensors());
  const Attr attrs[] = {{"separator", separator}};
  return execute(join_op, in, attrs);
}

Tensor reduce_join(const Operand& inputs, ReduceJoinOptions o) {
  const Arg x(inputs);
  if (x->shape().has_rank()) {
    std::vector<std::int32_t> axes;
    for (int i = x->ndim(); i-- > 0;) axes.push_back(i);
    return reduce(*x, constant(axes), o);
  }
  return reduce(*x, range(rank(*x) - 1, -1, -1), o);
}
Tensor reduce_join(const Operand& inputs, int axis, ReduceJoinOptions o) {
  return reduce(inputs, to_tensor(axis), o);
}
Tensor reduce_join(const Operand& inputs, std::initializer_list<int> axis, ReduceJoinOptions o) {
  return reduce(inputs, constant(std::vector<std::int32_t>(axis)), o);
}

}  // namespace strings
}  // namespace rill
