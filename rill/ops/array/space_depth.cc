// Blocks of pixels moved into channels or batch entries, and back.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"

namespace rill {
namespace {

// Axes of height, width and channels.
struct Layout {
  int h, w, c;
};
Layout layout_of(const ShapeContext& c) {
  const std::string_view f = c.string_attr("data_format");
  RILL_CHECK(f == "NHWC" || f == "NCHW", invalid_argument,
             "[{}] data_format is \"{}\"; expected \"NHWC\" or \"NCHW\"", c.tag(), f);
  return f == "NHWC" ? Layout{1, 2, 3} : Layout{2, 3, 1};
}
std::int64_t block_size(const ShapeContext& c) {
  const std::int64_t b = c.int_attr("block_size");
  RILL_CHECK(b >= 2 && b < (1 << 15), invalid_argument, "[{}] block_size is {}; expected 2 or more",
             c.tag(), b);
  return b;
}
void space_to_depth_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const Layout l = layout_of(c);
  const std::int64_t b = block_size(c);
  require_rank(c, 0, 4, "input");
  if (!in.has_rank()) return c.set_output(0, TensorShape::unknown_dims(4));
  Dims out = in.dims();
  for (int axis : {l.h, l.w}) {
    RILL_CHECK(in.dim(axis) < 0 || in.dim(axis) % b == 0, invalid_argument,
               "[{}] axis {} of shape {} has {} elements, which block_size {} does not divide",
               c.tag(), axis, in, in.dim(axis), b);
    if (in.dim(axis) >= 0) out[static_cast<std::size_t>(axis)] /= b;
  }
  out[static_cast<std::size_t>(l.c)] = mul_sizes(in.dim(l.c), b * b, c.tag());
  set_checked(c, 0, out);
}
void depth_to_space_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const Layout l = layout_of(c);
  const std::int64_t b = block_size(c);
  require_rank(c, 0, 4, "input");
  if (!in.has_rank()) return c.set_output(0, TensorShape::unknown_dims(4));
  Dims out = in.dims();
  RILL_CHECK(in.dim(l.c) < 0 || in.dim(l.c) % (b * b) == 0, invalid_argument,
             "[{}] {} channels of shape {} do not divide by block_size {} squared", c.tag(),
             in.dim(l.c), in, b);
  for (int axis : {l.h, l.w})
    out[static_cast<std::size_t>(axis)] = mul_sizes(in.dim(axis), b, c.tag());
  if (in.dim(l.c) >= 0) out[static_cast<std::size_t>(l.c)] /= b * b;
  set_checked(c, 0, out);
}
extern const Op& depth_to_space_op;
void space_to_depth_grad(GradContext& g) {
  const In inputs[] = {g.dy()};
  g.set(0, execute(depth_to_space_op, inputs, g.attrs()));
}
const Op& space_to_depth_op =
    OpBuilder("SpaceToDepth", "space_to_depth")
        .input("input: T")
        .output("output: T")
        .attr("block_size: int")
        .attr("data_format: string = 'NHWC'")
        .type("T", kPlainTypes)
        .doc("Blocks of block_size x block_size pixels become channels of one pixel.")
        .shape(space_to_depth_shape)
        .gradient(space_to_depth_grad)
        .define();
void depth_to_space_grad(GradContext& g) {
  const In inputs[] = {g.dy()};
  g.set(0, execute(space_to_depth_op, inputs, g.attrs()));
}
const Op& depth_to_space_op = OpBuilder("DepthToSpace", "depth_to_space")
                                  .input("input: T")
                                  .output("output: T")
                                  .attr("block_size: int")
                                  .attr("data_format: string = 'NHWC'")
                                  .type("T", kPlainTypes)
                                  .doc("Channels become blocks of block_size x block_size pixels.")
                                  .shape(depth_to_space_shape)
                                  .gradient(depth_to_space_grad)
                                  .define();

