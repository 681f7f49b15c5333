// Kernels of ops on pictures in files.
#include <vector>

#include "rill/core/kernel.h"
#include "rill/io/picture_impl.h"

namespace rill::io {
namespace {

// Which op asks: each of them reads the other's formats as far as TensorFlow's does.
enum class Asks : std::uint8_t { jpeg, crop_jpeg, png, gif, bmp, any };

void picture_failed(KernelContext& c, Code code, std::string_view why) {
  c.fail(code, format("[{}] {}", c.tag(), why));
}
template <class F>
void on_pictures(KernelContext& c, F body) noexcept {
  try {
    body();
  } catch (const errors::Error& e) {
    picture_failed(c, e.code(), e.message());
  } catch (const std::exception& e) {
    picture_failed(c, Code::resource_exhausted, e.what());
  }
}

// The pixels are uint8: in the output, or in `bytes`, for scaling.
class Pixels {
 public:
  // `known`: the size was known before, so the output has room already.
  Pixels(KernelContext& c, bool frames, bool known = false)
      : c_(c), frames_(frames), known_(known) {}

  PictureRoom room() {
    return [this](const PictureSize& s) -> void* {
      TensorShape shape(Dims{s.height, s.width, s.channels});
      if (frames_) shape = TensorShape(Dims{s.frames, s.height, s.width, s.channels});
      void* out = known_ ? c_.out().data : c_.allocate_output(0, shape);
      if (!out || c_.out().dtype == uint8) return out;
      bytes_.resize(static_cast<std::size_t>(shape.num_elements()));
      return bytes_.data();
    };
  }
  // uint16 of bytes are their multiples of 256, as in TensorFlow; float32 is in 0 .. 1.
  void finish() {
    if (c_.failed()) return;
    const std::size_t n = bytes_.size();
    if (c_.out().dtype == uint16)
      for (std::size_t i = 0; i < n; ++i)
        c_.out<std::uint16_t>()[i] = static_cast<std::uint16_t>(bytes_[i] << 8);
    if (c_.out().dtype == float32)
      for (std::size_t i = 0; i < n; ++i)
        c_.out<float>()[i] = static_cast<float>(bytes_[i]) * (1.f / 255);
  }

