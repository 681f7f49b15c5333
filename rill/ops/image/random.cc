// Images changed at random: composites.
#include <limits>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/image_random_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/picture_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::image {
namespace {

// Draws uniform numbers: from the program's stream, or by a seed of two integers.
class Source {
 public:
  explicit Source(std::int64_t seed) : seed_(seed) {}
  explicit Source(const Operand& words) : words_(to_tensor(words, int32)) {}

  Tensor uniform(const Operand& shape, double low, double high) const {
    if (words_.defined()) return random::stateless_uniform(shape, words_, low, high);
    return random::uniform(shape, low, high, {.seed = seed_});
  }
  Tensor integers(const Operand& shape, int low, int high) const {
    if (words_.defined()) return random::stateless_uniform_int(shape, words_, low, high, int32);
    return random::uniform(shape, low, high, {.dtype = int32, .seed = seed_});
  }

 private:
  std::int64_t seed_ = -1;
  Tensor words_;
};

Tensor cropped(std::string_view tag, const Operand& value, const Operand& size,
               const Source& source) {
  const Arg x(value), wanted(size, int32);
  const TensorShape& s = x->shape();
  if (s.is_fully_defined() && value_known(*wanted)) {
    const auto sizes = wanted->to_vector<std::int64_t>();
    bool fits = static_cast<int>(sizes.size()) == s.rank();
    for (std::size_t i = 0; fits && i < sizes.size(); ++i)
      fits = sizes[i] >= 0 && sizes[i] <= s.dim(static_cast<int>(i));
    RILL_CHECK(fits, invalid_argument,
               "[{}] a crop of {} of a value of shape {}; expected one that "
               "is inside",
               tag, *wanted, s);
  }
  const Tensor sizes = shape(*x), limit = sizes - *wanted + 1;
  const Tensor offset =
      floormod(source.integers(shape(sizes), 0, std::numeric_limits<std::int32_t>::max()), limit);
  return slice(*x, offset, *wanted);
}

// Axis 0: top to bottom, 1: left to right.
Tensor flipped(std::string_view tag, const Operand& image, int axis, const Source& source) {
  const Arg x(image);
  const int rank = x->shape().has_rank() ? x->shape().rank() : 0;
  RILL_CHECK(rank == 3 || rank == 4, invalid_argument,
             "[{}] image has shape {}; expected 3 or 4 dimensions", tag, x->shape());
  if (rank == 3) {
    const Tensor mirrored = source.uniform(TensorShape::scalar(), 0, 1) < 0.5f;
    const Tensor y = where(mirrored, reverse(*x, {axis}), *x);
    return y;
  }
  const Tensor n = reshape(shape(*x)(0), {1});
  const Tensor flips = reshape(round(source.uniform(n, 0, 1)), {-1, 1, 1, 1});
  return where(flips > 0.5f, reverse(*x, {axis + 1}), *x);
}
void check_delta(std::string_view tag, double max_delta, double most) {
  RILL_CHECK(max_delta >= 0 && max_delta <= most, invalid_argument,
             "[{}] max_delta is {}; expected a number in [0, {}]", tag, max_delta, most);
}
Tensor delta_of(const Source& source, double max_delta) {
  return source.uniform(TensorShape::scalar(), -max_delta, max_delta);
}
Tensor factor_of(std::string_view tag, const Source& source, double lower, double upper) {
  RILL_CHECK(lower >= 0 && lower < upper, invalid_argument,
             "[{}] the factor is from {} to {}; expected 0 <= lower < upper", tag, lower, upper);
  return source.uniform(TensorShape::scalar(), lower, upper);
}
Tensor quality_of(std::string_view tag, const Source& source, int least, int most) {
  RILL_CHECK(least >= 0 && most <= 100 && least < most, invalid_argument,
             "[{}] the quality is from {} to {}; expected 0 <= min < max <= 100", tag, least, most);
  return source.integers(TensorShape::scalar(), least, most);
}
constexpr double kAnyDelta = std::numeric_limits<double>::max(), kHalfCircle = 0.5;

}  // namespace

Tensor random_crop(const Operand& value, const Operand& size, std::int64_t seed) {
  return cropped("image.random_crop", value, size, Source(seed));
}
Tensor stateless_random_crop(const Operand& value, const Operand& size, const Operand& seed) {
  return cropped("image.stateless_random_crop", value, size, Source(seed));
}
Tensor random_flip_left_right(const Operand& image, std::int64_t seed) {
  return flipped("image.random_flip_left_right", image, 1, Source(seed));
}
Tensor stateless_random_flip_left_right(const Operand& image, const Operand& seed) {
  return flipped("image.stateless_random_flip_left_right", image, 1, Source(seed));
}
Tensor random_flip_up_down(const Operand& image, std::int64_t seed) {
  return flipped("image.random_flip_up_down", image, 0, Source(seed));
}
Tensor stateless_random_flip_up_down(const Operand& image, const Operand& seed) {
  return flipped("image.stateless_random_flip_up_down", image, 0, Source(seed));
}
Tensor random_brightness(const Operand& image, double max_delta, std::int64_t seed) {
  check_delta("image.random_brightness", max_delta, kAnyDelta);
  return adjust_brightness(image, delta_of(Source(seed), max_delta));
}
Tensor stateless_random_brightness(const Operand& image, double max_delta, const Operand& seed) {
  check_delta("image.stateless_random_brightness", max_delta, kAnyDelta);
  return adjust_brightness(image, delta_of(Source(seed), max_delta));
}
Tensor random_hue(const Operand& image, double max_delta, std::int64_t seed) {
  check_delta("image.random_hue", max_delta, kHalfCircle);
  return adjust_hue(image, delta_of(Source(seed), max_delta));
}
Tensor stateless_random_hue(const Operand& image, double max_delta, const Operand& seed) {
  check_delta("image.stateless_random_hue", max_delta, kHalfCircle);
  return adjust_hue(image, delta_of(Source(seed), max_delta));
}
Tensor random_contrast(const Operand& image, double lower, double upper, std::int64_t seed) {
  return adjust_contrast(image, factor_of("image.random_contrast", Source(seed), lower, upper));
}
Tensor stateless_random_contrast(const Operand& image, double lower, double upper,
                                 const Operand& seed) {
  return adjust_contrast(image,
                         factor_of("image.stateless_random_contrast", Source(seed), lower, upper));
}
Tensor random_saturation(const Operand& image, double lower, double upper, std::int64_t seed) {
  return adjust_saturation(image, factor_of("image.random_saturation", Source(seed), lower, upper));
}
Tensor stateless_random_saturation(const Operand& image, double lower, double upper,
                                   const Operand& seed) {
  return adjust_saturation(
      image, factor_of("image.stateless_random_saturation", Source(seed), lower, upper));
}
Tensor random_jpeg_quality(const Operand& image, int min_jpeg_quality, int max_jpeg_quality,
                           std::int64_t seed) {
  return adjust_jpeg_quality(image, quality_of("image.random_jpeg_quality", Source(seed),
                                               min_jpeg_quality, max_jpeg_quality));
}
Tensor stateless_random_jpeg_quality(const Operand& image, int min_jpeg_quality,
                                     int max_jpeg_quality, const Operand& seed) {
  return adjust_jpeg_quality(image, quality_of("image.stateless_random_jpeg_quality", Source(seed),
                                               min_jpeg_quality, max_jpeg_quality));
}

}  // namespace rill::image
