// Windows around a place of each image; outside of it there is noise like the image, or nothing.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/kernels/functors/random_element.h"

namespace rill::cpu {
namespace {

using Index = std::int64_t;

// Where the window of `size` begins, cut towards 0. As in TensorFlow the offset is that of the
// window's middle only where it is both centered and normalized, else that of its beginning.
Index window_start(float offset, Index in, Index size, bool centered, bool normalized) {
  const auto n = static_cast<float>(in);
  float start = normalized ? offset * n : offset;
  if (centered && normalized)
    start = start / 2 + n / 2 - static_cast<float>(size) / 2;
  else if (centered)
    start += n / 2;
  constexpr float kFar = 1e9f;
  return std::isnan(start) ? 0 : static_cast<Index>(std::clamp(start, -kFar, kFar));
}

// The same numbers for the same place: results do not depend on the call.
struct Noise {
  Philox gen;
  float uniform() { return functors::unit_float(gen()[0]); }
  float normal() {
    const Philox::Group x = gen();
    const double u = std::max(static_cast<double>(functors::unit_float(x[0])), 1e-7);
    return static_cast<float>(std::sqrt(-2 * std::log(u)) *
                              std::cos(6.283185307179586 * functors::unit_float(x[1])));
  }
};
void fill_noise(const float* image, Index pixels, Index channels, bool gaussian, Index batch,
                float* out, Index out_pixels) {
  Noise noise{Philox({0x676c696du, static_cast<std::uint32_t>(batch)}, {})};
  if (!gaussian) {
    const auto [low, high] = std::minmax_element(image, image + pixels * channels);
    for (Index i = 0; i < out_pixels * channels; ++i)
      out[i] = *low + (*high - *low) * noise.uniform();
    return;
  }
  for (Index c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < pixels; ++i) sum += static_cast<double>(image[i * channels + c]);
    const double mean = sum / static_cast<double>(pixels);
    for (Index i = 0; i < pixels; ++i) {
      const double d = static_cast<double>(image[i * channels + c]) - mean;
      squares += d * d;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(pixels));
    for (Index i = 0; i < out_pixels; ++i)
      out[i * channels + c] = static_cast<float>(mean + deviation * noise.normal());
  }
}

void extract_glimpse_cpu(KernelContext& c) noexcept {
  const TensorShape &s = c.in_shape(0), &o = c.out_shape();
  const Index rows = s.dim(1), columns = s.dim(2), channels = s.dim(3), height = o.dim(1),
              width = o.dim(2);
  const bool centered = c.bool_attr("centered"), normalized = c.bool_attr("normalized");
  std::string_view kind = c.string_attr("noise");
  if (c.bool_attr("uniform_noise") || kind.empty()) kind = "uniform";
  const float* in = c.in<float>(0);
  float* out = c.out<float>();
  for (Index b = 0; b < o.dim(0);
       ++b, in += rows * columns * channels, out += height * width * channels) {
    const float* at = c.in<float>(2) + 2 * b;
    const Index top = window_start(at[0], rows, height, centered, normalized),
                left = window_start(at[1], columns, width, centered, normalized);
    const bool inside = top >= 0 && left >= 0 && top + height <= rows && left + width <= columns;
    if (!inside && (kind == "zero" || rows * columns * channels == 0))
      std::fill_n(out, height * width * channels, 0.f);
    else if (!inside)
      fill_noise(in, rows * columns, channels, kind == "gaussian", b, out, height * width);
    for (Index y = 0; y < height; ++y)
      for (Index x = 0; x < width; ++x) {
        const Index py = top + y, px = left + x;
        if (py < 0 || px < 0 || py >= rows || px >= columns) continue;
        std::copy_n(in + (py * columns + px) * channels, channels,
                    out + (y * width + x) * channels);
      }
  }
}
RILL_KERNEL("ExtractGlimpseV2", cpu, TypeSet{}, extract_glimpse_cpu);

}  // namespace
}  // namespace rill::cpu
