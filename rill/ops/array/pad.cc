// A border around a tensor.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void pad_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 2, "paddings");
  if (!in.has_rank()) return c.set_output(0, in);
  RILL_CHECK(!c.input(1).is_fully_defined() || (c.input(1).dim(0) == in.rank() && c.input(1).dim(1) == 2), invalid_argument,
             "[pad] paddings must have shape [{}, 2] for an input of shape {}, got {}", in.rank(), in, c.input(1));
  if (!c.input_value(1)) return c.set_output(0, TensorShape::unknown_dims(in.rank()));
  const auto p = c.input_value(1)->to_vector<std::int64_t>();
  Dims out = in.dims();
  for (std::size_t i = 0; i < out.size(); ++i) {
    RILL_CHECK(p[2 * i] >= 0 && p[2 * i + 1] >= 0, invalid_argument, "[pad] paddings of axis {} are {} and {}; expected sizes of 0 or more", i, p[2 * i], p[2 * i + 1]);
    if (out[i] >= 0) out[i] += p[2 * i] + p[2 * i + 1];
  }
  c.set_output(0, TensorShape(out));
}

void pad_grad(GradContext& g) {
  const auto p = g.input(1).to_vector<std::int32_t>();
  std::vector<std::int32_t> begin;
  for (std::size_t i = 0; i < p.size(); i += 2) begin.push_back(p[i]);
  g.set(0, slice(g.dy(), constant(begin), g.input_shape(0)));
}

const Op& pad_op = OpBuilder("Pad", "pad")
                       .input("input: T").input("paddings: Tpaddings").output("output: T")
                       .type("T", kAllTypes).type("Tpaddings", kIndexTypes, int32)
                       .doc("The tensor with paddings[i] = [before, after] zeros added to axis i.")
                       .shape(pad_shape)
                       .gradient(pad_grad, "paddings")
                       .host("paddings")
                       .define();

}  // namespace

Tensor pad(const Operand& x, const Operand& paddings) { return execute(pad_op, {Arg(x), Arg(paddings, int32)}); }

}  // namespace rill
