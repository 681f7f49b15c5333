// What a tensor's shape is, as tensors; and other shapes of the same elements.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// The shape as a tensor, on the host: no element is touched.
Tensor shape_tensor(const TensorShape& s, DType dtype, std::string_view tag) {
  for (std::int64_t d : s.dims())
    RILL_CHECK(dtype == int64 || d <= INT32_MAX, invalid_argument,
               "[{}] size {} of shape {} does not fit int32; ask for out_type int64", tag, d, s);
  return to_tensor(s, dtype);
}

void shape_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, c.input(i).has_rank() ? TensorShape(Dims{c.input(i).rank()})
                                          : TensorShape::unknown_dims(1));
}
void shape_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                   std::span<Tensor> out) {
  for (std::size_t i = 0; i < in.size(); ++i)
    out[i] = shape_tensor(in[i]->shape(), a.type_attr("out_type"), "shape");
}
const Op& shape_op = OpBuilder("Shape", "shape")
                         .input("input: T")
                         .output("output: out_type")
                         .type("out_type", kIndexTypes, int32)
                         .doc("The sizes of a tensor as a list.")
                         .shape(shape_shape)
                         .no_gradient()
                         .of_shapes()
                         .forward(shape_forward)
                         .define();
const Op& shape_n_op = OpBuilder("ShapeN", "shape_n")
                           .input("input: N * T")
                           .output("output: N * out_type")
                           .type("out_type", kIndexTypes, int32)
                           .doc("The sizes of each tensor as a list.")
                           .shape(shape_shape)
                           .no_gradient()
                           .of_shapes()
                           .forward(shape_forward)
                           .define();

const Op& size_op =
    OpBuilder("Size", "size")
        .input("input: T")
        .output("output: out_type")
        .type("out_type", kIndexTypes, int32)
        .doc("The number of elements of a tensor.")
        .shape(scalar_shape)
        .no_gradient()
        .of_shapes()
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const std::int64_t n = in[0]->size();
          const DType d = a.type_attr("out_type");
          RILL_CHECK(d == int64 || n <= INT32_MAX, invalid_argument,
                     "[size] {} elements do not fit int32; ask for out_type int64", n);
          out[0] = to_tensor(n, d);
        })
        .define();
const Op& rank_op =
    OpBuilder("Rank", "rank")
        .input("input: T")
        .output("output: int32")
        .doc("The number of axes of a tensor.")
        .shape(scalar_shape)
        .no_gradient()
        .of_shapes()
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) { out[0] = to_tensor(in[0]->ndim()); })
        .define();

void view_forward(const AttrReader&, std::span<const In> in, std::span<const TensorShape> shapes,
                  std::span<Tensor> out) {
  out[0] = make_view(*in[0], shapes[0]);
}
void reshape_back(GradContext& g) {
  const TensorShape& s = g.input_shape(0);
  g.set(0, s.is_fully_defined() ? reshape(g.dy(), s) : reshape(g.dy(), g.input_shape_tensor(0)));
}

void expand_dims_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  std::int64_t axis = 0;
  const bool known = c.input_as_int(1, &axis);
  if (!in.has_rank()) return unknown_shape(c);
  if (!known) return c.set_output(0, TensorShape::unknown_dims(in.rank() + 1));
  Dims out = in.dims();
  out.insert(static_cast<std::size_t>(normalize_axis(axis, in.rank() + 1, c.tag())), 1);
  c.set_output(0, TensorShape(out));
}
const Op& expand_dims_op = OpBuilder("ExpandDims", "expand_dims")
                               .input("input: T")
                               .input("dim: Tdim")
                               .output("output: T")
                               .type("Tdim", kIndexTypes, int32)
                               .doc("The tensor with an axis of size 1 put in before axis dim.")
                               .shape(expand_dims_shape)
                               .gradient(reshape_back)
                               .host("dim")
                               .forward(view_forward)
                               .view()
                               .define();

void squeeze_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const auto axes = c.ints_attr("squeeze_dims");
  if (!in.has_rank()) return unknown_shape(c);
  SmallVector<char, 8> drop(in.size(), 0);
  for (std::int64_t a : axes) {
    const int axis = normalize_axis(a, in.rank(), c.tag());
    RILL_CHECK(in.dim(axis) < 0 || in.dim(axis) == 1, invalid_argument,
               "[squeeze] axis {} of shape {} has {} elements; only an axis of 1 can go", axis, in,
               in.dim(axis));
    drop[static_cast<std::size_t>(axis)] = 1;
  }
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    // Without a list nothing is known of axes of unknown size.
    if (axes.empty() && in.dims()[i] < 0) return unknown_shape(c);
    if (axes.empty() ? in.dims()[i] != 1 : !drop[i]) out.push_back(in.dims()[i]);
  }
  c.set_output(0, TensorShape(out));
}
const Op& squeeze_op = OpBuilder("Squeeze", "squeeze")
                           .input("input: T")
                           .output("output: T")
                           .attr("squeeze_dims: list(int) = []")
                           .doc("The tensor without its axes of size 1, or without those listed.")
                           .shape(squeeze_shape)
                           .gradient(reshape_back)
                           .forward(view_forward)
                           .view()
                           .define();

void ensure_shape_shape(ShapeContext& c) {
  const TensorShape &in = c.input(0), &want = c.shape_attr("shape");
  RILL_CHECK(in.is_compatible_with(want), invalid_argument,
             "[ensure_shape] the tensor has shape {}, expected {}", in, want);
  if (!in.has_rank() || !want.has_rank()) return c.set_output(0, in.has_rank() ? in : want);
  Dims out = in.dims();
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] < 0) out[i] = want.dims()[i];
  c.set_output(0, TensorShape(out));
}
void pass_gradient(GradContext& g) { g.set(0, g.raw_dy()); }
const Op& ensure_shape_op =
    OpBuilder("EnsureShape", "ensure_shape")
        .input("input: T")
        .output("output: T")
        .attr("shape: shape")
        .doc("The tensor itself, if its shape fits the given one; else an error.")
        .shape(ensure_shape_shape)
        .gradient(pass_gradient)
        .forward(view_forward)
        .view()
        .define();

}  // namespace

Tensor shape(const Operand& x, DType out_type) {
  return execute(shape_op, {Arg(x)}, {{"out_type", out_type}});
}
std::vector<Tensor> shape_n(const TensorList& x, DType out_type) {
  const Attr attrs[] = {{"out_type", out_type}};
  return execute_all(shape_n_op, as_inputs(x.tensors()), attrs, static_cast<int>(x.size()));
}
Tensor size(const Operand& x, DType out_type) {
  return execute(size_op, {Arg(x)}, {{"out_type", out_type}});
}
Tensor rank(const Operand& x) { return execute(rank_op, {Arg(x)}); }
Tensor expand_dims(const Operand& x, int axis) {
  return execute(expand_dims_op, {Arg(x), to_tensor(axis)});
}
Tensor squeeze(const Operand& x, const std::vector<int>& axis) {
  const std::vector<std::int64_t> axes(axis.begin(), axis.end());
  return execute(squeeze_op, {Arg(x)}, {{"squeeze_dims", axes}});
}
Tensor squeeze(const Operand& x, std::initializer_list<int> axis) {
  return squeeze(x, std::vector<int>(axis));
}
Tensor squeeze(const Operand& x, int axis) { return squeeze(x, std::vector<int>{axis}); }
Tensor ensure_shape(const Operand& x, const TensorShape& shape) {
  return execute(ensure_shape_op, {Arg(x)}, {{"shape", shape}});
}

}  // namespace rill
