// Images moved, turned, scaled and tilted.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void transform_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "images");
  require_rank(c, 1, 2, "transforms");
  require_rank(c, 2, 1, "output_shape");
  require_rank(c, 3, 0, "fill_value");
  const TensorShape &x = c.input(0), &t = c.input(1), &size = c.input(2);
  RILL_CHECK(!t.has_rank() || t.dim(1) < 0 || t.dim(1) == 8, invalid_argument,
             "[{}] transforms has shape {}; expected 8 numbers for each image, or for all", c.tag(),
             t);
  RILL_CHECK(!t.has_rank() || !x.has_rank() || t.dim(0) < 0 || x.dim(0) < 0 || t.dim(0) == 1 ||
                 t.dim(0) == x.dim(0),
             invalid_argument,
             "[{}] transforms has shape {} and images {}; expected one transform, or one for each "
             "image",
             c.tag(), t, x);
  RILL_CHECK(!size.has_rank() || size.dim(0) < 0 || size.dim(0) == 2, invalid_argument,
             "[{}] output_shape has {} elements; expected height and width", c.tag(),
             size.has_rank() ? size.dim(0) : -1);
  const std::string_view fill = c.string_attr("fill_mode"), pick = c.string_attr("interpolation");
  RILL_CHECK(fill == "REFLECT" || fill == "WRAP" || fill == "CONSTANT" || fill == "NEAREST",
             invalid_argument,
             "[{}] fill_mode is \"{}\"; expected \"REFLECT\", \"WRAP\", \"CONSTANT\" or "
             "\"NEAREST\"",
             c.tag(), fill);
  RILL_CHECK(pick == "NEAREST" || pick == "BILINEAR", invalid_argument,
             "[{}] interpolation is \"{}\"; expected \"NEAREST\" or \"BILINEAR\"", c.tag(), pick);
  std::int64_t h = -1, w = -1;
  if (c.input_value(2)) {
    const Dims wanted = as_dims(*c.input_value(2), c.tag());
    RILL_CHECK(wanted.size() == 2 && wanted[0] > 0 && wanted[1] > 0, invalid_argument,
               "[{}] output_shape is {}; expected a positive height and width", c.tag(),
               TensorShape(wanted));
    h = wanted[0], w = wanted[1];
  }
  Dims out{x.has_rank() ? x.dim(0) : -1, h, w, x.has_rank() ? x.dim(3) : -1};
  set_checked(c, 0, out);
}

// By the inverse transform, as TensorFlow has it: exact where pixels go to pixels.
void transform_grad(GradContext& g);
const Op& transform_op =
    OpBuilder("ImageProjectiveTransformV3", "image.projective_transform")
        .input("images: dtype")
        .input("transforms: float32")
        .input("output_shape: int32")
        .input("fill_value: float32")
        .output("transformed_images: dtype")
        .type("dtype", kFloatTypes | TypeSet{uint8, int32, int64})
        .attr("interpolation: string")
        .attr("fill_mode: string = 'CONSTANT'")
        .doc("Images whose pixels are taken from where a projective transform says.")
        .shape(transform_shape)
        .gradient(transform_grad, "images transforms")
        .host("output_shape")
        .define();

void transform_grad(GradContext& g) {
  const Tensor t = g.input(1), images = g.input(0);
  const Tensor ones_of = ones({shape(t)[0], 1}, float32);
  const Tensor inverse = linalg::inv(reshape(concat({t, ones_of}, 1), {-1, 3, 3}));
  const Tensor flat = reshape(inverse, {-1, 9});
  const Tensor scaled = flat / flat(all, slice(8, 9));
  const Tensor sizes = shape(images)(slice(1, 3));
  g.set(0, execute(transform_op, {g.dy(), scaled(all, slice(0, 8)), sizes, constant(0.f)},
                   {{"interpolation", g.attr("interpolation").as_string()},
                    {"fill_mode", g.attr("fill_mode").as_string()}}));
}

}  // namespace

Tensor image::projective_transform(const Operand& images, const Operand& transforms,
                                   const Operand& output_shape,
                                   const ProjectiveTransformOptions& o) {
  const Arg x(images), t(transforms, float32), size(output_shape, int32);
  const Tensor fill = to_tensor(o.fill_value, float32);
  return execute(transform_op, {x, t, size, fill},
                 {{"interpolation", o.interpolation}, {"fill_mode", o.fill_mode}});
}

}  // namespace rill
