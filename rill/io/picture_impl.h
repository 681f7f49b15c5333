#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rill/base/api.h"

// Pictures in files: what the ops on them share. The libraries are known to pictures/ alone. All of
// these throw InvalidArgument, and give no memory for a size that the bytes cannot fill.
namespace rill::io {

enum class PictureKind : std::uint8_t { unknown, jpeg, png, gif, bmp };
// By its first bytes.
PictureKind kind_of_picture(std::string_view bytes);

struct PictureSize {
  std::int64_t frames, height, width, channels;
};
// More numbers than this are no picture.
inline constexpr std::int64_t kMostPictureElements = std::int64_t{1} << 29;
// InvalidArgument unless a picture may have that size.
void check_picture_size(const PictureSize& size, std::string_view kind);
// Gives memory for a picture once its size is known; null where there is none, and then the
// reader returns: whoever gives memory has said why.
using PictureRoom = std::function<void*(const PictureSize& size)>;

struct JpegReading {
  int channels = 0;  // 0: those of the file
  int ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  bool accurate = false;  // the inverse cosine transform: slow and accurate, or fast
  bool crop = false;
  std::int64_t y = 0, x = 0, height = 0, width = 0;  // the part to be read
};
void read_jpeg(std::string_view bytes, const JpegReading& how, const PictureRoom& room);
PictureSize jpeg_size(std::string_view bytes);

struct JpegWriting {
  int quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool density_in_inches = true;  // else in centimetres
  int x_density = 300, y_density = 300;
  std::string_view xmp_metadata = {};
};
std::string write_jpeg(const std::uint8_t* pixels, const PictureSize& size, const JpegWriting& how);

// `bits` 8 or 16: of a number in the room, in this machine's order.
void read_png(std::string_view bytes, int channels, int bits, const PictureRoom& room);
std::string write_png(const void* pixels, const PictureSize& size, int bits, int compression);

// All frames, or the first; each shows what was drawn before it, too.
void read_gif(std::string_view bytes, bool all_frames, const PictureRoom& room);
// 8, 24 or 32 bits a pixel, not compressed.
void read_bmp(std::string_view bytes, int channels, const PictureRoom& room);

}  // namespace rill::io
