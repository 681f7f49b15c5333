// Parts of a tensor: slice, and unstack along an axis.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void slice_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const TensorShape size =
      c.input_value(2) ? TensorShape(as_dims(*c.input_value(2), c.tag())) : c.input_as_shape(2);
  if (!in.has_rank() || !c.input_value(1) || !c.input_value(2))
    return c.set_output(0, in.has_rank()     ? TensorShape::unknown_dims(in.rank())
                           : size.has_rank() ? TensorShape::unknown_dims(size.rank())
                                             : size);
  const Dims begin = as_dims(*c.input_value(1), c.tag());
  RILL_CHECK(
      static_cast<int>(begin.size()) == in.rank() && size.rank() == in.rank(), invalid_argument,
      "[slice] begin has {} and size {} elements for an input of shape {}; expected one an axis",
      begin.size(), size.rank(), in);
  Dims out = size.dims();
  for (int i = 0; i < in.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t d = in.dim(i);
    RILL_CHECK(begin[k] >= 0 && (d < 0 || begin[k] <= d), out_of_range,
               "[slice] begin {} of axis {} is outside shape {}", begin[k], i, in);
    if (out[k] == -1) out[k] = d < 0 ? -1 : d - begin[k];
    RILL_CHECK(out[k] >= -1 && (d < 0 || out[k] <= d - begin[k]), out_of_range,
               "[slice] begin {} and size {} of axis {} reach outside shape {}", begin[k], out[k],
               i, in);
  }
  c.set_output(0, TensorShape(out));
}

// Zeros around the gradient, where the slice was taken from.
void slice_grad(GradContext& g) {
  const TensorShape& in = g.input_shape(0);
  if (!in.is_fully_defined() || !g.output_shape().is_fully_defined() || !value_known(g.input(1))) {
    const Tensor& from = g.input(1);
    const Tensor rest = cast(g.input_shape_tensor(0) - shape(g.dy()), from.dtype()) - from;
    return g.set(0, pad(g.dy(), stack({from, rest}, 1)));
  }
  const Dims begin = as_dims(g.input(1), "slice");
  Tensor paddings = make_tensor(int32, TensorShape({in.rank(), 2}));
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t b = begin[static_cast<std::size_t>(i)];
    mutable_data<std::int32_t>(paddings)[2 * i] = static_cast<std::int32_t>(b);
    mutable_data<std::int32_t>(paddings)[2 * i + 1] =
        static_cast<std::int32_t>(in.dim(i) - b - g.output_shape().dim(i));
  }
  g.set(0, pad(g.dy(), paddings));
}

const Op& slice_op = OpBuilder("Slice", "slice")
                         .input("input: T")
                         .input("begin: Index")
                         .input("size: Index")
                         .output("output: T")
                         .type("T", kAllTypes)
                         .type("Index", kIndexTypes)
                         .doc(
                             "The part of a tensor that starts at begin and has the given size; -1 "
                             "takes all that is left.")
                         .shape(slice_shape)
                         .gradient(slice_grad, "begin")
                         .host("begin size")
                         .define();

void unpack_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  if (!in.has_rank()) return unknown_shape(c);
  RILL_CHECK(in.rank() > 0, invalid_argument, "[unstack] a scalar has no axis");
  const int axis = normalize_axis(c.int_attr("axis"), in.rank(), c.tag());
  RILL_CHECK(in.dim(axis) < 0 || in.dim(axis) == c.num_outputs(), invalid_argument,
             "[unstack] num is {}, but axis {} of shape {} has {}", c.num_outputs(), axis, in,
             in.dim(axis));
  Dims out = in.dims();
  out.erase(static_cast<std::size_t>(axis));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape(out));
}
void unpack_grad(GradContext& g) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < g.int_attr("num"); ++i) parts.push_back(g.dy(static_cast<int>(i)));
  g.set(0, stack(parts, static_cast<int>(g.int_attr("axis"))));
}
const Op& unpack_op = OpBuilder("Unpack", "unstack")
                          .input("value: T")
                          .output("output: num * T")
                          .attr("axis: int = 0")
                          .type("T", kAllTypes)
                          .doc("The tensor's parts along an axis, which disappears.")
                          .shape(unpack_shape)
                          .gradient(unpack_grad)
                          .define();

}  // namespace

Tensor slice(const Operand& input, const Operand& begin, const Operand& size) {
  const ArgPair p(begin, size);
  return execute(slice_op, {Arg(input), p.first(), p.second()});
}

std::vector<Tensor> unstack(const Operand& value, int axis) {
  const Arg v(value);
  RILL_CHECK(v->ndim() > 0, invalid_argument, "[unstack] a scalar has no axis");
  const std::int64_t n = v->shape().dim(normalize_axis(axis, v->ndim(), "unstack"));
  RILL_CHECK(n >= 0, invalid_argument, "[unstack] the size of axis {} of shape {} is not known",
             axis, v->shape());
  const Attr attrs[] = {{"num", n}, {"axis", axis}};
  const In inputs[] = {v};
  return execute_all(unpack_op, inputs, attrs, static_cast<int>(n));
}

}  // namespace rill