// block_shape [m] and crops or paddings [m, 2], when known.
bool known_blocks(ShapeContext& c, std::string_view what, Dims& block,
                  std::vector<std::int64_t>& border) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 1, "block_shape");
  require_rank(c, 2, 2, what);
  if (!in.has_rank()) return unknown_shape(c), false;
  if (!c.input_value(1) || !c.input_value(2))
    return c.set_output(0, TensorShape::unknown_dims(in.rank())), false;
  block = as_dims(*c.input_value(1), c.tag());
  const auto m = static_cast<std::int64_t>(block.size());
  RILL_CHECK(in.rank() >= m + 1, invalid_argument,
             "[{}] a block_shape of {} sizes needs an input of rank {} or more, got shape {}",
             c.tag(), m, m + 1, in);
  RILL_CHECK(c.input(2).dim(0) == m && c.input(2).dim(1) == 2, invalid_argument,
             "[{}] {} must have shape [{}, 2], got {}", c.tag(), what, m, c.input(2));
  border = c.input_value(2)->to_vector<std::int64_t>();
  for (std::int64_t b : block)
    RILL_CHECK(b >= 1, invalid_argument, "[{}] a block size is {}; expected 1 or more", c.tag(), b);
  for (std::int64_t p : border)
    RILL_CHECK(p >= 0, invalid_argument, "[{}] an entry of {} is {}; expected 0 or more", c.tag(),
               what, p);
  return true;
}
void space_to_batch_shape(ShapeContext& c) {
  Dims block;
  std::vector<std::int64_t> pads;
  if (!known_blocks(c, "paddings", block, pads)) return;
  Dims out = c.input(0).dims();
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t padded =
        add_sizes(add_sizes(out[i + 1], pads[2 * i], c.tag()), pads[2 * i + 1], c.tag());
    RILL_CHECK(padded < 0 || padded % block[i] == 0, invalid_argument,
               "[space_to_batch] axis {} has {} elements with its padding, which block size {} "
               "does not divide",
               i + 1, padded, block[i]);
    out[i + 1] = padded < 0 ? -1 : padded / block[i];
    out[0] = mul_sizes(out[0], block[i], c.tag());
  }
  set_checked(c, 0, out);
}
void batch_to_space_shape(ShapeContext& c) {
  Dims block;
  std::vector<std::int64_t> crops;
  if (!known_blocks(c, "crops", block, crops)) return;
  Dims out = c.input(0).dims();
  std::int64_t blocks = 1;
  for (std::size_t i = 0; i < block.size(); ++i) {
    blocks = mul_sizes(blocks, block[i], c.tag());
    out[i + 1] = mul_sizes(out[i + 1], block[i], c.tag());
    if (out[i + 1] < 0) continue;
    RILL_CHECK(crops[2 * i] <= out[i + 1] && crops[2 * i + 1] <= out[i + 1] - crops[2 * i],
               invalid_argument,
               "[batch_to_space] crops {} and {} of axis {} are more than its size {}",
               crops[2 * i], crops[2 * i + 1], i + 1, out[i + 1]);
    out[i + 1] -= crops[2 * i] + crops[2 * i + 1];
  }
  RILL_CHECK(out[0] < 0 || out[0] % blocks == 0, invalid_argument,
             "[batch_to_space] the batch of {} does not divide into {} blocks", out[0], blocks);
  if (out[0] >= 0) out[0] /= blocks;
  set_checked(c, 0, out);
}
void space_to_batch_grad(GradContext& g) {
  g.set(0, batch_to_space(g.dy(), g.input(1), g.input(2)));
}
const Op& space_to_batch_op =
    OpBuilder("SpaceToBatchND", "space_to_batch")
        .input("input: T")
        .input("block_shape: Tblock_shape")
        .input("paddings: Tpaddings")
        .output("output: T")
        .type("T", kPlainTypes)
        .type("Tblock_shape", kIndexTypes, int32)
        .type("Tpaddings", kIndexTypes, int32)
        .doc("The padded input with the elements of each block as entries of a larger batch.")
        .shape(space_to_batch_shape)
        .gradient(space_to_batch_grad, "block_shape paddings")
        .host("block_shape paddings")
        .define();
void batch_to_space_grad(GradContext& g) {
  g.set(0, space_to_batch(g.dy(), g.input(1), g.input(2)));
}
const Op& batch_to_space_op =
    OpBuilder("BatchToSpaceND", "batch_to_space")
        .input("input: T")
        .input("block_shape: Tblock_shape")
        .input("crops: Tcrops")
        .output("output: T")
        .type("T", kPlainTypes)
        .type("Tblock_shape", kIndexTypes, int32)
        .type("Tcrops", kIndexTypes, int32)
        .doc("Entries of the batch as elements of blocks, then cropped: undoes SpaceToBatchND.")
        .shape(batch_to_space_shape)
        .gradient(batch_to_space_grad, "block_shape crops")
        .host("block_shape crops")
        .define();

}  // namespace

namespace nn {
Tensor space_to_depth(const Operand& x, int block_size, std::string_view data_format) {
  return execute(space_to_depth_op, {Arg(x)},
                 {{"block_size", block_size}, {"data_format", data_format}});
}
Tensor depth_to_space(const Operand& x, int block_size, std::string_view data_format) {
  return execute(depth_to_space_op, {Arg(x)},
                 {{"block_size", block_size}, {"data_format", data_format}});
}
}  // namespace nn

Tensor space_to_batch(const Operand& x, const Operand& block_shape, const Operand& paddings) {
  return execute(space_to_batch_op, {Arg(x), Arg(block_shape), Arg(paddings)});
}
Tensor batch_to_space(const Operand& x, const Operand& block_shape, const Operand& crops) {
  return execute(batch_to_space_op, {Arg(x), Arg(block_shape), Arg(crops)});
}

}  // namespace rill
