#pragma once
#include <string>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Pictures in files: JPEG, PNG, GIF and BMP as tensors [height, width, channels], and back. Names,
// arguments and defaults are TensorFlow's. `contents` is a string scalar: the bytes of a file, as
// read_file gives them. InvalidArgument for bytes that cannot be read, or that claim more
// pixels than they can hold (before memory is taken for these).
namespace rill RILL_API {
namespace io {

struct DecodeJpegOptions {
  int channels = 0;                    // of the result: 1 gray, 3 RGB, 0 those of the file
  int ratio = 1;                       // 1, 2, 4 or 8: so many times smaller, which is also quicker
  bool fancy_upscaling = true;         // of colours that are stored in fewer pixels
  bool try_recover_truncated = false;  // fills what is missing
  double acceptable_fraction = 1;      // of the lines; the others become black
  std::string dct_method = {};         // "INTEGER_FAST", the default, or "INTEGER_ACCURATE"
};
// uint8 [height, width, channels]. PNGs, and GIFs of one frame, are read, too.
Tensor decode_jpeg(const Operand& contents, const DecodeJpegOptions& options = {});
// Only the window [y, x, height, width] of a JPEG: quicker than to read all and crop.
Tensor decode_and_crop_jpeg(const Operand& contents, const Operand& crop_window,
                            const DecodeJpegOptions& options = {});
// [height, width, channels] of a JPEG, from its first bytes.
Tensor extract_jpeg_shape(const Operand& contents, DType output_type = int32);
// Whether the bytes begin as a JPEG does.
Tensor is_jpeg(const Operand& contents);

struct DecodePngOptions {
  int channels = 0;     // 1 gray, 3 RGB, 4 RGB and alpha, 0 those of the file
  DType dtype = uint8;  // or uint16
};
Tensor decode_png(const Operand& contents, const DecodePngOptions& options = {});

struct DecodeBmpOptions {
  int channels = 0;  // 3 RGB, 4 RGB and alpha, 0 those of the file
};
// BMPs of 8 bits (gray), 24 and 32 bits a pixel that are not compressed.
Tensor decode_bmp(const Operand& contents, const DecodeBmpOptions& options = {});

// uint8 [frames, height, width, 3]: what each frame shows, with what it lets through of those
// before it.
Tensor decode_gif(const Operand& contents);

struct DecodeImageOptions {
  int channels = 0;
  DType dtype = uint8;            // others as convert_image_dtype has it
  bool expand_animations = true;  // false: the first frame of a GIF, [height, width, 3]
};
// Any of the four; of a GIF [frames, height, width, 3]. Traced, its rank is known only
// without expand_animations.
Tensor decode_image(const Operand& contents, const DecodeImageOptions& options = {});

struct EncodeJpegOptions {
  std::string format = {};  // "grayscale", "rgb", or by the channels
  int quality = 95;         // 0 to 100
  bool progressive = false;
  bool optimize_size = false;       // without loss, but slower
  bool chroma_downsampling = true;  // colours in a quarter of the pixels
  std::string density_unit = "in";  // pixels per inch, or "cm"
  int x_density = 300;
  int y_density = 300;
  std::string xmp_metadata = {};
};
// uint8 [height, width, 1 or 3] as the bytes of a file.
Tensor encode_jpeg(const Operand& image, const EncodeJpegOptions& options = {});

struct EncodePngOptions {
  int compression = -1;  // 0, none, to 9; -1: the library's choice
};
// uint8 or uint16 [..., height, width, 1 to 4]: a string for each image.
Tensor encode_png(const Operand& image, const EncodePngOptions& options = {});

}  // namespace io

// TensorFlow has them below tf.image, too.
namespace image {

using io::decode_and_crop_jpeg, io::decode_bmp, io::decode_gif, io::decode_image, io::decode_jpeg,
    io::decode_png, io::encode_jpeg, io::encode_png, io::extract_jpeg_shape, io::is_jpeg;

// A float or integer image as it comes out of a JPEG of that quality, 0 to 100: same dtype.
Tensor adjust_jpeg_quality(const Operand& image, const Operand& jpeg_quality);

}  // namespace image
}  // namespace RILL_API
