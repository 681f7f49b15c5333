// Pictures in files as tensors, and back.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/picture_ops.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

// The channels that are asked for, or -1.
std::int64_t channels_asked(const ShapeContext& c) {
  const std::int64_t n = c.int_attr("channels");
  RILL_CHECK(n == 0 || n == 1 || n == 3 || n == 4, invalid_argument,
             "[{}] channels is {}; expected 0, 1, 3 or 4", c.tag(), n);
  return n == 0 ? -1 : n;
}
void image_shape(ShapeContext& c) {
  require_rank(c, 0, 0, "contents");
  c.set_output(0, TensorShape(Dims{-1, -1, channels_asked(c)}));
}
void jpeg_shape(ShapeContext& c) {
  image_shape(c);
  const std::int64_t ratio = c.int_attr("ratio");
  RILL_CHECK(ratio == 1 || ratio == 2 || ratio == 4 || ratio == 8, invalid_argument,
             "[{}] ratio is {}; expected 1, 2, 4 or 8", c.tag(), ratio);
  const std::string_view method = c.string_attr("dct_method");
  RILL_CHECK(method.empty() || method == "INTEGER_FAST" || method == "INTEGER_ACCURATE",
             invalid_argument,
             "[{}] dct_method is \"{}\"; expected \"\", \"INTEGER_FAST\" or \"INTEGER_ACCURATE\"",
             c.tag(), method);
}
void crop_jpeg_shape(ShapeContext& c) {
  jpeg_shape(c);
  require_rank(c, 1, 1, "crop_window");
  const TensorShape& window = c.input(1);
  RILL_CHECK(!window.has_rank() || window.dim(0) < 0 || window.dim(0) == 4, invalid_argument,
             "[{}] crop_window has {} elements; expected 4: y, x, height, width", c.tag(),
             window.dim(0));
  std::int64_t height = -1, width = -1;
  if (const Tensor* value = c.input_value(1)) {
    const auto v = value->to_vector<std::int32_t>();
    // The kernel says what is wrong with others: it knows the picture's size.
    if (v[2] > 0 && v[3] > 0) height = v[2], width = v[3];
  }
  c.set_output(0, TensorShape(Dims{height, width, channels_asked(c)}));
}
void any_image_shape(ShapeContext& c) {
  require_rank(c, 0, 0, "contents");
  const std::int64_t channels = channels_asked(c);
  if (c.bool_attr("expand_animations")) return unknown_shape(c);
  c.set_output(0, TensorShape(Dims{-1, -1, channels}));
}

OpBuilder picture_op(const char* name, const char* tag) {
  return std::move(OpBuilder(name, tag).input("contents: string"));
}
OpBuilder& jpeg_attrs(OpBuilder& b) {
  return b.output("image: uint8")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''")
      .no_gradient();
}
const Op& decode_jpeg_op = []() -> const Op& {
  OpBuilder b = picture_op("DecodeJpeg", "io.decode_jpeg");
  return jpeg_attrs(b).doc("A JPEG as pixels.").shape(jpeg_shape).define();
}();
const Op& crop_jpeg_op = []() -> const Op& {
  OpBuilder b = picture_op("DecodeAndCropJpeg", "io.decode_and_crop_jpeg");
  b.input("crop_window: int32");
  return jpeg_attrs(b)
      .doc("A part of a JPEG as pixels.")
      .shape(crop_jpeg_shape)
      .host("crop_window")
      .define();
}();
const Op& decode_png_op = picture_op("DecodePng", "io.decode_png")
                              .output("image: dtype")
                              .attr("channels: int = 0")
                              .type("dtype", TypeSet{uint8, uint16}, uint8)
                              .doc("A PNG as pixels.")
                              .shape(image_shape)
                              .no_gradient()
                              .define();
const Op& decode_bmp_op = picture_op("DecodeBmp", "io.decode_bmp")
                              .output("image: uint8")
                              .attr("channels: int = 0")
                              .doc("A BMP as pixels.")
                              .shape(image_shape)
                              .no_gradient()
                              .define();
const Op& decode_gif_op = picture_op("DecodeGif", "io.decode_gif")
                              .output("image: uint8")
                              .doc("The frames of a GIF as pixels.")
                              .shape([](ShapeContext& c) {
                                require_rank(c, 0, 0, "contents");
                                c.set_output(0, TensorShape(Dims{-1, -1, -1, 3}));
                              })
                              .no_gradient()
                              .define();
