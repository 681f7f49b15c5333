// Pictures in files. The goldens hold TensorFlow's pixels: PNG, GIF and BMP are equal, bit for bit;
// so are JPEGs, though one level would be allowed.
#include "rill/io/file.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/picture_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

// tools/picture_files.py writes them.
std::string bytes_of(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return io::file_contents(std::string(root ? root : ".") + "/rill/io/testdata/pictures/" + name);
}
Input picture(const std::string& name) { return strings({}, {bytes_of(name)}); }
Input u8(const TensorShape& shape) { return random(uint8, shape, 0, 255); }

const char* const kPngs[] = {"gray1.png",
                             "gray2.png",
                             "gray4.png",
                             "gray8.png",
                             "gray16.png",
                             "palette1.png",
                             "palette2.png",
                             "palette4.png",
                             "palette8.png",
                             "gray_alpha8.png",
                             "gray_alpha16.png",
                             "rgb8.png",
                             "rgb16.png",
                             "rgba8.png",
                             "rgba16.png",
                             "rgba8_interlaced.png",
                             "rgba16_interlaced.png",
                             "gray2_interlaced.png",
                             "palette4_interlaced.png",
                             "palette4_transparent.png",
                             "gray8_transparent.png",
                             "gray4_transparent.png",
                             "rgb8_transparent.png",
                             "rgb16_transparent.png",
                             "dot.png"};
const char* const kJpegs[] = {"rgb.jpg",   "rgb_full.jpg", "progressive.jpg", "gray.jpg",
                              "small.jpg", "cmyk.jpg",     "cmyk_adobe.jpg",  "ycck_adobe.jpg"};
const char* const kGifs[] = {"one.gif",         "one_interlaced.gif", "transparent.gif",
                             "small_first.gif", "animated.gif",       "black_and_white.gif",
                             "many_colors.gif"};
const char* const kBmps[] = {"bits8.bmp", "bits24.bmp", "bits32.bmp", "top_down.bmp"};

}  // namespace

