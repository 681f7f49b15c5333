#pragma once
#include "rill/core/tensor.h"

namespace rill::data {

// The pixels of the bytes of an image file, uint8 [height, width, channels]; channels 0: as many as
// the file has. Of an animation the first picture.
Tensor decode_picture(const Tensor& bytes, std::int64_t channels);

}  // namespace rill::data
