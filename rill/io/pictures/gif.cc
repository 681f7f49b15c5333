// GIF files as frames of pixels, by giflib.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gif_lib.h>

#include "rill/base/check.h"
#include "rill/io/picture_impl.h"

namespace rill::io {
namespace {

// A code of 12 bits stands for at most 4096 pixels.
constexpr std::int64_t kPixelsPerCode = 4096, kBitsPerCode = 12;

// A part of the canvas, as the file has it.
struct Frame {
  std::int64_t left, top, width, height;
  std::vector<GifByteType> indices;
  std::vector<GifColorType> colors;
  int transparent;
};

class GifReader {
 public:
  explicit GifReader(std::string_view bytes) : left_(bytes) {
    int error = D_GIF_SUCCEEDED;
    gif_ = DGifOpen(this, take, &error);
    RILL_CHECK(gif_, invalid_argument, "the GIF cannot be read: {}", text(error));
  }
  ~GifReader() {
    int error = D_GIF_SUCCEEDED;
    DGifCloseFile(gif_, &error);
  }
  GifReader(const GifReader&) = delete;

  // Not by DGifSlurp, which takes memory for whatever size a frame claims.
  std::vector<Frame> frames() {
    std::vector<Frame> frames;
    GraphicsControlBlock control;
    forget(control);
    bool controlled = false;
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      // What follows a frame may be damaged, or its end be missing.
      if (DGifGetRecordType(gif_, &type) == GIF_ERROR || type == TERMINATE_RECORD_TYPE) break;
      if (type == EXTENSION_RECORD_TYPE) {
        int code = 0;
        GifByteType* block = nullptr;
        bool good = DGifGetExtension(gif_, &code, &block) != GIF_ERROR;
        if (good && code == GRAPHICS_EXT_FUNC_CODE && block && !controlled) {
          DGifExtensionToGCB(block[0], block + 1, &control);
          controlled = true;
        }
        while (good && block) good = DGifGetExtensionNext(gif_, &block) != GIF_ERROR;
        if (!good) break;
      } else if (type == IMAGE_DESC_RECORD_TYPE) {
        frames.push_back(frame(frames.size(), control.TransparentColor));
        forget(control);
        controlled = false;
      }
    }
    RILL_CHECK(!frames.empty(), invalid_argument, "the GIF cannot be read: it has no frame: {}",
               text(gif_->Error));
    return frames;
  }

 private:
  static int take(GifFileType* gif, GifByteType* to, int n) {
    auto* self = static_cast<GifReader*>(gif->UserData);
    const std::size_t got = std::min(static_cast<std::size_t>(n), self->left_.size());
    std::memcpy(to, self->left_.data(), got);
    self->left_.remove_prefix(got);
    return static_cast<int>(got);
  }
  static const char* text(int error) {
    const char* s = error == D_GIF_SUCCEEDED ? nullptr : GifErrorString(error);
    return s ? s : "its bytes end early";
  }
  static void forget(GraphicsControlBlock& control) {
    control = {};
    control.TransparentColor = NO_TRANSPARENT_COLOR;
  }

  Frame frame(std::size_t number, int transparent) {
    RILL_CHECK(DGifGetImageDesc(gif_) != GIF_ERROR, invalid_argument,
               "frame {} of the GIF cannot be read: {}", number, text(gif_->Error));
    const GifImageDesc& d = gif_->Image;
    Frame f{d.Left, d.Top, d.Width, d.Height, {}, {}, transparent};
    check_picture_size({1, f.height, f.width, 3}, "GIF");
    RILL_CHECK(f.height * f.width / kPixelsPerCode * kBitsPerCode / 8 <=
                   static_cast<std::int64_t>(left_.size()),
               invalid_argument,
               "frame {} of the GIF says that it has {} x {} pixels, which is more than {} bytes "
               "can hold",
               number, f.height, f.width, left_.size());
    const ColorMapObject* map = d.ColorMap ? d.ColorMap : gif_->SColorMap;
    RILL_CHECK(map, invalid_argument, "frame {} of the GIF has no colours", number);
    f.colors.assign(map->Colors, map->Colors + map->ColorCount);
    f.indices.resize(static_cast<std::size_t>(f.height * f.width));
    // Lines of an interlaced frame come in four turns.
    constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    for (int turn = 0; turn < (d.Interlace ? 4 : 1); ++turn)
      for (std::int64_t y = d.Interlace ? kFirst[turn] : 0; y < f.height;
           y += d.Interlace ? kStep[turn] : 1)
        RILL_CHECK(DGifGetLine(gif_, f.indices.data() + y * f.width, d.Width) != GIF_ERROR,
                   invalid_argument, "line {} of frame {} of the GIF cannot be read: {}", y, number,
                   text(gif_->Error));
    return f;
  }

  GifFileType* gif_ = nullptr;
  std::string_view left_;
};

void draw(const Frame& f, std::size_t number, const PictureSize& size, std::uint8_t* out) {
  const std::int64_t right = std::min(f.left + f.width, size.width),
                     bottom = std::min(f.top + f.height, size.height);
  for (std::int64_t y = f.top; y < bottom; ++y)
    for (std::int64_t x = f.left; x < right; ++x) {
      const int index = f.indices[static_cast<std::size_t>((y - f.top) * f.width + (x - f.left))];
      if (index == f.transparent) continue;  // shows what was there
      RILL_CHECK(static_cast<std::size_t>(index) < f.colors.size(), invalid_argument,
                 "frame {} of the GIF has colour {}; expected less than {}", number, index,
                 f.colors.size());
      const GifColorType& color = f.colors[static_cast<std::size_t>(index)];
      std::uint8_t* pixel = out + (y * size.width + x) * 3;
      pixel[0] = color.Red, pixel[1] = color.Green, pixel[2] = color.Blue;
    }
}

}  // namespace

void read_gif(std::string_view bytes, bool all_frames, const PictureRoom& room) {
  GifReader reader(bytes);
  const std::vector<Frame> frames = reader.frames();
  PictureSize size{all_frames ? static_cast<std::int64_t>(frames.size()) : 1, 0, 0, 3};
  for (const Frame& f : frames) {
    size.height = std::max(size.height, f.height);
    size.width = std::max(size.width, f.width);
  }
  check_picture_size(size, "GIF");
  auto* out = static_cast<std::uint8_t*>(room(size));
  if (!out) return;
  const auto canvas = static_cast<std::size_t>(size.height * size.width * 3);
  std::memset(out, 0, canvas);
  for (std::size_t k = 0; k < static_cast<std::size_t>(size.frames); ++k, out += canvas) {
    if (k > 0) std::memcpy(out, out - canvas, canvas);
    draw(frames[k], k, size, out);
  }
}

}  // namespace rill::io