RILL_ROWS(pictures) {
  Row& jpeg = row("DecodeJpeg").dtypes({float32});
  for (const char* name : kJpegs)
    jpeg.sample({picture(name)}).sample({picture(name)}, {{"channels", 3}});
  for (const char* name : {"rgb.jpg", "progressive.jpg", "gray.jpg"}) {
    jpeg.sample({picture(name)}, {{"channels", 1}})
        .sample({picture(name)}, {{"dct_method", "INTEGER_ACCURATE"}})
        .sample({picture(name)}, {{"fancy_upscaling", false}});
    for (int ratio : {2, 4, 8}) jpeg.sample({picture(name)}, {{"ratio", ratio}});
  }
  const std::string whole = bytes_of("rgb.jpg"), half = whole.substr(0, whole.size() * 2 / 3);
  jpeg.sample({strings({}, {half})}, {{"acceptable_fraction", 0.1}})
      .sample({picture("rgb8.png")})
      .sample({picture("one.gif")})
      .error({picture("animated.gif")}, {}, "the GIF has 4 frames; expected one")
      .error({picture("bits24.bmp")}, {}, "contents is a BMP")
      .error({strings({}, {half})}, {}, "the JPEG ends in line .* of 37; try_recover_truncated")
      .error({strings({}, {whole.substr(0, 100)})}, {}, "the JPEG cannot be read: its bytes end")
      .error({strings({}, {"hello"})}, {}, "contents is no picture that is known")
      .error({strings({}, {""})}, {}, "contents is empty")
      .error({strings({1}, {whole})}, {}, "contents must have rank 0")
      .error({picture("rgb.jpg")}, {{"channels", 2}}, "channels is 2; expected 0, 1, 3 or 4")
      .error({picture("rgb.jpg")}, {{"channels", 4}}, "channels is 4; a JPEG gives 1 or 3")
      .error({picture("rgb.jpg")}, {{"ratio", 3}}, "ratio is 3; expected 1, 2, 4 or 8")
      .error({picture("rgb.jpg")}, {{"dct_method", "FLOAT"}}, "dct_method is \"FLOAT\"");
  // What is missing differs between versions of libjpeg, what is there does not.
  row("io.decode_jpeg_truncated")
      .sample({strings({}, {half})})
      .call([](auto& in) {
        const Tensor whole_size = io::decode_jpeg(in[0], {.try_recover_truncated = true});
        return std::vector{shape(whole_size), slice(whole_size, {0, 0, 0}, {14, -1, -1})};
      })
      .tf("(lambda y: [tf.shape(y), y[:14]])(tf.io.decode_jpeg(x0, try_recover_truncated=True))")
      .dtypes({float32});
  Row& crop = row("DecodeAndCropJpeg").dtypes({float32});
  for (const char* name : {"rgb.jpg", "progressive.jpg", "gray.jpg"})
    for (const std::vector<double>& window : std::vector<std::vector<double>>{
             {0, 0, 37, 45}, {5, 7, 11, 13}, {16, 16, 16, 16}, {30, 40, 7, 5}, {0, 3, 1, 1}})
      crop.sample({picture(name), i32(window)});
  crop.sample({picture("cmyk_adobe.jpg"), i32({2, 3, 4, 9})}, {{"channels", 3}})
      .sample({picture("rgb.jpg"), i32({2, 3, 4, 9})}, {{"ratio", 2}, {"channels", 1}})
      .error({picture("rgb.jpg"), i32({2, 3, 40, 9})}, {}, "crop_window is \\[2, 3, 40, 9\\]")
      .error({picture("rgb.jpg"), i32({-1, 3, 4, 9})}, {}, "expected a part of 37 x 45 pixels")
      .error({picture("rgb.jpg"), i32({2, 3, 0, 9})}, {}, "expected a part of 37 x 45 pixels")
      .error({picture("rgb.jpg"), i32({2, 3, 4})}, {}, "crop_window has 3 elements; expected 4")
      .error({picture("rgb8.png"), i32({2, 3, 4, 5})}, {}, "contents is no JPEG");
  row("ExtractJpegShape")
      .sample({picture("rgb.jpg")})
      .sample({picture("gray.jpg")}, {{"output_type", int64}})
      .sample({picture("cmyk.jpg")})
      .dtypes({float32})
      .error({picture("rgb8.png")}, {}, "the JPEG cannot be read: Not a JPEG file");

  Row& png = row("DecodePng").dtypes({float32});
  for (const char* name : kPngs)
    for (DType dtype : {uint8, uint16}) {
      for (int channels : {0, 1, 3, 4})
        png.sample({picture(name)}, {{"channels", channels}, {"dtype", dtype}});
    }
  const std::string bytes = bytes_of("rgb8.png");
  std::string bad_sum = bytes, huge = bytes;
  bad_sum[60] ^= 1;
  png.sample({picture("gray.jpg")})
      .sample({picture("rgb.jpg")}, {{"dtype", uint16}})
      .sample({picture("one.gif")}, {{"dtype", uint16}})
      .error({strings({}, {bytes.substr(0, 200)})}, {},
             "the PNG cannot be read: its bytes end early")
      .error({strings({}, {bad_sum})}, {}, "the PNG cannot be read: ");

  Row& gif = row("DecodeGif").dtypes({float32});
  for (const char* name : kGifs) gif.sample({picture(name)});
  const std::string frames = bytes_of("animated.gif");
  gif.sample({strings({}, {frames.substr(0, frames.size() - 1)})})  // the end is not marked
      .sample({picture("rgb.jpg")})
      .sample({picture("rgba8.png")})
      .error({strings({}, {frames.substr(0, 60)})}, {},
             "line . of frame 0 of the GIF cannot be read")
      .error({strings({}, {frames.substr(0, 40)})}, {}, "it has no frame")
      .error({picture("no_colors.gif")}, {}, "frame 0 of the GIF has no colours");
  Row& bmp = row("DecodeBmp").dtypes({float32});
  for (const char* name : kBmps)
    for (int channels : {0, 3, 4}) bmp.sample({picture(name)}, {{"channels", channels}});
  const std::string map = bytes_of("bits24.bmp");
  bmp.error({strings({}, {map.substr(0, 31)})}, {}, "the BMP has 31 bytes; expected 32")
      .error({strings({}, {map + "x"})}, {}, "the BMP has 167 bytes; expected 166 for 7 x 5 pixels")
      .error({picture("bits24.bmp")}, {{"channels", 1}}, "channels is 1; a BMP gives 3 or 4")
      .error({picture("rgb.jpg")}, {}, "contents is no BMP");

  Row& any = row("DecodeImage").dtypes({float32});
  for (const char* name :
       {"small.jpg", "rgb16.png", "gray_alpha8.png", "bits8.bmp", "bits32.bmp", "animated.gif"})
    for (DType dtype : {uint8, uint16, float32})
      any.sample({picture(name)}, {{"dtype", dtype}})
          .sample({picture(name)}, {{"dtype", dtype}, {"expand_animations", false}});
  any.sample({picture("one.gif")}, {{"channels", 3}})
      .error({picture("one.gif")}, {{"channels", 1}}, "channels is 1; a GIF gives 3");
  row("io.decode_image")
      .sample({picture("small.jpg")})
      .sample({picture("rgba16.png")})
      .call([](auto& in) {
        return std::vector{io::decode_image(in[0], {.dtype = float64}),
                           io::decode_image(in[0], {.channels = 3, .dtype = int32}),
                           io::is_jpeg(in[0])};
      })
      .tf("[tf.io.decode_image(x0, dtype=tf.float64), tf.io.decode_image(x0, 3, tf.int32), "
          "tf.io.is_jpeg(x0)]")
      .dtypes({float32});

  // The bytes of our library and of TensorFlow's are the same: that of JPEGs is of one kind.
  row("EncodeJpeg")
      .sample({u8({9, 13, 3})})
      .sample({u8({9, 13, 1})})
      .sample({u8({9, 13, 3})}, {{"format", "rgb"}, {"quality", 30}})
      .sample({u8({9, 13, 1})}, {{"format", "grayscale"}, {"quality", 0}})
      .sample({u8({20, 17, 3})}, {{"progressive", true}, {"optimize_size", true}})
      .sample({u8({20, 17, 3})}, {{"chroma_downsampling", false}, {"quality", 100}})
      .sample({u8({1, 1, 3})}, {{"density_unit", "cm"}, {"x_density", 7}, {"y_density", 8}})
      .sample({u8({2, 2, 3})}, {{"xmp_metadata", "<x>hello</x>"}})
      .dtypes({float32})
      .error({u8({9, 13})}, {}, "image must have rank 3")
      .error({u8({9, 13, 2})}, {}, "shape \\[9, 13, 2\\]; expected 1 or 3 channels")
      .error({u8({9, 13, 3})}, {{"format", "grayscale"}}, "expected 1 channels")
      .error({u8({0, 13, 3})}, {}, "an image of 0 x 13 pixels")
      .error({u8({9, 13, 3})}, {{"quality", 101}}, "quality is 101; expected 0 to 100")
      .error({u8({9, 13, 3})}, {{"format", "cmyk"}}, "format is \"cmyk\"")
      .error({u8({9, 13, 3})}, {{"density_unit", "m"}}, "density_unit is \"m\"")
      .error({u8({9, 13, 3})}, {{"x_density", -1}}, "x_density is -1; expected 0 to 65535");
  row("EncodeJpegVariableQuality")
      .sample({u8({9, 13, 3}), i32_scalar(40)})
      .sample({u8({9, 13, 1}), i32_scalar(100)})
      .dtypes({float32})
      .error({u8({9, 13, 3}), i32_scalar(101)}, {}, "quality is 101; expected 0 to 100")
      .error({u8({9, 13, 3}), i32({1})}, {}, "quality must have rank 0");
  // Deflate may be of another version, so what counts is that it reads back.
  row("EncodePng")
      .sample({u8({5, 7, 1})})
      .sample({u8({5, 7, 2})})
      .sample({u8({5, 7, 3})})
      .sample({random(uint16, {5, 7, 4}, 0, 65535)})
      .sample({random(uint16, {5, 7, 1}, 0, 65535)})
      .dtypes({float32})
      .call([](auto& in) {
        return std::vector{
            io::decode_png(io::encode_png(in[0], {.compression = 3}), {.dtype = in[0].dtype()})};
      })
      .tf("tf.io.decode_png(tf.io.encode_png(x0, 3), dtype=x0.dtype)")
      .error({u8({5, 7})}, {}, "shape \\[5, 7\\]; expected \\[..., height, width, channels\\]")
      .error({u8({5, 7, 5})}, {}, "expected 1, 2, 3 or 4 channels")
      .error({u8({0, 7, 3})}, {}, "a PNG has one pixel at least");
  row("image.adjust_jpeg_quality")
      .sample({random(float32, {9, 13, 3}, 0, 1), i32_scalar(40)})
      .sample({random(float16, {9, 13, 1}, 0, 1), i32_scalar(90)})
      .sample({u8({9, 13, 3}), i32_scalar(70)})
      .call([](auto& in) { return std::vector{image::adjust_jpeg_quality(in[0], in[1])}; })
      .tf("tf.image.adjust_jpeg_quality(x0, x1)")
      .dtypes({float32})
      .error({u8({9, 13, 2}), i32_scalar(70)}, {}, "expected \\[height, width, 1 or 3\\]");
}

}  // namespace rill::conformance
