#pragma once
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Images changed at random: the functions of image_ops.h with a number that is drawn. Those with
// `seed` at the end draw from the stream of the program (random_ops.h); the stateless ones are
// functions of a seed of two integers, and give TensorFlow's numbers.
namespace rill RILL_API {

namespace image {

// A part of that size, somewhere in `value`.
Tensor random_crop(const Operand& value, const Operand& size, std::int64_t seed = -1);
// Mirrored or not; of a batch each image by itself.
Tensor random_flip_left_right(const Operand& image, std::int64_t seed = -1);
Tensor random_flip_up_down(const Operand& image, std::int64_t seed = -1);
// delta in [-max_delta, max_delta); of hues at most 0.5.
Tensor random_brightness(const Operand& image, double max_delta, std::int64_t seed = -1);
Tensor random_hue(const Operand& image, double max_delta, std::int64_t seed = -1);
// A factor in [lower, upper).
Tensor random_contrast(const Operand& image, double lower, double upper, std::int64_t seed = -1);
Tensor random_saturation(const Operand& image, double lower, double upper, std::int64_t seed = -1);
// A quality in [min_jpeg_quality, max_jpeg_quality).
Tensor random_jpeg_quality(const Operand& image, int min_jpeg_quality, int max_jpeg_quality,
                           std::int64_t seed = -1);

Tensor stateless_random_crop(const Operand& value, const Operand& size, const Operand& seed);
Tensor stateless_random_flip_left_right(const Operand& image, const Operand& seed);
Tensor stateless_random_flip_up_down(const Operand& image, const Operand& seed);
Tensor stateless_random_brightness(const Operand& image, double max_delta, const Operand& seed);
Tensor stateless_random_hue(const Operand& image, double max_delta, const Operand& seed);
Tensor stateless_random_contrast(const Operand& image, double lower, double upper,
                                 const Operand& seed);
Tensor stateless_random_saturation(const Operand& image, double lower, double upper,
                                   const Operand& seed);
Tensor stateless_random_jpeg_quality(const Operand& image, int min_jpeg_quality,
                                     int max_jpeg_quality, const Operand& seed);

}  // namespace image

using image::random_crop;  // TensorFlow 1's name

}  // namespace RILL_API