 private:
  KernelContext& c_;
  bool frames_, known_;
  std::vector<std::uint8_t> bytes_;
};

void decode_jpeg(KernelContext& c, Asks asks, int channels, std::string_view bytes) {
  JpegReading how{.channels = channels};
  if (asks == Asks::jpeg || asks == Asks::crop_jpeg) {
    how.ratio = static_cast<int>(c.int_attr("ratio"));
    how.fancy_upscaling = c.bool_attr("fancy_upscaling");
    how.try_recover_truncated = c.bool_attr("try_recover_truncated");
    how.acceptable_fraction = c.attr("acceptable_fraction").as_float();
    how.accurate = c.string_attr("dct_method") == "INTEGER_ACCURATE";
  }
  if (asks == Asks::crop_jpeg) {
    const auto* window = c.in<std::int32_t>(1);
    how.crop = true;
    how.y = window[0], how.x = window[1], how.height = window[2], how.width = window[3];
  }
  Pixels pixels(c, asks == Asks::gif, asks == Asks::crop_jpeg && channels != 0);
  read_jpeg(bytes, how, pixels.room());
  pixels.finish();
}
void decode_png(KernelContext& c, Asks asks, int channels, std::string_view bytes) {
  const DType dtype = asks == Asks::png || asks == Asks::any ? c.type_attr("dtype") : uint8;
  std::vector<std::uint16_t> wide;
  read_png(bytes, channels, dtype == uint8 ? 8 : 16, [&](const PictureSize& s) -> void* {
    TensorShape shape(Dims{s.height, s.width, s.channels});
    if (asks == Asks::gif) shape = TensorShape(Dims{1, s.height, s.width, s.channels});
    void* out = c.allocate_output(0, shape);
    if (!out || dtype != float32) return out;
    wide.resize(static_cast<std::size_t>(shape.num_elements()));
    return wide.data();
  });
  for (std::size_t i = 0; i < wide.size(); ++i)
    c.out<float>()[i] = static_cast<float>(wide[i]) * (1.f / 65535);
}
void decode_gif(KernelContext& c, Asks asks, std::string_view bytes) {
  const bool all = asks != Asks::any || c.bool_attr("expand_animations");
  Pixels pixels(c, asks == Asks::gif || (asks == Asks::any && all));
  const PictureRoom room = pixels.room();
  read_gif(bytes, all, [&](const PictureSize& s) -> void* {
    if (asks == Asks::gif || asks == Asks::any || s.frames == 1) return room(s);
    picture_failed(c, Code::invalid_argument,
                   format("the GIF has {} frames; expected one. io::decode_gif and "
                          "io::decode_image read animations",
                          s.frames));
    return nullptr;
  });
  pixels.finish();
}
void decode_bmp(KernelContext& c, int channels, std::string_view bytes) {
  Pixels pixels(c, false);
  read_bmp(bytes, channels, pixels.room());
  pixels.finish();
}

template <Asks asks>
void decode_cpu(KernelContext& c) noexcept {
  on_pictures(c, [&] {
    const std::string& bytes = *c.in<std::string>(0);
    const PictureKind kind = kind_of_picture(bytes);
    const int channels = asks == Asks::gif ? 3 : static_cast<int>(c.int_attr("channels"));
    auto wrong = [&](std::string_view why) { picture_failed(c, Code::invalid_argument, why); };
    if (kind == PictureKind::unknown)
      return wrong(bytes.empty()
                       ? "contents is empty; expected the bytes of a picture"
                       : "contents is no picture that is known; expected a JPEG, PNG, GIF or BMP");
    if (asks == Asks::crop_jpeg && kind != PictureKind::jpeg)
      return wrong("contents is no JPEG; io::decode_image reads it");
    if ((asks == Asks::bmp) != (kind == PictureKind::bmp) && asks != Asks::any)
      return wrong(asks == Asks::bmp ? "contents is no BMP; io::decode_image reads it"
                                     : "contents is a BMP; io::decode_bmp and io::decode_image "
                                       "read it");
    switch (kind) {
      case PictureKind::jpeg:
        if (channels == 4) return wrong("channels is 4; a JPEG gives 1 or 3");
        return decode_jpeg(c, asks, channels, bytes);
      case PictureKind::png:
        return decode_png(c, asks, channels, bytes);
      case PictureKind::gif:
        if (channels != 0 && channels != 3)
          return wrong(format("channels is {}; a GIF gives 3", channels));
        return decode_gif(c, asks, bytes);
      default:
        if (channels == 1) return wrong("channels is 1; a BMP gives 3 or 4, or 0 for its own");
        return decode_bmp(c, channels, bytes);
    }
  });
}
RILL_KERNEL("DecodeJpeg", cpu, TypeSet{}, decode_cpu<Asks::jpeg>);
RILL_KERNEL("DecodeAndCropJpeg", cpu, TypeSet{}, decode_cpu<Asks::crop_jpeg>);
RILL_KERNEL("DecodePng", cpu, (TypeSet{uint8, uint16}), decode_cpu<Asks::png>);
RILL_KERNEL("DecodeGif", cpu, TypeSet{}, decode_cpu<Asks::gif>);
RILL_KERNEL("DecodeBmp", cpu, TypeSet{}, decode_cpu<Asks::bmp>);
RILL_KERNEL("DecodeImage", cpu, (TypeSet{uint8, uint16, float32}), decode_cpu<Asks::any>);

void jpeg_shape_cpu(KernelContext& c) noexcept {
  on_pictures(c, [&] {
    const PictureSize s = jpeg_size(*c.in<std::string>(0));
    const std::int64_t sizes[] = {s.height, s.width, s.channels};
    for (int i = 0; i < 3; ++i)
      if (c.out().dtype == int32)
        c.out<std::int32_t>()[i] = static_cast<std::int32_t>(sizes[i]);
      else
        c.out<std::int64_t>()[i] = sizes[i];
  });
}
RILL_KERNEL("ExtractJpegShape", cpu, kIndexTypes, jpeg_shape_cpu);

PictureSize size_of_image(const TensorShape& s) { return {1, s.dim(-3), s.dim(-2), s.dim(-1)}; }
void encode_jpeg_cpu(KernelContext& c) noexcept {
  on_pictures(c, [&] {
    const JpegWriting how{.quality = static_cast<int>(c.int_attr("quality")),
                          .progressive = c.bool_attr("progressive"),
                          .optimize_size = c.bool_attr("optimize_size"),
                          .chroma_downsampling = c.bool_attr("chroma_downsampling"),
                          .density_in_inches = c.string_attr("density_unit") == "in",
                          .x_density = static_cast<int>(c.int_attr("x_density")),
                          .y_density = static_cast<int>(c.int_attr("y_density")),
                          .xmp_metadata = c.string_attr("xmp_metadata")};
    *c.out<std::string>() = write_jpeg(c.in<std::uint8_t>(0), size_of_image(c.in_shape(0)), how);
  });
}
RILL_KERNEL("EncodeJpeg", cpu, TypeSet{}, encode_jpeg_cpu);

void encode_jpeg_quality_cpu(KernelContext& c) noexcept {
  on_pictures(c, [&] {
    const std::int32_t quality = *c.in<std::int32_t>(1);
    if (quality < 0 || quality > 100)
      return picture_failed(c, Code::invalid_argument,
                            format("quality is {}; expected 0 to 100", quality));
    *c.out<std::string>() =
        write_jpeg(c.in<std::uint8_t>(0), size_of_image(c.in_shape(0)), {.quality = quality});
  });
}
RILL_KERNEL("EncodeJpegVariableQuality", cpu, TypeSet{}, encode_jpeg_quality_cpu);

void encode_png_cpu(KernelContext& c) noexcept {
  on_pictures(c, [&] {
    const PictureSize size = size_of_image(c.in_shape(0));
    const std::int64_t images = c.out().size;
    if (images > 0 && c.in(0).size == 0)
      return picture_failed(
          c, Code::invalid_argument,
          format("image has shape {}; a PNG has one pixel at least", c.in_shape(0)));
    const int bits = c.in(0).dtype == uint8 ? 8 : 16;
    const std::int64_t bytes = size.height * size.width * size.channels * (bits / 8);
    for (std::int64_t i = 0; i < images; ++i)
      c.out<std::string>()[i] = write_png(c.in<std::uint8_t>(0) + i * bytes, size, bits,
                                          static_cast<int>(c.int_attr("compression")));
  });
}
RILL_KERNEL("EncodePng", cpu, (TypeSet{uint8, uint16}), encode_png_cpu);

}  // namespace
}  // namespace rill::io
