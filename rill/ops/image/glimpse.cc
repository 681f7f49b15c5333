// Windows around a place of each image.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void glimpse_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "input");
  require_rank(c, 1, 1, "size");
  require_rank(c, 2, 2, "offsets");
  const TensorShape &images = c.input(0), &offsets = c.input(2);
  RILL_CHECK(!c.input(1).has_rank() || c.input(1).dim(0) < 0 || c.input(1).dim(0) == 2,
             invalid_argument, "[{}] size has {} elements; expected 2: height, width", c.tag(),
             c.input(1).dim(0));
  RILL_CHECK(!offsets.has_rank() || offsets.dim(1) < 0 || offsets.dim(1) == 2, invalid_argument,
             "[{}] offsets has shape {}; expected [batch, 2]: y, x", c.tag(), offsets);
  const std::int64_t batch =
      merge_dims(images.has_rank() ? images.dim(0) : -1, offsets.has_rank() ? offsets.dim(0) : -1,
                 c.tag(), "input and offsets");
  const std::string_view noise = c.string_attr("noise");
  RILL_CHECK(noise == "uniform" || noise == "gaussian" || noise == "zero" || noise.empty(),
             invalid_argument,
             "[{}] noise is \"{}\"; expected \"uniform\", \"gaussian\" or \"zero\"", c.tag(),
             noise);
  std::int64_t height = -1, width = -1;
  if (const Tensor* value = c.input_value(1)) {
    const auto size = value->to_vector<std::int64_t>();
    height = size[0], width = size[1];
    RILL_CHECK(height > 0 && width > 0, invalid_argument,
               "[{}] size is {} x {}; expected 1 or more", c.tag(), height, width);
  }
  c.set_output(0, TensorShape(Dims{batch, height, width, images.has_rank() ? images.dim(3) : -1}));
}
const Op& glimpse_op = OpBuilder("ExtractGlimpseV2", "image.extract_glimpse")
                           .input("input: float32")
                           .input("size: int32")
                           .input("offsets: float32")
                           .output("glimpse: float32")
                           .attr("centered: bool = true")
                           .attr("normalized: bool = true")
                           .attr("uniform_noise: bool = true")
                           .attr("noise: string = 'uniform'")
                           .doc("A window around a place of each image.")
                           .shape(glimpse_shape)
                           .no_gradient()
                           .host("size")
                           .define();

}  // namespace

namespace image {

Tensor extract_glimpse(const Operand& input, const Operand& size, const Operand& offsets,
                       const ExtractGlimpseOptions& o) {
  return execute(glimpse_op, {Arg(input, float32), Arg(size, int32), Arg(offsets, float32)},
                 {{"centered", o.centered},
                  {"normalized", o.normalized},
                  {"uniform_noise", false},
                  {"noise", o.noise}});
}

}  // namespace image
}  // namespace rill
