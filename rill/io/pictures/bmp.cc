// BMP files as pixels.
#include <cstdlib>

#include "rill/base/check.h"
#include "rill/io/coding.h"
#include "rill/io/picture_impl.h"

namespace rill::io {
namespace {

// Of the file's header and of the first fields of the picture's.
constexpr std::size_t kBmpHeader = 32, kPixelsAt = 10, kWidthAt = 18, kHeightAt = 22, kBitsAt = 28;

std::uint32_t little(std::string_view bytes, std::size_t at, int n) {
  std::uint32_t v = 0;
  for (int i = n - 1; i >= 0; --i)
    v = v << 8 | static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
  return v;
}

}  // namespace

void read_bmp(std::string_view bytes, int channels, const PictureRoom& room) {
  RILL_CHECK(bytes.size() >= kBmpHeader, invalid_argument,
             "the BMP has {} bytes; expected {} of its header at least", bytes.size(), kBmpHeader);
  const std::int64_t at = static_cast<std::int32_t>(little(bytes, kPixelsAt, 4)),
                     width = static_cast<std::int32_t>(little(bytes, kWidthAt, 4)),
                     signed_height = static_cast<std::int32_t>(little(bytes, kHeightAt, 4)),
                     height = std::abs(signed_height);
  const int inside = static_cast<std::int16_t>(little(bytes, kBitsAt, 2)) / 8;
  RILL_CHECK(inside == 1 || inside == 3 || inside == 4, invalid_argument,
             "the BMP has {} bits a pixel; expected 8, 24 or 32",
             static_cast<std::int16_t>(little(bytes, kBitsAt, 2)));
  RILL_CHECK(width > 0 && height > 0 && at >= 0, invalid_argument,
             "the BMP says that it has {} x {} pixels from byte {} on", height, width, at);
  if (channels == 0) channels = inside;
  const PictureSize size{1, height, width, channels};
  check_picture_size(size, "BMP");
  // Lines are filled up to fours of bytes.
  const std::int64_t stride = (width * inside + 3) / 4 * 4,
                     given = static_cast<std::int64_t>(bytes.size());
  RILL_CHECK(at + stride * height == given, invalid_argument,
             "the BMP has {} bytes; expected {} for {} x {} pixels of {} bytes from byte {} on",
             given, at + stride * height, height, width, inside, at);
  auto* out = static_cast<std::uint8_t*>(room(size));
  if (!out) return;
  const auto* lines = reinterpret_cast<const std::uint8_t*>(bytes.data()) + at;
  for (std::int64_t y = 0; y < height; ++y) {
    // The lowest line comes first, unless the height is negative.
    const std::uint8_t* in = lines + (signed_height < 0 ? y : height - 1 - y) * stride;
    for (std::int64_t x = 0; x < width; ++x, in += inside, out += channels) {
      if (inside == 1) {
        for (int i = 0; i < channels; ++i) out[i] = i == 3 ? 255 : in[0];
        continue;
      }
      out[0] = in[2], out[1] = in[1], out[2] = in[0];
      if (channels == 4) out[3] = inside == 4 ? in[3] : 255;
    }
  }
}

}  // namespace rill::io
