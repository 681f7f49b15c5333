// Windows of images as vectors.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// So far reaches a window of `size` pixels that are `rate` apart.
std::int64_t reach(std::int64_t size, std::int64_t rate) { return (size - 1) * rate + 1; }
std::int64_t windows(std::int64_t in, std::int64_t size, std::int64_t stride, std::int64_t rate,
                     bool same) {
  if (in < 0) return -1;
  if (same) return (in + stride - 1) / stride;
  return std::max<std::int64_t>((in - reach(size, rate) + stride) / stride, 0);
}
void patches_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "images");
  constexpr std::int64_t kMost = 1 << 24;  // of pixels; no product is beyond 64 bits
  for (const char* name : {"ksizes", "strides", "rates"}) {
    const auto v = c.ints_attr(name);
    RILL_CHECK(v.size() == 4 && v[0] == 1 && v[3] == 1 && v[1] > 0 && v[2] > 0 && v[1] <= kMost &&
                   v[2] <= kMost,
               invalid_argument, "[{}] {} is {}; expected [1, rows, columns, 1], 1 or more",
               c.tag(), name, TensorShape(Dims(v)));
  }
  const std::string_view padding = c.string_attr("padding");
  RILL_CHECK(padding == "SAME" || padding == "VALID", invalid_argument,
             "[{}] padding is \"{}\"; expected \"SAME\" or \"VALID\"", c.tag(), padding);
  const TensorShape& s = c.input(0);
  if (!s.has_rank()) return c.set_output(0, TensorShape(Dims{-1, -1, -1, -1}));
  const auto size = c.ints_attr("ksizes"), stride = c.ints_attr("strides"),
             rate = c.ints_attr("rates");
  const bool same = padding == "SAME";
  c.set_output(0, TensorShape(Dims{s.dim(0), windows(s.dim(1), size[1], stride[1], rate[1], same),
                                   windows(s.dim(2), size[2], stride[2], rate[2], same),
                                   s.dim(3) < 0 ? -1 : s.dim(3) * size[1] * size[2]}));
}
extern const Op& patches_op;
// A pixel gets the sum of its places in the windows. These are found by cutting an image of the
// pixels' numbers, which begin at 1, in the same way.
void patches_grad(GradContext& g) {
  const Tensor sizes = cast(g.input_shape_tensor(0), int64);
  const Tensor batch = sizes(0), rows = sizes(1), columns = sizes(2), channels = sizes(3),
               pixels = rows * columns;
  const Tensor numbers =
      reshape(range(1, pixels + 1, 1),
              stack({constant(std::int64_t{1}), rows, columns, constant(std::int64_t{1})}));
  const Tensor cut = execute(patches_op, {numbers},
                             {{"ksizes", g.ints_attr("ksizes")},
                              {"strides", g.ints_attr("strides")},
                              {"rates", g.ints_attr("rates")},
                              {"padding", g.string_attr("padding")}});
  const Tensor of = reshape(cut, {-1}) - 1;  // -1, where there is padding, is left out
  const Tensor rest = stack({batch, size(of, int64), channels});
  const Tensor flat = reshape(rill::transpose(reshape(g.dy(), rest), {1, 0, 2}),
                              stack({size(of, int64), batch * channels}));
  const Tensor sums = unsorted_segment_sum(flat, of, pixels);
  g.set(0, rill::transpose(reshape(sums, stack({rows, columns, batch, channels})), {2, 0, 1, 3}));
}
const Op& patches_op = OpBuilder("ExtractImagePatches", "image.extract_patches")
                           .input("images: T")
                           .output("patches: T")
                           .attr("ksizes: list(int)")
                           .attr("strides: list(int)")
                           .attr("rates: list(int)")
                           .attr("padding: string")
                           .type("T", kPlainTypes)
                           .doc("Windows of images as vectors.")
                           .shape(patches_shape)
                           .gradient(patches_grad)
                           .define();

}  // namespace

namespace image {

Tensor extract_patches(const Operand& images, const std::vector<std::int64_t>& sizes,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& rates, std::string_view padding) {
  return execute(patches_op, {Arg(images)},
                 {{"ksizes", sizes}, {"strides", strides}, {"rates", rates}, {"padding", padding}});
}

}  // namespace image
}  // namespace rill
