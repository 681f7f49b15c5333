#pragma once
#include "rill/core/shape.h"

// The arithmetic of products and convolutions, for the definitions of their ops.
namespace rill::flops {

using Shapes = std::span<const TensorShape>;

// Of a [.., m, k] and b [.., k, n], in any transposition.
std::int64_t of_matmul(Shapes inputs, Shapes outputs);

// A convolution of an image with a filter [.., in, out].
std::int64_t of_conv(Shapes inputs, Shapes outputs);
// Its gradients: (sizes of the image, filter, dy) and (image, sizes of the filter, dy).
std::int64_t of_conv_input(Shapes inputs, Shapes outputs);
std::int64_t of_conv_filter(Shapes inputs, Shapes outputs);

// The same where each channel has its own filters: [.., channels, multiplier].
std::int64_t of_depthwise(Shapes inputs, Shapes outputs);
std::int64_t of_depthwise_input(Shapes inputs, Shapes outputs);
std::int64_t of_depthwise_filter(Shapes inputs, Shapes outputs);

}  // namespace rill::flops
