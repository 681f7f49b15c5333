// JPEG files as pixels, by libjpeg-turbo.
#include <algorithm>
#include <cstring>
#include <vector>

#include "rill/base/check.h"
#include "rill/io/picture_impl.h"
#include "rill/io/pictures/jpeg_impl.h"

namespace rill::io {
namespace {

// A file of many scans asks for the work of as many pictures.
constexpr int kMostScans = 500;
// A block of 64 pixels takes one bit at least, and no more than 1024 pixels share 9 blocks.
constexpr std::int64_t kPixelsPerByte = 1024;
// Bytes may be missing (or, in arithmetic coding, hold less than a bit a block).
constexpr std::int64_t kLoosely = 64;

// The bytes, and then the end of the picture, or nothing.
struct JpegSource {
  jpeg_source_mgr base;
  bool ends;  // with a marker of our own
  bool ran_out;
  JOCTET end[2];
};
::boolean jpeg_ran_out(j_decompress_ptr info) {
  auto* source = reinterpret_cast<JpegSource*>(info->src);
  source->ran_out = true;
  if (!source->ends) return FALSE;
  source->base.next_input_byte = source->end;
  source->base.bytes_in_buffer = 2;
  return TRUE;
}
void skip_jpeg(j_decompress_ptr info, long bytes) {
  if (bytes <= 0) return;
  const std::size_t n = std::min(static_cast<std::size_t>(bytes), info->src->bytes_in_buffer);
  info->src->next_input_byte += n;
  info->src->bytes_in_buffer -= n;
}
void watch_scans(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  auto* trouble = reinterpret_cast<JpegTrouble*>(info->err);
  std::snprintf(trouble->text, sizeof trouble->text, "it has more than %d scans", kMostScans);
  std::longjmp(trouble->place, 1);
}

class JpegReader {
 public:
  JpegReader(std::string_view bytes, bool ends) {
    info_.err = listen_to_jpeg(trouble_);
    source_.base.init_source = [](j_decompress_ptr) {};
    source_.base.term_source = [](j_decompress_ptr) {};
    source_.base.fill_input_buffer = jpeg_ran_out;
    source_.base.skip_input_data = skip_jpeg;
    source_.base.resync_to_restart = jpeg_resync_to_restart;
    source_.base.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source_.base.bytes_in_buffer = bytes.size();
    source_.ends = ends;
    source_.end[0] = 0xff, source_.end[1] = JPEG_EOI;
    progress_.progress_monitor = watch_scans;
    check(create());
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;

  void header() { check(header_read()); }
  void sizes() { check(sizes_known()); }
  void start() { check(started()); }
  void crop(JDIMENSION x, JDIMENSION width, JDIMENSION y) { check(cropped(x, width, y)); }
  // Reads a line at least; 0: the bytes end here.
  JDIMENSION lines(JSAMPROW* rows, JDIMENSION n) {
    JDIMENSION got = 0;
    check(lines_read(rows, n, &got));
    return got;
  }
  // What follows the last line does not matter.
  void finish() {
    if (setjmp(trouble_.place)) return;
    jpeg_finish_decompress(&info_);
  }
  bool ran_out() const { return source_.ran_out; }
  jpeg_decompress_struct& info() { return info_; }

 private:
  bool create() {
    if (setjmp(trouble_.place)) return false;
    jpeg_create_decompress(&info_);
    info_.src = &source_.base;
    info_.progress = &progress_;
    return true;
  }
  bool header_read() {
    if (setjmp(trouble_.place)) return false;
    return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  }
  bool sizes_known() {
    if (setjmp(trouble_.place)) return false;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }
  bool started() {
    if (setjmp(trouble_.place)) return false;
    return jpeg_start_decompress(&info_);
  }
  bool cropped(JDIMENSION x, JDIMENSION width, JDIMENSION y) {
    if (setjmp(trouble_.place)) return false;
    jpeg_crop_scanline(&info_, &x, &width);
    return jpeg_skip_scanlines(&info_, y) == y;
  }
  bool lines_read(JSAMPROW* rows, JDIMENSION n, JDIMENSION* got) {
    if (setjmp(trouble_.place)) return false;
    *got = jpeg_read_scanlines(&info_, rows, n);
    return true;
  }
  void check(bool good) {
    RILL_CHECK(good, invalid_argument, "the JPEG cannot be read: {}",
               trouble_.text[0] ? trouble_.text : "its bytes end early");
  }

  jpeg_decompress_struct info_{};
  JpegTrouble trouble_{};
  JpegSource source_{};
  jpeg_progress_mgr progress_{};
};

// Cyan, magenta, yellow and black of a line, which Adobe writes inverted, as RGB.
void cmyk_to_rgb(const JSAMPLE* in, bool inverted, std::int64_t pixels, std::uint8_t* out) {
  for (; pixels > 0; --pixels, in += 4, out += 3)
    for (int i = 0; i < 3; ++i)
      out[i] = static_cast<std::uint8_t>(inverted ? in[3] * in[i] / 255
                                                  : (255 - in[3]) * (255 - in[i]) / 255);
}

void set_colors(jpeg_decompress_struct& info, int channels) {
  RILL_CHECK(channels == 1 || channels == 3, invalid_argument,
             "the JPEG has {} components; expected 1, 3 or 4", info.num_components);
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
}

void check_claim(const jpeg_decompress_struct& info, std::size_t bytes, bool loosely) {
  check_picture_size({1, info.image_height, info.image_width, info.num_components}, "JPEG");
  std::int64_t most = static_cast<std::int64_t>(bytes) * kPixelsPerByte;
  if (loosely || info.arith_code) most *= kLoosely;
  const std::int64_t claimed = std::int64_t{info.image_height} * info.image_width;
  RILL_CHECK(claimed <= most, invalid_argument,
             "the JPEG says that it has {} x {} pixels, which is more than {} bytes can hold",
             info.image_height, info.image_width, bytes);
}

}  // namespace

PictureSize jpeg_size(std::string_view bytes) {
  JpegReader reader(bytes, false);
  reader.header();
  const auto& info = reader.info();
  return {1, info.image_height, info.image_width, info.num_components};
}

void read_jpeg(std::string_view bytes, const JpegReading& how, const PictureRoom& room) {
  // Lines are skipped by functions that must not be interrupted by an end.
  JpegReader reader(bytes, how.try_recover_truncated || how.crop);
  reader.header();
  auto& info = reader.info();
  check_claim(info, bytes.size(), how.try_recover_truncated);
  const int channels = how.channels ? how.channels : std::min(info.num_components, 3);
  set_colors(info, channels);
  info.do_fancy_upsampling = how.fancy_upscaling;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(how.ratio);
  info.dct_method = how.accurate ? JDCT_ISLOW : JDCT_IFAST;
  reader.sizes();
  std::int64_t height = info.output_height, width = info.output_width;
  if (how.crop) {
    RILL_CHECK(how.height > 0 && how.width > 0 && how.y >= 0 && how.x >= 0 &&
                   how.height <= height - how.y && how.width <= width - how.x,
               invalid_argument,
               "crop_window is [{}, {}, {}, {}] (y, x, height, width); expected a part of {} x {} "
               "pixels",
               how.y, how.x, how.height, how.width, height, width);
    height = how.height, width = how.width;
  }
  reader.start();
  if (how.crop)
    reader.crop(static_cast<JDIMENSION>(how.x), static_cast<JDIMENSION>(how.width),
                static_cast<JDIMENSION>(how.y));
  auto* out = static_cast<std::uint8_t*>(room({1, height, width, channels}));
  if (!out) return;

  // Lines of a part begin at a block, lines of inks have four numbers a pixel: those go over
  // a line of our own.
  const bool inks = info.out_color_space == JCS_CMYK, shifted = info.output_width != width;
  const std::int64_t stride = width * channels, depth = inks ? 4 : channels,
                     skipped = (info.output_width - width) * depth;
  std::vector<JSAMPLE> line(inks || shifted ? info.output_width * static_cast<std::size_t>(depth)
                                            : 0);
  constexpr std::int64_t kLinesAtOnce = 16;
  std::int64_t done = 0;
  while (done < height) {
    JSAMPROW rows[kLinesAtOnce];
    std::int64_t wanted = 1;
    if (line.empty()) {
      wanted = std::min(kLinesAtOnce, height - done);
      for (std::int64_t i = 0; i < wanted; ++i) rows[i] = out + (done + i) * stride;
    } else {
      rows[0] = line.data();
    }
    const std::int64_t got = reader.lines(rows, static_cast<JDIMENSION>(wanted));
    if (got == 0 || (reader.ran_out() && !how.try_recover_truncated && how.crop)) break;
    if (inks)
      cmyk_to_rgb(line.data() + skipped, info.saw_Adobe_marker, width, out + done * stride);
    else if (shifted)
      std::memcpy(out + done * stride, line.data() + skipped, static_cast<std::size_t>(stride));
    done += got;
  }
  if (done < height) {
    const double fraction = static_cast<double>(done) / static_cast<double>(height);
    RILL_CHECK(fraction >= std::min(1., how.acceptable_fraction), invalid_argument,
               "the JPEG ends in line {} of {}; try_recover_truncated reads such a file, "
               "acceptable_fraction takes what is there",
               done, height);
    std::memset(out + done * stride, 0, static_cast<std::size_t>((height - done) * stride));
    return;
  }
  if (info.output_scanline == info.output_height) reader.finish();
}

}  // namespace rill::io
