// Images of another size.
#include <algorithm>

#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image/resize_impl.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

constexpr TypeSet kImageTypes = kFloatTypes | TypeSet{int8, uint8, int16, uint16, int32, int64};

void check_corners(const ShapeContext& c) {
  RILL_CHECK(!(c.bool_attr("align_corners") && c.bool_attr("half_pixel_centers")), invalid_argument,
             "[{}] align_corners and half_pixel_centers are both true; expected at most one",
             c.tag());
}
// The sizes {height, width} that input i holds; -1 where they are not known.
Dims new_size(const ShapeContext& c, int i) {
  require_rank(c, i, 1, "size");
  RILL_CHECK(!c.input(i).has_rank() || c.input(i).dim(0) < 0 || c.input(i).dim(0) == 2,
             invalid_argument, "[{}] size has {} elements; expected 2: new_height, new_width",
             c.tag(), c.input(i).dim(0));
  const Tensor* value = c.input_value(i);
  if (!value) return {-1, -1};
  const auto list = value->to_vector<std::int64_t>();
  for (std::int64_t n : list)
    RILL_CHECK(n > 0, invalid_argument, "[{}] size is [{}, {}]; output dimensions must be positive",
               c.tag(), list[0], list[1]);
  return {list[0], list[1]};
}
void check_images(const ShapeContext& c, int i, std::string_view name) {
  require_rank(c, i, 4, name);
  const TensorShape& s = c.input(i);
  if (!s.has_rank()) return;
  RILL_CHECK(s.dim(1) != 0 && s.dim(2) != 0, invalid_argument,
             "[{}] {} has shape {}; images must be of non-zero size", c.tag(), name, s);
  RILL_CHECK(s.dim(3) != 0, invalid_argument,
             "[{}] {} has shape {}; images must have at least one channel", c.tag(), name, s);
}
// images, size -> resized_images.
void sized(ShapeContext& c) {
  check_images(c, 0, c.op().inputs[0].name);
  const Dims size = new_size(c, 1);
  const TensorShape& in = c.input(0);
  set_checked(c, 0,
              {in.has_rank() ? in.dim(0) : -1, size[0], size[1], in.has_rank() ? in.dim(3) : -1});
}
void resize_shape(ShapeContext& c) {
  check_corners(c);
  sized(c);
}
// grads, original_image -> as the original.
void same_images(ShapeContext& c) {
  check_images(c, 0, "grads");
  check_images(c, 1, "original_image");
  const TensorShape &g = c.input(0), &image = c.input(1);
  if (!g.has_rank() || !image.has_rank())
    return c.set_output(0, image.has_rank() ? image : TensorShape::unknown_dims(4));
  Dims out = image.dims();
  out[0] = merge_dims(g.dim(0), image.dim(0), c.tag(), "batches of grads and original_image");
  out[3] = merge_dims(g.dim(3), image.dim(3), c.tag(), "channels of grads and original_image");
  c.set_output(0, TensorShape(out));
}
void resize_grad_shape(ShapeContext& c) {
  check_corners(c);
  same_images(c);
}

// {height, width} of input i of a gradient.
Tensor size_of_input(GradContext& g, int i) {
  const TensorShape& s = g.input_shape(i);
  if (s.has_rank() && s.dim(1) >= 0 && s.dim(2) >= 0) return constant({s.dim(1), s.dim(2)}, int32);
  return cast(slice(g.input_shape_tensor(i), {1}, {2}), int32);
}
std::vector<Attr> corners(const AttrReader& r) {
  return {{"align_corners", r.bool_attr("align_corners")},
          {"half_pixel_centers", r.bool_attr("half_pixel_centers")}};
}
Tensor run(const Op& op, const Tensor& a, const Tensor& b, const AttrReader& r) {
  const In inputs[] = {a, b};
  const auto attrs = corners(r);
  return execute(op, inputs, attrs);
}
OpBuilder resize_op(std::string_view name, std::string_view tag) {
  OpBuilder b(name, tag);
  b.input("images: T")
      .input("size: int32")
      .host("size")
      .type("T", kImageTypes)
      .attr("align_corners: bool = false");
  return b;
}
OpBuilder resize_grad_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("grads: float32")
      .input("original_image: T")
      .output("output: T")
      .type("T", types)
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_grad_shape);
  return b;
}

extern const Op &bilinear_op, &bilinear_grad_op, &bicubic_op, &bicubic_grad_op, &nearest_op,
    &nearest_grad_op;

void bilinear_grad(GradContext& g) {
  if (g.input_dtype(0).is_floating()) g.set(0, run(bilinear_grad_op, g.dy(), g.input(0), g));
}
// Linear in grads; of the original image only the shape matters.
void bilinear_grad_grad(GradContext& g) {
  g.set(0, run(bilinear_op, g.dy(), size_of_input(g, 0), g));
}
const Op& bilinear_op = resize_op("ResizeBilinear", "resize_bilinear")
                            .output("resized_images: float32")
                            .attr("half_pixel_centers: bool = false")
                            .doc("Images of another size: between the four nearest pixels.")
                            .shape(resize_shape)
                            .gradient(bilinear_grad, "images")
                            .define();
