// Boxes cut out of images and made one size.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"

namespace rill {
namespace {

constexpr TypeSet kCropTypes =
    kRealFloatTypes | TypeSet{float16, int8, uint8, int16, uint16, int32, int64};
constexpr TypeSet kCropGradTypes = kRealFloatTypes | TypeSet{float16};

// boxes [n, 4] and box_ind [n]; gives n, -1 when it is unknown.
std::int64_t check_boxes(const ShapeContext& c, int boxes, bool bilinear_only) {
  const std::string_view method = c.string_attr("method");
  RILL_CHECK(method == "bilinear" || (method == "nearest" && !bilinear_only), invalid_argument,
             "[{}] method is \"{}\"; expected {}", c.tag(), method,
             bilinear_only ? "bilinear" : "bilinear or nearest");
  require_rank(c, boxes, 2, "boxes");
  require_rank(c, boxes + 1, 1, "box_ind");
  const TensorShape &b = c.input(boxes), &i = c.input(boxes + 1);
  RILL_CHECK(!b.has_rank() || b.dim(1) < 0 || b.dim(1) == 4, invalid_argument,
             "[{}] boxes has shape {}; expected 4 columns: y1, x1, y2, x2", c.tag(), b);
  return merge_dims(b.has_rank() ? b.dim(0) : -1, i.has_rank() ? i.dim(0) : -1, c.tag(),
                    "boxes and box_ind");
}
void check_image(const ShapeContext& c, int i) {
  require_rank(c, i, 4, "image");
  const TensorShape& s = c.input(i);
  RILL_CHECK(!s.has_rank() || (s.dim(1) != 0 && s.dim(2) != 0), invalid_argument,
             "[{}] image has shape {}; images must be of non-zero size", c.tag(), s);
}
std::vector<std::int64_t> sizes(const ShapeContext& c, int i, std::int64_t count,
                                std::string_view name) {
  require_rank(c, i, 1, name);
  RILL_CHECK(!c.input(i).has_rank() || c.input(i).dim(0) < 0 || c.input(i).dim(0) == count,
             invalid_argument, "[{}] {} has {} elements; expected {}", c.tag(), name,
             c.input(i).dim(0), count);
  const Tensor* value = c.input_value(i);
  return value ? value->to_vector<std::int64_t>()
               : std::vector<std::int64_t>(static_cast<std::size_t>(count), -1);
}

void crop_shape(ShapeContext& c) {
  check_image(c, 0);
  const std::int64_t n = check_boxes(c, 1, false);
  const auto size = sizes(c, 3, 2, "crop_size");
  if (c.input_value(3))
    RILL_CHECK(size[0] > 0 && size[1] > 0, invalid_argument,
               "[{}] crop_size is [{}, {}]; crop dimensions must be positive", c.tag(), size[0],
               size[1]);
  set_checked(c, 0, {n, size[0], size[1], c.input(0).has_rank() ? c.input(0).dim(3) : -1});
}
void crop_grad_image_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "grads");
  const std::int64_t n = check_boxes(c, 1, false);
  const auto size = sizes(c, 3, 4, "image_size");
  const TensorShape& g = c.input(0);
  if (g.has_rank()) merge_dims(g.dim(0), n, c.tag(), "grads and boxes");
  if (c.input_value(3)) {
    RILL_CHECK(size[0] >= 0 && size[1] > 0 && size[2] > 0 && size[3] >= 0, invalid_argument,
               "[{}] image_size is [{}, {}, {}, {}]; image dimensions must be positive", c.tag(),
               size[0], size[1], size[2], size[3]);
    if (g.has_rank()) merge_dims(g.dim(3), size[3], c.tag(), "channels of grads and image_size");
  }
  set_checked(c, 0, {size[0], size[1], size[2], size[3]});
}
void crop_grad_boxes_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "grads");
  check_image(c, 1);
  const std::int64_t n = check_boxes(c, 2, true);
  const TensorShape &g = c.input(0), &image = c.input(1);
  if (g.has_rank()) merge_dims(g.dim(0), n, c.tag(), "grads and boxes");
  if (g.has_rank() && image.has_rank())
    merge_dims(g.dim(3), image.dim(3), c.tag(), "channels of grads and image");
  c.set_output(0, {n >= 0 ? Dim(n) : None, 4});
}

extern const Op &crop_op, &crop_grad_image_op, &crop_grad_boxes_op;
void crop_grad(GradContext& g) {
  const DType d = g.input_dtype(0);
  if (g.needs(0) && kCropGradTypes.contains(d))
    g.set(0, execute(crop_grad_image_op,
                     {g.dy(), g.input(1), g.input(2), cast(shape_of_input(g, 0), int32)},
                     {{"T", d}, {"method", g.string_attr("method")}}));
  if (g.needs(1))
    g.set(1, execute(crop_grad_boxes_op, {g.dy(), g.input(0), g.input(1), g.input(2)}));
}
// Linear in grads; what a box's place does to it is left out, as TensorFlow does.
void crop_grad_image_grad(GradContext& g) {
  const TensorShape& s = g.input_shape(0);
  const Tensor size = s.is_fully_defined() ? constant({s.dim(1), s.dim(2)}, int32)
                                           : cast(slice(g.input_shape_tensor(0), {1}, {2}), int32);
  g.set(0, execute(crop_op, {g.dy(), g.input(1), g.input(2), size},
                   {{"method", g.string_attr("method")}}));
}
const Op& crop_op = OpBuilder("CropAndResize", "crop_and_resize")
                        .input("image: T")
                        .input("boxes: float32")
                        .input("box_ind: int32")
                        .input("crop_size: int32")
                        .output("crops: float32")
                        .type("T", kCropTypes)
                        .attr("method: string = 'bilinear'")
                        .attr("extrapolation_value: float = 0")
                        .doc("Boxes cut out of images and made one size.")
                        .shape(crop_shape)
                        .gradient(crop_grad, "image boxes box_ind")
                        .host("crop_size")
                        .define();
const Op& crop_grad_image_op = OpBuilder("CropAndResizeGradImage", "crop_and_resize_grad_image")
                                   .input("grads: float32")
                                   .input("boxes: float32")
                                   .input("box_ind: int32")
                                   .input("image_size: int32")
                                   .output("output: T")
                                   .type("T", kCropGradTypes)
                                   .attr("method: string = 'bilinear'")
                                   .doc("The gradient of CropAndResize for the image.")
                                   .shape(crop_grad_image_shape)
                                   .gradient(crop_grad_image_grad, "boxes box_ind")
                                   .host("image_size")
                                   .define();
const Op& crop_grad_boxes_op = OpBuilder("CropAndResizeGradBoxes", "crop_and_resize_grad_boxes")
                                   .input("grads: float32")
                                   .input("image: T")
                                   .input("boxes: float32")
                                   .input("box_ind: int32")
                                   .output("output: float32")
                                   .type("T", kCropTypes)
                                   .attr("method: string = 'bilinear'")
                                   .doc("The gradient of CropAndResize for the boxes.")
                                   .shape(crop_grad_boxes_shape)
                                   .no_gradient()
                                   .define();

}  // namespace

namespace image {
Tensor crop_and_resize(const Operand& image, const Operand& boxes, const Operand& box_indices,
                       const Operand& crop_size, const CropAndResizeOptions& options) {
  return execute(
      crop_op, {Arg(image), Arg(boxes, float32), Arg(box_indices, int32), Arg(crop_size, int32)},
      {{"method", options.method}, {"extrapolation_value", options.extrapolation_value}});
}
}  // namespace image

}  // namespace rill
