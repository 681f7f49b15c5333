// A tensor cut into parts along an axis.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"

namespace rill {
namespace {

// All outputs have the input's shape except for `axis`, whose size the caller sets.
void split_shape(ShapeContext& c) {
  const TensorShape& in = c.input(1);
  require_rank(c, 0, 0, "axis");
  std::int64_t axis_value = 0;
  const bool known = c.input_as_int(0, &axis_value);
  RILL_CHECK(c.num_outputs() >= 1, invalid_argument, "[split] num_split is {}; expected 1 or more",
             c.num_outputs());
  if (!in.has_rank()) return unknown_shape(c);
  TensorShape out = TensorShape::unknown_dims(in.rank());
  if (known) {
    const int axis = normalize_axis(axis_value, in.rank(), c.tag());
    RILL_CHECK(in.dim(axis) < 0 || in.dim(axis) % c.num_outputs() == 0, invalid_argument,
               "[split] axis {} of shape {} has {} elements, which do not divide into {} equal "
               "parts; give a list of sizes",
               axis, in, in.dim(axis), c.num_outputs());
    out = in;
    out.set_dim(axis, in.dim(axis) < 0 ? -1 : in.dim(axis) / c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
}
void split_grad(GradContext& g) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < g.int_attr("num_split"); ++i)
    parts.push_back(g.dy(static_cast<int>(i)));
  g.set(1, concat_along(parts, g.input(0)));
}
const Op& split_op = OpBuilder("Split", "split")
                         .input("split_dim: int32")
                         .input("value: T")
                         .output("output: num_split * T")
                         .type("T", kAllTypes)
                         .doc("The tensor in num_split equal parts along an axis.")
                         .shape(split_shape)
                         .gradient(split_grad, "split_dim")
                         .host("split_dim")
                         .define();

void split_v_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 1, "size_splits");
  require_rank(c, 2, 0, "axis");
  std::int64_t axis_value = 0;
  const bool known = c.input_as_int(2, &axis_value);
  if (!in.has_rank()) return unknown_shape(c);
  const Tensor* given = c.input_value(1);
  if (!known || !given) {
    for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape::unknown_dims(in.rank()));
    return;
  }
  const int axis = normalize_axis(axis_value, in.rank(), c.tag());
  Dims sizes = as_dims(*given, c.tag());
  RILL_CHECK(static_cast<int>(sizes.size()) == c.num_outputs(), invalid_argument,
             "[split] {} sizes for {} parts", sizes.size(), c.num_outputs());
  std::int64_t sum = 0;
  int rest = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    RILL_CHECK(sizes[i] >= -1 && (sizes[i] >= 0 || rest < 0), invalid_argument,
               "[split] size {} is {}; sizes are 0 or more, and one may be -1", i, sizes[i]);
    if (sizes[i] < 0)
      rest = static_cast<int>(i);
    else
      sum = add_sizes(sum, sizes[i], c.tag());
  }
  const std::int64_t dim = in.dim(axis);
  RILL_CHECK(dim < 0 || (rest < 0 ? sum == dim : sum <= dim), invalid_argument,
             "[split] sizes add up to {}, but axis {} of shape {} has {} elements", sum, axis, in,
             dim);
  if (rest >= 0) sizes[static_cast<std::size_t>(rest)] = dim < 0 ? -1 : dim - sum;
  for (int i = 0; i < c.num_outputs(); ++i) {
    TensorShape out = in;
    out.set_dim(axis, sizes[static_cast<std::size_t>(i)]);
    c.set_output(i, out);
  }
}
void split_v_grad(GradContext& g) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < g.int_attr("num_split"); ++i)
    parts.push_back(g.dy(static_cast<int>(i)));
  g.set(0, concat_along(parts, g.input(2)));
}
const Op& split_v_op =
    OpBuilder("SplitV", "split")
        .input("value: T")
        .input("size_splits: Tlen")
        .input("split_dim: int32")
        .output("output: num_split * T")
        .type("T", kAllTypes)
        .type("Tlen", kIndexTypes, int64)
        .doc("The tensor in parts of the given sizes along an axis; one size may be -1.")
        .shape(split_v_shape)
        .gradient(split_v_grad, "split_dim")
        .host("size_splits split_dim")
        .define();

}  // namespace

std::vector<Tensor> split(const Operand& value, int num_split, int axis) {
  RILL_CHECK(num_split >= 1, invalid_argument, "[split] num_split is {}; expected 1 or more",
             num_split);
  const Arg v(value);
  const Tensor at = to_tensor(axis);
  const In inputs[] = {at, v};
  const Attr attrs[] = {{"num_split", num_split}};
  return execute_all(split_op, inputs, attrs, num_split);
}
std::vector<Tensor> split(const Operand& value, const std::vector<int>& sizes, int axis) {
  RILL_CHECK(!sizes.empty(), invalid_argument, "[split] the list of sizes is empty");
  const Arg v(value);
  const Tensor at = to_tensor(axis), list = constant(sizes);
  const In inputs[] = {v, list, at};
  const Attr attrs[] = {{"num_split", static_cast<std::int64_t>(sizes.size())}};
  return execute_all(split_v_op, inputs, attrs, static_cast<int>(sizes.size()));
}
std::vector<Tensor> split(const Operand& value, std::initializer_list<int> sizes, int axis) {
  return split(value, std::vector<int>(sizes), axis);
}

}  // namespace rill