const Op& bilinear_grad_op =
    resize_grad_op("ResizeBilinearGrad", "resize_bilinear_grad", kFloatTypes)
        .doc("The gradient of ResizeBilinear.")
        .gradient(bilinear_grad_grad)
        .define();

void bicubic_grad(GradContext& g) {
  const DType d = g.input_dtype(0);
  if (!d.is_floating()) return;
  if (d.itemsize() >= 4) return g.set(0, run(bicubic_grad_op, g.dy(), g.input(0), g));
  g.set(0, cast(run(bicubic_grad_op, g.dy(), cast(g.input(0), float32), g), d));
}
void bicubic_grad_grad(GradContext& g) {
  g.set(0, run(bicubic_op, g.dy(), size_of_input(g, 0), g));
}
const Op& bicubic_op =
    resize_op("ResizeBicubic", "resize_bicubic")
        .output("resized_images: float32")
        .attr("half_pixel_centers: bool = false")
        .doc("Images of another size: cubics through the sixteen nearest pixels.")
        .shape(resize_shape)
        .gradient(bicubic_grad, "images")
        .define();
const Op& bicubic_grad_op =
    resize_grad_op("ResizeBicubicGrad", "resize_bicubic_grad", kRealFloatTypes)
        .doc("The gradient of ResizeBicubic.")
        .gradient(bicubic_grad_grad)
        .define();

constexpr TypeSet kNearestGradTypes = kFloatTypes | TypeSet{uint8, int8, int32};
void nearest_grad(GradContext& g) {
  if (kNearestGradTypes.contains(g.input_dtype(0)))
    g.set(0, run(nearest_grad_op, g.dy(), size_of_input(g, 0), g));
}
void nearest_grad_grad(GradContext& g) {
  g.set(0, run(nearest_op, g.dy(), size_of_input(g, 0), g));
}
const Op& nearest_op = resize_op("ResizeNearestNeighbor", "resize_nearest_neighbor")
                           .output("resized_images: T")
                           .attr("half_pixel_centers: bool = false")
                           .doc("Images of another size: the nearest pixel.")
                           .shape(resize_shape)
                           .gradient(nearest_grad)
                           .define();
const Op& nearest_grad_op = OpBuilder("ResizeNearestNeighborGrad", "resize_nearest_neighbor_grad")
                                .input("grads: T")
                                .input("size: int32")
                                .output("output: T")
                                .host("size")
                                .type("T", kNearestGradTypes)
                                .attr("align_corners: bool = false")
                                .attr("half_pixel_centers: bool = false")
                                .doc("The gradient of ResizeNearestNeighbor for images of a size.")
                                .shape(resize_shape)
                                .gradient(nearest_grad_grad)
                                .define();

const Op& area_op = resize_op("ResizeArea", "resize_area")
                        .output("resized_images: float32")
                        .doc("Images of another size: the mean of what each pixel covers.")
                        .shape(sized)
                        .no_gradient()
                        .define();

// scale and translation: {of height, of width}.
void check_pair(const ShapeContext& c, int i, std::string_view name, bool positive) {
  require_rank(c, i, 1, name);
  RILL_CHECK(!c.input(i).has_rank() || c.input(i).dim(0) < 0 || c.input(i).dim(0) == 2,
             invalid_argument, "[{}] {} has {} elements; expected 2: of height and of width",
             c.tag(), name, c.input(i).dim(0));
  if (const Tensor* v = c.input_value(i); v && positive)
    for (double s : v->to_vector<double>())
      RILL_CHECK(s > 0, invalid_argument, "[{}] an element of {} is {}; expected more than 0",
                 c.tag(), name, s);
}
void check_filter(const ShapeContext& c) {
  const std::string_view k = c.string_attr("kernel_type");
  const std::string_view known[] = {"lanczos1", "lanczos3", "lanczos5",  "gaussian",
                                    "box",      "triangle", "keyscubic", "mitchellcubic"};
  RILL_CHECK(std::find(std::begin(known), std::end(known), k) != std::end(known), invalid_argument,
             "[{}] kernel_type is \"{}\"; expected lanczos1, lanczos3, lanczos5, gaussian, box, "
             "triangle, keyscubic or mitchellcubic",
             c.tag(), k);
  check_pair(c, 2, "scale", true);
  check_pair(c, 3, "translation", false);
}
void scale_and_translate_shape(ShapeContext& c) {
  check_filter(c);
  sized(c);
}
void scale_and_translate_grad_shape(ShapeContext& c) {
  check_filter(c);
  same_images(c);
}
extern const Op &translate_op, &translate_grad_op;
Tensor run_filter(const Op& op, const Tensor& a, const Tensor& b, GradContext& g) {
  return execute(
      op, {a, b, g.input(2), g.input(3)},
      {{"kernel_type", g.string_attr("kernel_type")}, {"antialias", g.bool_attr("antialias")}});
}
void translate_grad(GradContext& g) {
  const DType d = g.input_dtype(0);
  if (!d.is_floating()) return;
  if (d == float32) return g.set(0, run_filter(translate_grad_op, g.dy(), g.input(0), g));
  g.set(0, cast(run_filter(translate_grad_op, g.dy(), cast(g.input(0), float32), g), d));
}
void translate_grad_grad(GradContext& g) {
  g.set(0, run_filter(translate_op, g.dy(), size_of_input(g, 0), g));
}
const Op& translate_op =
    OpBuilder("ScaleAndTranslate", "scale_and_translate")
        .input("images: T")
        .input("size: int32")
        .input("scale: float32")
        .input("translation: float32")
        .output("resized_images: float32")
        .type("T", kImageTypes)
        .attr("kernel_type: string = 'lanczos3'")
        .attr("antialias: bool = true")
        .doc("Images scaled and moved, onto a canvas of a size, through a filter.")
        .shape(scale_and_translate_shape)
        .gradient(translate_grad, "images scale translation")
        .host("size scale translation")
        .define();
