#pragma once
#include <functional>
#include <string_view>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill {

// The op, on a batch of images and their new {height, width}, int32.
using ResizeCall = std::function<Tensor(const Tensor& batch, const Tensor& size)>;
// What resize does around the op, also that of TensorFlow 1: checks, one image as a batch, and with
// keep_ratio a size that keeps the proportions. skip_same: images that have the size come back as
// they are.
Tensor resize_any(std::string_view tag, const Operand& images, const Operand& size, bool keep_ratio,
                  bool skip_same, const ResizeCall& op);

// As large as fits without another shape, by `resize`, about the middle of zeros.
Tensor resize_and_pad(std::string_view tag, const Operand& image, int target_height,
                      int target_width, const ResizeCall& resize);

}  // namespace rill
