#include "rill/data/decode_picture_impl.h"

#include "rill/base/check.h"

namespace rill::data {

Tensor decode_picture(const Tensor& /*bytes*/, std::int64_t /*channels*/) {
  RILL_FAIL(unimplemented,
            "[dataset] files of images cannot be decoded here. datasets::load has decode = false, "
            "which leaves their bytes");
}

}  // namespace rill::data
