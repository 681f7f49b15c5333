// PNG files as pixels and back, by libpng.
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <png.h>

#include "rill/base/check.h"
#include "rill/io/picture_impl.h"

namespace rill::io {
namespace {

// Deflate makes at most so many bytes of one.
constexpr std::int64_t kDeflateRatio = 1032;

// libpng reports errors by a jump, as libjpeg does (jpeg_impl.h): functions that call it hold
// nothing that would have to be destroyed.
struct PngTrouble {
  std::jmp_buf place;
  char text[128];
};
[[noreturn]] void leave_png(png_structp png, png_const_charp message) {
  auto* trouble = static_cast<PngTrouble*>(png_get_error_ptr(png));
  std::snprintf(trouble->text, sizeof trouble->text, "%s", message);
  std::longjmp(trouble->place, 1);
}
void hush_png(png_structp, png_const_charp) {}

class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : left_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &trouble_, leave_png, hush_png);
    if (png_) info_ = png_create_info_struct(png_);
    RILL_CHECK(info_, resource_exhausted, "there is no memory to read a PNG");
    png_set_read_fn(png_, &left_, take);
  }
  ~PngReader() { png_destroy_read_struct(&png_, info_ ? &info_ : nullptr, nullptr); }
  PngReader(const PngReader&) = delete;

  png_uint_32 width = 0, height = 0;
  int depth = 0, color = 0, file_channels = 0;
  bool transparent = false;  // has an entry or a colour that is

  void header() { check(header_read()); }
  // Converts to `channels` of `bits`; 8 bits stay 8 where 16 are asked for.
  void convert(int channels, int bits) { check(converted(channels, bits)); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  void rows(std::uint8_t* out, std::size_t stride) { check(rows_read(out, stride)); }

 private:
  static void take(png_structp png, png_bytep to, std::size_t n) {
    auto* left = static_cast<std::string_view*>(png_get_io_ptr(png));
    if (n > left->size()) png_error(png, "its bytes end early");
    std::memcpy(to, left->data(), n);
    left->remove_prefix(n);
  }
  bool header_read() {
    if (setjmp(trouble_.place)) return false;
    png_read_info(png_, info_);
    png_get_IHDR(png_, info_, &width, &height, &depth, &color, nullptr, nullptr, nullptr);
    file_channels = png_get_channels(png_, info_);
    transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    return true;
  }
  bool converted(int channels, int bits) {
    if (setjmp(trouble_.place)) return false;
    const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0,
               gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (channels % 2 == 0 && !alpha) {
      if (transparent)
        png_set_tRNS_to_alpha(png_);
      else
        png_set_add_alpha(png_, (1u << depth) - 1, PNG_FILLER_AFTER);
    } else if (channels % 2 == 1 && (alpha || transparent)) {
      png_set_strip_alpha(png_);
    }
    if (depth > 8 && bits == 8) png_set_strip_16(png_);
    png_set_packing(png_);
    passes_ = png_set_interlace_handling(png_);
    if (bits == 16) png_set_swap(png_);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels < 3 && !gray) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    if (channels > 2 && gray) png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool rows_read(std::uint8_t* out, std::size_t stride) {
    if (setjmp(trouble_.place)) return false;
    for (int pass = 0; pass < passes_; ++pass)
      for (png_uint_32 y = 0; y < height; ++y) png_read_row(png_, out + y * stride, nullptr);
    png_read_end(png_, info_);
    return true;
  }
  void check(bool good) {
    RILL_CHECK(good, invalid_argument, "the PNG cannot be read: {}", trouble_.text);
  }

  PngTrouble trouble_{};
  std::string_view left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &trouble_, leave_png, hush_png);
    if (png_) info_ = png_create_info_struct(png_);
    RILL_CHECK(info_, resource_exhausted, "there is no memory to write a PNG");
    png_set_write_fn(png_, &bytes_, put, [](png_structp) {});
  }
  ~PngWriter() { png_destroy_write_struct(&png_, info_ ? &info_ : nullptr); }
  PngWriter(const PngWriter&) = delete;

  bool write(const std::uint8_t* pixels, const PictureSize& size, int bits, int compression) {
    constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
    constexpr int kAllMemory = 9;  // that deflate may take
    if (setjmp(trouble_.place)) return false;
    png_set_compression_level(png_, compression);
    png_set_compression_mem_level(png_, kAllMemory);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(size.width),
                 static_cast<png_uint_32>(size.height), bits, kColors[size.channels - 1],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (bits == 16) png_set_swap(png_);
    const std::int64_t stride = size.width * size.channels * (bits / 8);
    for (std::int64_t y = 0; y < size.height; ++y) png_write_row(png_, pixels + y * stride);
    png_write_end(png_, nullptr);
    return true;
  }
  std::string take() { return std::move(bytes_); }
  const char* trouble() const { return trouble_.text; }

 private:
  static void put(png_structp png, png_bytep from, std::size_t n) {
    bool room = true;
    try {
      static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(from), n);
    } catch (const std::exception&) {
      room = false;
    }
    if (!room) png_error(png, "there is no memory for it");
  }

  PngTrouble trouble_{};
  std::string bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

void read_png(std::string_view bytes, int channels, int bits, const PictureRoom& room) {
  PngReader reader(bytes);
  reader.header();
  if (channels == 0)
    channels = reader.color != PNG_COLOR_TYPE_PALETTE ? reader.file_channels
               : reader.transparent                   ? 4
                                                      : 3;
  const PictureSize size{1, reader.height, reader.width, channels};
  check_picture_size(size, "PNG");
  const std::int64_t packed = size.height * size.width * reader.file_channels * reader.depth / 8;
  RILL_CHECK(packed / kDeflateRatio <= static_cast<std::int64_t>(bytes.size()), invalid_argument,
             "the PNG says that it has {} x {} pixels, which is more than {} bytes can hold",
             size.height, size.width, bytes.size());
  reader.convert(channels, bits);
  const bool widened = bits == 16 && reader.depth <= 8;
  const auto numbers = static_cast<std::size_t>(size.width * channels), stride = numbers * bits / 8;
  // A last check against what the library will write.
  RILL_CHECK(reader.row_bytes() == (widened ? numbers : stride), invalid_argument,
             "the PNG has lines of {} bytes; expected {} channels of {} pixels", reader.row_bytes(),
             channels, size.width);
  auto* out = static_cast<std::uint8_t*>(room(size));
  if (!out) return;
  reader.rows(out, stride);
  for (std::int64_t y = 0; widened && y < size.height; ++y) {
    // In place, from the end.
    std::uint8_t* line = out + static_cast<std::size_t>(y) * stride;
    for (std::size_t i = numbers; i-- > 0;) line[2 * i] = line[2 * i + 1] = line[i];
  }
}

std::string write_png(const void* pixels, const PictureSize& size, int bits, int compression) {
  PngWriter writer;
  RILL_CHECK(writer.write(static_cast<const std::uint8_t*>(pixels), size, bits, compression),
             invalid_argument, "the PNG cannot be written: {}", writer.trouble());
  return writer.take();
}

}  // namespace rill::io