const Op& decode_image_op = picture_op("DecodeImage", "io.decode_image")
                                .output("image: dtype")
                                .attr("channels: int = 0")
                                .type("dtype", TypeSet{uint8, uint16, float32}, uint8)
                                .attr("expand_animations: bool = true")
                                .doc("A JPEG, PNG, GIF or BMP as pixels.")
                                .shape(any_image_shape)
                                .no_gradient()
                                .define();
const Op& jpeg_shape_op = picture_op("ExtractJpegShape", "io.extract_jpeg_shape")
                              .output("image_shape: output_type")
                              .type("output_type", kIndexTypes, int32)
                              .doc("Height, width and channels of a JPEG.")
                              .shape([](ShapeContext& c) {
                                require_rank(c, 0, 0, "contents");
                                c.set_output(0, {3});
                              })
                              .no_gradient()
                              .define();

void require_channels(const ShapeContext& c, std::int64_t n, std::string_view expected, bool good) {
  RILL_CHECK(n < 0 || good, invalid_argument, "[{}] image has shape {}; expected {} channels",
             c.tag(), c.input(0), expected);
}
void encode_jpeg_shape(ShapeContext& c) {
  require_rank(c, 0, 3, "image");
  const std::int64_t n = c.input(0).has_rank() ? c.input(0).dim(2) : -1;
  const std::string_view format = c.string_attr("format"), unit = c.string_attr("density_unit");
  const std::int64_t quality = c.int_attr("quality");
  RILL_CHECK(format.empty() || format == "grayscale" || format == "rgb", invalid_argument,
             "[{}] format is \"{}\"; expected \"\", \"grayscale\" or \"rgb\"", c.tag(), format);
  RILL_CHECK(unit == "in" || unit == "cm", invalid_argument,
             "[{}] density_unit is \"{}\"; expected \"in\" or \"cm\"", c.tag(), unit);
  RILL_CHECK(quality >= 0 && quality <= 100, invalid_argument,
             "[{}] quality is {}; expected 0 to 100", c.tag(), quality);
  for (const char* name : {"x_density", "y_density"})
    RILL_CHECK(c.int_attr(name) >= 0 && c.int_attr(name) <= 0xffff, invalid_argument,
               "[{}] {} is {}; expected 0 to {}", c.tag(), name, c.int_attr(name), 0xffff);
  if (format == "grayscale") require_channels(c, n, "1", n == 1);
  if (format == "rgb") require_channels(c, n, "3", n == 3);
  if (format.empty()) require_channels(c, n, "1 or 3", n == 1 || n == 3);
  scalar_shape(c);
}
const Op& encode_jpeg_op = OpBuilder("EncodeJpeg", "io.encode_jpeg")
                               .input("image: uint8")
                               .output("contents: string")
                               .attr("format: string = ''")
                               .attr("quality: int = 95")
                               .attr("progressive: bool = false")
                               .attr("optimize_size: bool = false")
                               .attr("chroma_downsampling: bool = true")
                               .attr("density_unit: string = 'in'")
                               .attr("x_density: int = 300")
                               .attr("y_density: int = 300")
                               .attr("xmp_metadata: string = ''")
                               .doc("Pixels as a JPEG.")
                               .shape(encode_jpeg_shape)
                               .no_gradient()
                               .define();
const Op& encode_jpeg_quality_op =
    OpBuilder("EncodeJpegVariableQuality", "image.adjust_jpeg_quality")
        .input("images: uint8")
        .input("quality: int32")
        .output("contents: string")
        .doc("Pixels as a JPEG of a quality that a tensor says.")
        .shape([](ShapeContext& c) {
          require_rank(c, 0, 3, "images");
          require_rank(c, 1, 0, "quality");
          const std::int64_t n = c.input(0).has_rank() ? c.input(0).dim(2) : -1;
          require_channels(c, n, "1 or 3", n == 1 || n == 3);
          scalar_shape(c);
        })
        .no_gradient()
        .host("quality")
        .define();
void encode_png_shape(ShapeContext& c) {
  const TensorShape& s = c.input(0);
  const std::int64_t level = c.int_attr("compression");
  RILL_CHECK(level >= -1 && level <= 9, invalid_argument,
             "[{}] compression is {}; expected -1 to 9", c.tag(), level);
  if (!s.has_rank()) return unknown_shape(c);
  RILL_CHECK(s.rank() >= 3, invalid_argument,
             "[{}] image has shape {}; expected [..., height, width, channels]", c.tag(), s);
  require_channels(c, s.dim(-1), "1, 2, 3 or 4", s.dim(-1) >= 1 && s.dim(-1) <= 4);
  Dims batch = s.dims();
  batch.resize(batch.size() - 3);
  c.set_output(0, TensorShape(batch));
}
const Op& encode_png_op = OpBuilder("EncodePng", "io.encode_png")
                              .input("image: T")
                              .output("contents: string")
                              .attr("compression: int = -1")
                              .type("T", TypeSet{uint8, uint16}, uint8)
                              .doc("Pixels as PNGs.")
                              .shape(encode_png_shape)
                              .no_gradient()
                              .define();

}  // namespace

