// A border around a tensor: of a constant, or mirrored.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

// paddings [rank, 2] when their value is known; else sets what can be said of
// the output and gives nothing.
bool known_paddings(ShapeContext& c, std::vector<std::int64_t>& p) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 2, "paddings");
  if (!in.has_rank()) return c.set_output(0, in), false;
  RILL_CHECK(
      !c.input(1).is_fully_defined() || (c.input(1).dim(0) == in.rank() && c.input(1).dim(1) == 2),
      invalid_argument, "[pad] paddings must have shape [{}, 2] for an input of shape {}, got {}",
      in.rank(), in, c.input(1));
  if (!c.input_value(1)) return c.set_output(0, TensorShape::unknown_dims(in.rank())), false;
  p = c.input_value(1)->to_vector<std::int64_t>();
  for (std::size_t i = 0; i < in.size(); ++i)
    RILL_CHECK(p[2 * i] >= 0 && p[2 * i + 1] >= 0, invalid_argument,
               "[pad] paddings of axis {} are {} and {}; expected sizes of 0 or more", i, p[2 * i],
               p[2 * i + 1]);
  return true;
}

void pad_shape(ShapeContext& c) {
  std::vector<std::int64_t> p;
  if (c.num_inputs() > 2) require_rank(c, 2, 0, "constant_values");
  if (!known_paddings(c, p)) return;
  Dims out = c.input(0).dims();
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = add_sizes(add_sizes(out[i], p[2 * i], c.tag()), p[2 * i + 1], c.tag());
  set_checked(c, 0, out);
}

// The gradient without the border.
Tensor inner_part(GradContext& g) {
  const Tensor begin = g.input(1)(all, 0);
  return slice(g.dy(), begin, cast(shape_of_input(g, 0), begin.dtype()));
}
void pad_grad(GradContext& g) { g.set(0, inner_part(g)); }
const Op& pad_op = OpBuilder("Pad", "pad")
                       .input("input: T")
                       .input("paddings: Tpaddings")
                       .output("output: T")
                       .type("T", kAllTypes)
                       .type("Tpaddings", kIndexTypes, int32)
                       .doc("The tensor with paddings[i] = [before, after] zeros added to axis i.")
                       .shape(pad_shape)
                       .gradient(pad_grad, "paddings")
                       .host("paddings")
                       .define();

void pad_v2_grad(GradContext& g) {
  const Tensor inside = inner_part(g);
  g.set(0, inside);
  if (g.needs(2)) g.set(2, reduce_sum(g.dy()) - reduce_sum(inside));
}
const Op& pad_v2_op =
    OpBuilder("PadV2", "pad")
        .input("input: T")
        .input("paddings: Tpaddings")
        .input("constant_values: T")
        .output("output: T")
        .type("T", kAllTypes)
        .type("Tpaddings", kIndexTypes, int32)
        .doc("The tensor with paddings[i] = [before, after] copies of a value added to axis i.")
        .shape(pad_shape)
        .gradient(pad_v2_grad, "paddings")
        .host("paddings")
        .define();

// REFLECT does not repeat the border, SYMMETRIC does.
std::int64_t mirror_offset(const AttrReader& c) {
  const std::string_view mode = c.string_attr("mode");
  RILL_CHECK(mode == "REFLECT" || mode == "SYMMETRIC", invalid_argument,
             "[pad] mode is \"{}\"; expected \"CONSTANT\", \"REFLECT\" or \"SYMMETRIC\"", mode);
  return mode == "REFLECT";
}
void check_mirror(std::int64_t size, std::int64_t before, std::int64_t after, std::int64_t offset,
                  std::size_t axis) {
  RILL_CHECK(
      before <= size - offset && after <= size - offset, invalid_argument,
      "[pad] paddings {} and {} of axis {} are more than the {} elements that can be mirrored",
      before, after, axis, std::max<std::int64_t>(0, size - offset));
}
void mirror_pad_shape(ShapeContext& c) {
  const std::int64_t offset = mirror_offset(c);
  std::vector<std::int64_t> p;
  if (!known_paddings(c, p)) return;
  Dims out = c.input(0).dims();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0) check_mirror(out[i], p[2 * i], p[2 * i + 1], offset, i);
    out[i] = add_sizes(add_sizes(out[i], p[2 * i], c.tag()), p[2 * i + 1], c.tag());
  }
  set_checked(c, 0, out);
}
void mirror_pad_grad_shape(ShapeContext& c) {
  const std::int64_t offset = mirror_offset(c);
  std::vector<std::int64_t> p;
  if (!known_paddings(c, p)) return;
  Dims out = c.input(0).dims();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] < 0) continue;
    RILL_CHECK(p[2 * i] <= out[i] && p[2 * i + 1] <= out[i] - p[2 * i], invalid_argument,
               "[pad] paddings {} and {} of axis {} are more than its size {}", p[2 * i],
               p[2 * i + 1], i, out[i]);
    out[i] -= p[2 * i] + p[2 * i + 1];
    check_mirror(out[i], p[2 * i], p[2 * i + 1], offset, i);
  }
  c.set_output(0, TensorShape(out));
}

extern const Op& mirror_pad_grad_op;
void mirror_pad_grad(GradContext& g) {
  const In inputs[] = {g.dy(), g.input(1)};
  g.set(0, execute(mirror_pad_grad_op, inputs, g.attrs()));
}
const Op& mirror_pad_op = OpBuilder("MirrorPad", "pad")
                              .input("input: T")
                              .input("paddings: Tpaddings")
                              .output("output: T")
                              .attr("mode: string")
                              .type("T", kAllTypes)
                              .type("Tpaddings", kIndexTypes, int32)
                              .doc(
                                  "The tensor with a border that mirrors it, with (SYMMETRIC) or "
                                  "without (REFLECT) its outermost elements.")
                              .shape(mirror_pad_shape)
                              .gradient(mirror_pad_grad, "paddings")
                              .host("paddings")
                              .define();
void mirror_pad_grad_grad(GradContext& g) {
  const In inputs[] = {g.dy(), g.input(1)};
  g.set(0, execute(mirror_pad_op, inputs, g.attrs()));
}
const Op& mirror_pad_grad_op = OpBuilder("MirrorPadGrad", "pad")
                                   .input("input: T")
                                   .input("paddings: Tpaddings")
                                   .output("output: T")
                                   .attr("mode: string")
                                   .type("T", kNumericTypes)
                                   .type("Tpaddings", kIndexTypes, int32)
                                   .doc("What MirrorPad repeated, folded back and summed.")
                                   .shape(mirror_pad_grad_shape)
                                   .gradient(mirror_pad_grad_grad, "paddings")
                                   .host("paddings")
                                   .define();

}  // namespace

Tensor pad(const Operand& x, const Operand& paddings) {
  return execute(pad_op, {Arg(x), Arg(paddings, int32)});
}

Tensor pad(const Operand& x, const Operand& paddings, PadOptions o) {
  std::string mode = o.mode;
  for (char& c : mode) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  const Arg a(x), p(paddings, int32);
  if (mode != "CONSTANT") return execute(mirror_pad_op, {a, p}, {{"mode", mode}});
  if (o.constant_values == 0) return execute(pad_op, {a, p});
  return execute(pad_v2_op, {a, p, cast(to_tensor(o.constant_values, float64), a->dtype())});
}

}  // namespace rill
