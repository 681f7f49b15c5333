#include "rill/base/check.h"
#include "rill/io/picture_impl.h"

namespace rill::io {

PictureKind kind_of_picture(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) return PictureKind::jpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return PictureKind::png;
  if (bytes.starts_with("GIF8")) return PictureKind::gif;
  if (bytes.starts_with("BM")) return PictureKind::bmp;
  return PictureKind::unknown;
}

void check_picture_size(const PictureSize& s, std::string_view kind) {
  // One after the other, so that no product is beyond 64 bits.
  bool fits = s.frames > 0 && s.height > 0 && s.width > 0 && s.channels > 0;
  std::int64_t n = s.channels;
  for (std::int64_t side : {s.width, s.height, s.frames})
    fits = fits && side <= kMostPictureElements / n && (n *= side) > 0;
  RILL_CHECK(fits, invalid_argument,
             "the {} says that it has {} frames of {} x {} pixels of {} channels; expected at most "
             "{} numbers, and none of these to be 0",
             kind, s.frames, s.height, s.width, s.channels, kMostPictureElements);
}

}  // namespace rill::io