const Op& translate_grad_op = OpBuilder("ScaleAndTranslateGrad", "scale_and_translate_grad")
                                  .input("grads: T")
                                  .input("original_image: T")
                                  .input("scale: float32")
                                  .input("translation: float32")
                                  .output("output: T")
                                  .type("T", TypeSet{float32})
                                  .attr("kernel_type: string = 'lanczos3'")
                                  .attr("antialias: bool = true")
                                  .doc("The gradient of ScaleAndTranslate.")
                                  .shape(scale_and_translate_grad_shape)
                                  .gradient(translate_grad_grad, "scale translation")
                                  .host("scale translation")
                                  .define();

// {height, width} of a batch, float32.
Tensor sides_of(const Tensor& images) {
  const TensorShape& s = images.shape();
  return cast(s.dim(1) >= 0 && s.dim(2) >= 0 ? constant({s.dim(1), s.dim(2)}, int32)
                                             : slice(shape(images), {1}, {2}),
              float32);
}

// {height, width} with the proportions of `images`, as large as fits `size`.
Tensor fitting(const Tensor& images, const Tensor& size) {
  const Tensor old = sides_of(images);
  return cast(round(reduce_min(cast(size, float32) / old) * old), int32);
}

}  // namespace

Tensor resize_any(std::string_view tag, const Operand& images, const Operand& size, bool keep_ratio,
                  bool skip_same, const ResizeCall& op) {
  Arg given(images);
  const int rank = given->shape().rank();
  RILL_CHECK(rank == 3 || rank == 4, invalid_argument,
             "[{}] images has shape {}; expected 3 or 4 dimensions", tag, given->shape());
  Arg s(size, int32);
  RILL_CHECK(s->dtype() == int32 || s->dtype() == int64, invalid_argument,
             "[{}] size is {}; expected a list of 2 int32", tag, s->dtype());
  RILL_CHECK(s->shape().is_compatible_with({2}), invalid_argument,
             "[{}] size has shape {}; expected 2 elements: new_height, new_width", tag, s->shape());
  const Tensor batch = rank == 3 ? expand_dims(*given, 0) : *given;
  Tensor to = s->dtype() == int32 ? *s : cast(*s, int32);
  if (keep_ratio) to = fitting(batch, to);
  if (skip_same && !to.is_symbolic()) {
    const auto n = to.to_vector<std::int64_t>();
    if (n[0] == batch.shape().dim(1) && n[1] == batch.shape().dim(2)) return *given;
  }
  const Tensor out = op(batch, to);
  return rank == 3 ? squeeze(out, 0) : out;
}

namespace image {
Tensor resize(const Operand& images, const Operand& size, std::string_view method,
              const ResizeOptions& options) {
  constexpr std::string_view tag = "image::resize";
  const bool near = method == ResizeMethod::NEAREST_NEIGHBOR, area = method == ResizeMethod::AREA;
  const bool linear = method == ResizeMethod::BILINEAR, cubic = method == ResizeMethod::BICUBIC;
  const bool filter = method == ResizeMethod::LANCZOS3 || method == ResizeMethod::LANCZOS5 ||
                      method == ResizeMethod::GAUSSIAN || method == ResizeMethod::MITCHELLCUBIC;
  RILL_CHECK(near || area || linear || cubic || filter, invalid_argument,
             "[{}] method is \"{}\"; expected bilinear, nearest, bicubic, area, lanczos3, "
             "lanczos5, gaussian or mitchellcubic",
             tag, method);
  return resize_any(tag, images, size, options.preserve_aspect_ratio, false,
                    [&](const Tensor& x, const Tensor& to) {
                      if (area) return execute(area_op, {x, to});
                      if (near) return execute(nearest_op, {x, to}, {{"half_pixel_centers", true}});
                      if (!filter && !options.antialias)
                        return execute(linear ? bilinear_op : bicubic_op, {x, to},
                                       {{"half_pixel_centers", true}});
                      const Tensor scale = cast(to, float32) / sides_of(x);
                      return execute(translate_op, {x, to, scale, zeros({2})},
                                     {{"kernel_type", linear  ? "triangle"
                                                      : cubic ? "keyscubic"
                                                              : method},
                                      {"antialias", options.antialias}});
                    });
}
}  // namespace image

}  // namespace rill
