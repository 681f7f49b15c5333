// The same elements under another shape: no element moves.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void reshape_shape(ShapeContext& c) {
  RILL_CHECK(!c.input(1).has_rank() || c.input(1).rank() <= 1, invalid_argument,
             "[reshape] shape must be a list, got a tensor of shape {}", c.input(1));
  if (!c.input_value(1)) return c.set_output(0, c.input_as_shape(1));
  Dims out = as_dims(*c.input_value(1), c.tag());
  const std::int64_t n = c.input(0).num_elements();
  std::int64_t known = 1;
  int rest = -1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    RILL_CHECK(out[i] >= -1, invalid_argument,
               "[reshape] size {} of shape {} is negative ({}); only -1 may be, for 'what is left'",
               i, TensorShape(out), out[i]);
    RILL_CHECK(out[i] >= 0 || rest < 0, invalid_argument,
               "[reshape] only one size may be -1, got sizes {} and {}", rest, i);
    if (out[i] < 0)
      rest = static_cast<int>(i);
    else
      RILL_CHECK(!__builtin_mul_overflow(known, out[i], &known), invalid_argument,
                 "[reshape] the new shape has more elements than 63 bits can count");
  }
  if (n < 0) return c.set_output(0, TensorShape(out));
  if (rest >= 0) {
    RILL_CHECK(
        known > 0 ? n % known == 0 : n == 0, invalid_argument,
        "[reshape] {} elements (shape {}) do not divide into the given sizes, whose product is {}",
        n, c.input(0), known);
    out[static_cast<std::size_t>(rest)] = known > 0 ? n / known : 0;
  } else {
    RILL_CHECK(known == n, invalid_argument,
               "[reshape] cannot reshape {} ({} elements) to {} ({} elements)", c.input(0), n,
               TensorShape(out), known);
  }
  c.set_output(0, TensorShape(out));
}

void reshape_grad(GradContext& g) {
  const TensorShape& s = g.input_shape(0);
  g.set(0, s.is_fully_defined() ? reshape(g.dy(), s) : reshape(g.dy(), g.input_shape_tensor(0)));
}

const Op& reshape_op =
    OpBuilder("Reshape", "reshape")
        .input("tensor: T")
        .input("shape: Tshape")
        .output("output: T")
        .type("Tshape", kIndexTypes, int32)
        .doc("The elements in the same order under another shape; one size may be -1.")
        .shape(reshape_shape)
        .gradient(reshape_grad)
        .host("shape")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape> shapes,
                    std::span<Tensor> out) { out[0] = make_view(*in[0], shapes[0]); })
        .view()
        .define();

}  // namespace

Tensor reshape(const Operand& x, const Operand& shape) {
  const Arg a(x),
      s(shape, shape.kind() == Operand::Kind::list && shape.size() == 0 ? int32 : DType());
  return execute(reshape_op, {a, s->ndim() == 0 ? make_view(*s, TensorShape({1})) : *s});
}

}  // namespace rill
