// Pixels as JPEG files, by libjpeg-turbo.
#include <cstdlib>

#include "rill/base/check.h"
#include "rill/io/picture_impl.h"
#include "rill/io/pictures/jpeg_impl.h"

namespace rill::io {
namespace {

// Adobe's name for the segment that holds XMP, with the zero at its end.
constexpr std::string_view kXmp("http://ns.adobe.com/xap/1.0/", 29);
constexpr std::size_t kLongestSegment = 65533;
constexpr std::int64_t kLongestSide = JPEG_MAX_DIMENSION;

class JpegWriter {
 public:
  JpegWriter() { info_.err = listen_to_jpeg(trouble_); }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  JpegWriter(const JpegWriter&) = delete;

  // `segment`: XMP under its name, or nothing.
  bool write(const std::uint8_t* pixels, const PictureSize& size, const JpegWriting& how,
             std::string_view segment) {
    if (setjmp(trouble_.place)) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &bytes_, &size_);
    info_.image_width = static_cast<JDIMENSION>(size.width);
    info_.image_height = static_cast<JDIMENSION>(size.height);
    info_.input_components = static_cast<int>(size.channels);
    info_.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    info_.optimize_coding = how.optimize_size;
    info_.density_unit = how.density_in_inches ? 1 : 2;
    info_.X_density = static_cast<UINT16>(how.x_density);
    info_.Y_density = static_cast<UINT16>(how.y_density);
    jpeg_set_quality(&info_, how.quality, TRUE);
    if (how.progressive) jpeg_simple_progression(&info_);
    if (!how.chroma_downsampling)
      for (int i = 0; i < info_.num_components; ++i)
        info_.comp_info[i].h_samp_factor = info_.comp_info[i].v_samp_factor = 1;
    jpeg_start_compress(&info_, TRUE);
    if (!segment.empty())
      jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(segment.data()),
                        static_cast<unsigned>(segment.size()));
    while (info_.next_scanline < info_.image_height) {
      // The library does not write to it.
      auto* line = const_cast<JSAMPLE*>(pixels) +
                   static_cast<std::int64_t>(info_.next_scanline) * size.width * size.channels;
      jpeg_write_scanlines(&info_, &line, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  const char* trouble() const { return trouble_.text; }

 private:
  jpeg_compress_struct info_{};
  JpegTrouble trouble_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::string write_jpeg(const std::uint8_t* pixels, const PictureSize& size,
                       const JpegWriting& how) {
  RILL_CHECK(size.height > 0 && size.width > 0 && size.height <= kLongestSide &&
                 size.width <= kLongestSide,
             invalid_argument, "an image of {} x {} pixels; a JPEG has sides of 1 to {}",
             size.height, size.width, kLongestSide);
  std::string segment;
  if (!how.xmp_metadata.empty()) segment.append(kXmp).append(how.xmp_metadata);
  RILL_CHECK(segment.size() <= kLongestSegment, invalid_argument,
             "xmp_metadata has {} bytes; expected at most {}", how.xmp_metadata.size(),
             kLongestSegment - kXmp.size());
  JpegWriter writer;
  RILL_CHECK(writer.write(pixels, size, how, segment), invalid_argument,
             "the JPEG cannot be written: {}", writer.trouble());
  return std::string(writer.bytes());
}

}  // namespace rill::io
