#include "rill/data/decode_picture_impl.h"

#include "rill/ops/picture_ops.h"

namespace rill::data {

Tensor decode_picture(const Tensor& bytes, std::int64_t channels) {
  return io::decode_image(bytes,
                          {.channels = static_cast<int>(channels), .expand_animations = false});
}

}  // namespace rill::data
