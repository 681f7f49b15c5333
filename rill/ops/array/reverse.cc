// Elements in another order along an axis: backwards, or shifted around.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

void reverse_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 1, "axis");
  if (in.has_rank() && c.input_value(1)) {
    SmallVector<char, 8> seen(in.size(), 0);
    for (std::int64_t a : as_dims(*c.input_value(1), c.tag())) {
      const auto axis = static_cast<std::size_t>(normalize_axis(a, in.rank(), c.tag()));
      RILL_CHECK(!seen[axis], invalid_argument, "[reverse] axis {} is listed twice", axis);
      seen[axis] = 1;
    }
  }
  c.set_output(0, in);
}
void reverse_grad(GradContext& g) { g.set(0, reverse(g.dy(), g.input(1))); }
const Op& reverse_op = OpBuilder("ReverseV2", "reverse")
                           .input("tensor: T")
                           .input("axis: Tidx")
                           .output("output: T")
                           .type("T", kAllTypes)
                           .type("Tidx", kIndexTypes, int32)
                           .doc("The tensor backwards along the listed axes.")
                           .shape(reverse_shape)
                           .gradient(reverse_grad, "axis")
                           .host("axis")
                           .define();

void roll_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  for (int i : {1, 2})
    RILL_CHECK(!c.input(i).has_rank() || c.input(i).rank() <= 1, invalid_argument,
               "[roll] shift and axis must be numbers or lists, got shape {}", c.input(i));
  RILL_CHECK(c.input(1).is_compatible_with(c.input(2)), invalid_argument,
             "[roll] shift has shape {} and axis {}; expected one shift an axis", c.input(1),
             c.input(2));
  RILL_CHECK(!in.has_rank() || in.rank() > 0, invalid_argument,
             "[roll] a scalar has no axis to shift along");
  if (in.has_rank() && c.input_value(2))
    for (std::int64_t a : as_dims(*c.input_value(2), c.tag()))
      normalize_axis(a, in.rank(), c.tag());
  c.set_output(0, in);
}
void roll_grad(GradContext& g) { g.set(0, roll(g.dy(), negative(g.input(1)), g.input(2))); }
const Op& roll_op =
    OpBuilder("Roll", "roll")
        .input("input: T")
        .input("shift: Tshift")
        .input("axis: Taxis")
        .output("output: T")
        .type("T", kAllTypes)
        .type("Tshift", kIndexTypes)
        .type("Taxis", kIndexTypes)
        .doc("The elements shifted along axes; what leaves at one end comes in at the other.")
        .shape(roll_shape)
        .gradient(roll_grad, "shift axis")
        .host("shift axis")
        .define();

void reverse_sequence_shape(ShapeContext& c) {
  const TensorShape &in = c.input(0), &lengths = c.input(1);
  require_rank(c, 1, 1, "seq_lengths");
  if (in.has_rank()) {
    const int seq = normalize_axis(c.int_attr("seq_dim"), in.rank(), c.tag(), "seq_axis");
    const int batch = normalize_axis(c.int_attr("batch_dim"), in.rank(), c.tag(), "batch_axis");
    RILL_CHECK(seq != batch, invalid_argument,
               "[reverse_sequence] seq_axis and batch_axis are both {}", seq);
    if (lengths.has_rank())
      merge_dims(lengths.dim(0), in.dim(batch), c.tag(),
                 "the length of seq_lengths and the batch size");
  }
  c.set_output(0, in);
}
extern const Op& reverse_sequence_op;
void reverse_sequence_grad(GradContext& g) {
  const In inputs[] = {g.dy(), g.input(1)};
  g.set(0, execute(reverse_sequence_op, inputs, g.attrs()));
}
const Op& reverse_sequence_op = OpBuilder("ReverseSequence", "reverse_sequence")
                                    .input("input: T")
                                    .input("seq_lengths: Tlen")
                                    .output("output: T")
                                    .attr("seq_dim: int")
                                    .attr("batch_dim: int = 0")
                                    .type("T", kAllTypes)
                                    .type("Tlen", kIndexTypes, int64)
                                    .doc(
                                        "The first seq_lengths[i] elements of each batch entry "
                                        "backwards, the others as they are.")
                                    .shape(reverse_sequence_shape)
                                    .gradient(reverse_sequence_grad, "seq_lengths")
                                    .define();

}  // namespace

Tensor reverse(const Operand& x, const Operand& axis) {
  const Arg a(axis, axis.is_literal() ? int32 : DType());
  return execute(reverse_op, {Arg(x), a->ndim() == 0 ? reshape(*a, {1}) : *a});
}
Tensor roll(const Operand& x, const Operand& shift, const Operand& axis) {
  return execute(roll_op, {Arg(x), Arg(shift), Arg(axis)});
}
Tensor reverse_sequence(const Operand& x, const Operand& seq_lengths, int seq_axis,
                        int batch_axis) {
  return execute(reverse_sequence_op, {Arg(x), Arg(seq_lengths)},
                 {{"seq_dim", seq_axis}, {"batch_dim", batch_axis}});
}

}  // namespace rill
