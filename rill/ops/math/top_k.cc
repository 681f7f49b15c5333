// The largest elements, and order.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void top_k_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 0, "k");
  std::int64_t k = -1;
  const bool known = c.input_as_int(1, &k);
  RILL_CHECK(!known || k >= 0, invalid_argument, "[top_k] k is {}; expected 0 or more", k);
  if (!in.has_rank()) return unknown_shape(c);
  RILL_CHECK(in.rank() >= 1, invalid_argument,
             "[top_k] input must have rank 1 or more, got a scalar");
  RILL_CHECK(!known || in.dim(-1) < 0 || k <= in.dim(-1), invalid_argument,
             "[top_k] k is {}, the last axis of shape {} has only {} elements", k, in, in.dim(-1));
  TensorShape out = in;
  out.set_dim(in.rank() - 1, k);
  c.set_output(0, out);
  c.set_output(1, out);
}

// Gradients go where the values came from.
void top_k_grad(GradContext& g) {
  const Tensor shape = cast(g.input_shape_tensor(0), int64), n = shape[-1];
  const Tensor& indices = g.output(1);
  const Tensor rows = reduce_prod(shape(slice(0, -1)));
  const Tensor starts = reshape(range(rows) * n, {-1, 1});
  const Tensor k = rill::shape(indices, int64)[-1];
  const Tensor places = reshape(cast(indices, int64), stack({rows, k})) + starts;
  const Tensor flat =
      scatter_nd(reshape(places, {-1, 1}), reshape(g.dy(0), {-1}), reshape(rows * n, {1}));
  g.set(0, reshape(flat, g.input_shape_tensor(0)));
}

const Op& top_k_op = OpBuilder("TopKV2", "top_k")
                         .input("input: T")
                         .input("k: Tk")
                         .output("values: T")
                         .output("indices: index_type")
                         .attr("sorted: bool = true")
                         .type("T", kRealTypes)
                         .type("Tk", kIndexTypes, int32)
                         .type("index_type", kIndexTypes, int32)
                         .doc(
                             "The k largest elements of each row of the last axis and where they "
                             "are, the largest first; of equals the first. NaN comes last.")
                         .shape(top_k_shape)
                         .gradient(top_k_grad, "indices")
                         .host("k")
                         .define();

void in_top_k_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "predictions");
  require_rank(c, 1, 1, "targets");
  require_rank(c, 2, 0, "k");
  const std::int64_t rows = c.input(0).has_rank() ? c.input(0).dim(0) : -1,
                     targets = c.input(1).has_rank() ? c.input(1).dim(0) : -1;
  c.set_output(0, TensorShape(Dims{merge_dims(rows, targets, c.tag(),
                                              "the numbers of predictions and targets")}));
}
const Op& in_top_k_op = OpBuilder("InTopKV2", "in_top_k")
                            .input("predictions: float32")
                            .input("targets: T")
                            .input("k: T")
                            .output("precision: bool")
                            .type("T", kIndexTypes, int32)
                            .doc(
                                "Whether predictions[i, targets[i]] is among the k largest of its "
                                "row; false where one of them is not finite.")
                            .shape(in_top_k_shape)
                            .no_gradient()
                            .define();

// Elements so that the largest comes where the smallest was; its own inverse.
Tensor reversed(const Tensor& x) {
  return x.dtype().is_integer() ? bitwise::invert(x) : negative(x);
}

// sort and argsort: the axis goes last, where top_k takes all of it.
Tensor sorted(const Operand& values, int axis, std::string_view direction, bool indices,
              std::string_view tag) {
  RILL_CHECK(direction == "ASCENDING" || direction == "DESCENDING", invalid_argument,
             "[{}] direction is \"{}\"; expected \"ASCENDING\" or \"DESCENDING\"", tag, direction);
  const Arg x(values);
  RILL_CHECK(x->shape().has_rank(), invalid_argument, "[{}] the rank of values must be known", tag);
  RILL_CHECK(x->dtype().is_integer() || x->dtype().is_floating(), invalid_argument,
             "[{}] values have dtype {}; expected integers or floating-point numbers", tag,
             x->dtype());
  const int rank = x->ndim(), at = normalize_axis(axis, rank, tag);
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<std::size_t>(at)], perm.back());
  const bool up = direction == "ASCENDING";
  Tensor t = at == rank - 1 ? *x : transpose(*x, perm);
  const Tensor n =
      x->shape().dim(at) >= 0 ? constant(static_cast<int>(x->shape().dim(at))) : shape(*x)[at];
  const TopK top = nn::top_k(up ? reversed(t) : t, n);
  t = indices ? top.indices : up ? reversed(top.values) : top.values;
  return at == rank - 1 ? t : transpose(t, perm);
}

}  // namespace

namespace nn {
TopK top_k(const Operand& input, const Operand& k, bool sorted) {
  auto out = execute_all(top_k_op, {Arg(input), Arg(k)}, {{"sorted", sorted}});
  return {out[0], out[1]};
}
Tensor in_top_k(const Operand& targets, const Operand& predictions, const Operand& k) {
  const Arg t(targets);
  return execute(in_top_k_op, {Arg(predictions, float32), t, Arg(k, t->dtype())});
}
}  // namespace nn

Tensor sort(const Operand& values, int axis, std::string_view direction) {
  return sorted(values, axis, direction, false, "sort");
}
Tensor argsort(const Operand& values, int axis, std::string_view direction, ArgsortOptions) {
  return sorted(values, axis, direction, true, "argsort");
}

}  // namespace rill
