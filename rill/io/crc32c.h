#pragma once
#include <cstdint>
#include <string_view>

#include "rill/base/api.h"

// The checksum of TensorFlow's files: CRC-32C (Castagnoli), by the processor's own
// instruction where it has one.
namespace rill RILL_API {
namespace io {

// The checksum of a followed by b is crc32c(b, crc32c(a)).
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc_so_far = 0);

// Files hold checksums masked, so that a checksum over bytes which hold checksums
// stays a good one.
constexpr std::uint32_t mask_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
constexpr std::uint32_t unmask_crc(std::uint32_t masked) {
  const std::uint32_t r = masked - 0xa282ead8u;
  return (r >> 17) | (r << 15);
}

}  // namespace io
}  // namespace RILL_API

namespace rill::io {
// Without the instruction: for tests, and for processors that lack it.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t crc_so_far);
}  // namespace rill::io
