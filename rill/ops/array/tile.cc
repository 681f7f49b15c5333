// A tensor repeated as tiles.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

void tile_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 1, "multiples");
  if (!c.input_value(1))
    return c.set_output(0,
                        in.has_rank() ? TensorShape::unknown_dims(in.rank()) : c.input_as_shape(1));
  const Dims multiples = as_dims(*c.input_value(1), c.tag());
  if (!in.has_rank())
    return c.set_output(0, TensorShape::unknown_dims(static_cast<int>(multiples.size())));
  RILL_CHECK(static_cast<int>(multiples.size()) == in.rank(), invalid_argument,
             "[tile] multiples has {} entries for shape {}; expected one an axis", multiples.size(),
             in);
  Dims out = in.dims();
  for (std::size_t i = 0; i < out.size(); ++i) {
    RILL_CHECK(multiples[i] >= 0, invalid_argument,
               "[tile] multiples[{}] is {}; expected 0 or more", i, multiples[i]);
    out[i] = multiples[i] == 0 ? 0 : mul_sizes(out[i], multiples[i], c.tag());
  }
  set_checked(c, 0, out);
}

// The gradient as [m0, d0, m1, d1, ..], summed over the repeats.
void tile_grad(GradContext& g) {
  const int rank = g.input_shape(0).rank();
  if (rank < 0) {
    const Tensor sizes = cast(g.input_shape_tensor(0), g.input(1).dtype());
    const Tensor apart = reshape(g.dy(), reshape(stack({g.input(1), sizes}, 1), {-1}));
    return g.set(0, sum_over(apart, range(0, size(sizes) * 2, 2)));
  }
  std::vector<int> repeats;
  for (int i = 0; i < rank; ++i) repeats.push_back(2 * i);
  if (repeats.empty()) return g.set(0, g.dy());
  const Tensor sizes = cast(shape_of_input(g, 0), g.input(1).dtype());
  g.set(0, reduce_sum(reshape(g.dy(), reshape(stack({g.input(1), sizes}, 1), {-1})), repeats));
}

const Op& tile_op = OpBuilder("Tile", "tile")
                        .input("input: T")
                        .input("multiples: Tmultiples")
                        .output("output: T")
                        .type("T", kAllTypes)
                        .type("Tmultiples", kIndexTypes, int32)
                        .doc("The tensor repeated multiples[i] times along axis i.")
                        .shape(tile_shape)
                        .gradient(tile_grad, "multiples")
                        .host("multiples")
                        .define();

}  // namespace

Tensor tile(const Operand& x, const Operand& multiples) {
  return execute(tile_op, {Arg(x), Arg(multiples, sizes_dtype(multiples))});
}

Tensor repeat(const Operand& x, const Operand& repeats) {
  return repeat(reshape(x, {-1}), repeats, 0);
}
Tensor repeat(const Operand& x, const Operand& repeats, int axis) {
  const Arg a(x), r(repeats);
  RILL_CHECK(a->shape().has_rank() && a->ndim() > 0, invalid_argument,
             "[repeat] x must have rank 1 or more, got shape {}", a->shape());
  const int at = normalize_axis(axis, a->ndim(), "repeat"), rank = a->ndim();
  RILL_CHECK(r->ndim() <= 1, invalid_argument,
             "[repeat] repeats must be a number or a list, got shape {}", r->shape());
  RILL_CHECK(r->ndim() == 0 || r->shape().dim(0) == 1 || r->shape().dim(0) < 0 ||
                 a->shape().dim(at) < 0 || r->shape().dim(0) == a->shape().dim(at),
             invalid_argument,
             "[repeat] {} repeats for axis {} of shape {}; expected a number, or one a slice",
             r->shape().dim(0), axis, a->shape());
  if (r->ndim() == 1 && r->shape().dim(0) == 0) return *a;
  const DType wide = r->dtype() == int64 ? int64 : int32;
  const Tensor counts = cast(*r, wide);
  // Each slice as often as the most repeated one; then the surplus is dropped.
  const bool same = r->ndim() == 0 || r->shape().dim(0) == 1;
  RILL_CHECK(!same || r->is_symbolic() || counts.item<std::int64_t>() >= 0, invalid_argument,
             "[repeat] repeats is {}; expected 0 or more", counts.item<std::int64_t>());
  const Tensor most = same ? reshape(counts, {}) : largest(counts);
  std::vector<Tensor> multiples(static_cast<std::size_t>(rank + 1), to_tensor(1, wide));
  multiples[static_cast<std::size_t>(at + 1)] = most;
  const Tensor repeated = tile(expand_dims(*a, at + 1), stack(multiples));
  if (!same) return boolean_mask(repeated, sequence_mask(counts, most), at);
  const Tensor sizes = rill::shape(*a, wide);
  return reshape(
      repeated,
      concat({sizes(slice(0, at)), reshape(sizes[at] * most, {1}), sizes(slice(at + 1, None))}, 0));
}

}  // namespace rill
