#pragma once
#include <bit>
#include <cstdint>

#include "rill/base/api.h"
#include "rill/base/host_device.h"

namespace rill RILL_API {

// IEEE binary16 and bfloat16 as storage types: all arithmetic is that of float.
// Conversion to float is exact; from float it rounds to nearest even,
// overflows to infinity, and keeps a NaN's sign and leading payload bits,
// quieted. Bit operations only: loops over them vectorise on every ISA.
struct half {
  std::uint16_t bits;

  half() = default;
  RILL_HOST_DEVICE explicit half(float value);
  RILL_HOST_DEVICE operator float() const;
  RILL_HOST_DEVICE static half from_bits(std::uint16_t b) {
    half h;
    h.bits = b;
    return h;
  }
};

struct bfloat16_t {
  std::uint16_t bits;

  bfloat16_t() = default;
  RILL_HOST_DEVICE explicit bfloat16_t(float value);
  RILL_HOST_DEVICE operator float() const;
  RILL_HOST_DEVICE static bfloat16_t from_bits(std::uint16_t b) {
    bfloat16_t h;
    h.bits = b;
    return h;
  }
};

RILL_FORCE_INLINE half::operator float() const {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const std::uint32_t special = (magnitude << 13) + (224u << 23);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  std::uint32_t r = magnitude < 0x400u ? subnormal : normal;
  r = magnitude >= 0x7c00u ? special : r;
  return std::bit_cast<float>(r | sign);
}

RILL_FORCE_INLINE half::half(float value) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t a = u & 0x7fffffffu;
  // Adding 0.5 rounds a subnormal result at its last bit, 2^-24.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3f000000u;
  const std::uint32_t normal = (a - (112u << 23) + 0xfffu + ((a >> 13) & 1u)) >> 13;
  const std::uint32_t nan = 0x7e00u | ((a >> 13) & 0x3ffu);
  std::uint32_t r = a < 0x38800000u ? subnormal : normal;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r = a > 0x7f800000u ? nan : r;
  bits = static_cast<std::uint16_t>(r | ((u >> 16) & 0x8000u));
}

RILL_FORCE_INLINE bfloat16_t::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

RILL_FORCE_INLINE bfloat16_t::bfloat16_t(float value) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const std::uint32_t nan = (u >> 16) | 0x40u;
  bits = static_cast<std::uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

}  // namespace RILL_API