namespace io {

Tensor decode_jpeg(const Operand& contents, const DecodeJpegOptions& o) {
  return execute(decode_jpeg_op, {Arg(contents)},
                 {{"channels", o.channels},
                  {"ratio", o.ratio},
                  {"fancy_upscaling", o.fancy_upscaling},
                  {"try_recover_truncated", o.try_recover_truncated},
                  {"acceptable_fraction", o.acceptable_fraction},
                  {"dct_method", o.dct_method}});
}
Tensor decode_and_crop_jpeg(const Operand& contents, const Operand& crop_window,
                            const DecodeJpegOptions& o) {
  return execute(crop_jpeg_op, {Arg(contents), Arg(crop_window, int32)},
                 {{"channels", o.channels},
                  {"ratio", o.ratio},
                  {"fancy_upscaling", o.fancy_upscaling},
                  {"try_recover_truncated", o.try_recover_truncated},
                  {"acceptable_fraction", o.acceptable_fraction},
                  {"dct_method", o.dct_method}});
}
Tensor extract_jpeg_shape(const Operand& contents, DType output_type) {
  return execute(jpeg_shape_op, {Arg(contents)}, {{"output_type", output_type}});
}
Tensor is_jpeg(const Operand& contents) {
  return equal(strings::substr(contents, 0, 3), "\xff\xd8\xff");
}
Tensor decode_png(const Operand& contents, const DecodePngOptions& o) {
  return execute(decode_png_op, {Arg(contents)}, {{"channels", o.channels}, {"dtype", o.dtype}});
}
Tensor decode_bmp(const Operand& contents, const DecodeBmpOptions& o) {
  return execute(decode_bmp_op, {Arg(contents)}, {{"channels", o.channels}});
}
Tensor decode_gif(const Operand& contents) { return execute(decode_gif_op, {Arg(contents)}); }
Tensor decode_image(const Operand& contents, const DecodeImageOptions& o) {
  const bool direct = o.dtype == uint8 || o.dtype == uint16 || o.dtype == float32;
  const Tensor y = execute(decode_image_op, {Arg(contents)},
                           {{"channels", o.channels},
                            {"dtype", direct ? o.dtype : uint16},
                            {"expand_animations", o.expand_animations}});
  return direct ? y : image::convert_image_dtype(y, o.dtype);
}
Tensor encode_jpeg(const Operand& image, const EncodeJpegOptions& o) {
  return execute(encode_jpeg_op, {Arg(image, uint8)},
                 {{"format", o.format},
                  {"quality", o.quality},
                  {"progressive", o.progressive},
                  {"optimize_size", o.optimize_size},
                  {"chroma_downsampling", o.chroma_downsampling},
                  {"density_unit", o.density_unit},
                  {"x_density", o.x_density},
                  {"y_density", o.y_density},
                  {"xmp_metadata", o.xmp_metadata}});
}
Tensor encode_png(const Operand& image, const EncodePngOptions& o) {
  return execute(encode_png_op, {Arg(image, uint8)}, {{"compression", o.compression}});
}

}  // namespace io

namespace image {

Tensor adjust_jpeg_quality(const Operand& image, const Operand& jpeg_quality) {
  const Arg x(image), quality(jpeg_quality, int32);
  const TensorShape& s = x->shape();
  const std::int64_t channels = s.has_rank() && s.rank() == 3 ? s.dim(2) : s.has_rank() ? 0 : -1;
  RILL_CHECK(channels == 1 || channels == 3 || channels < 0, invalid_argument,
             "[image.adjust_jpeg_quality] image has shape {}; expected [height, width, 1 or 3]", s);
  const Tensor bytes =
      execute(encode_jpeg_quality_op, {convert_image_dtype(*x, uint8, true), quality});
  const Tensor y =
      decode_jpeg(bytes, {.channels = static_cast<int>(std::max<std::int64_t>(channels, 0))});
  return convert_image_dtype(y, x->dtype(), true);
}

}  // namespace image
}  // namespace rill
