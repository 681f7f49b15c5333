#pragma once
#include "rill/kernels/cuda/launch.h"

// Sorting and counting over whole arrays. All of it is stable and gives the same bits from
// run to run.
namespace rill::cuda {

// Sorts n keys by their lowest `bits` bits and carries `order` along: on entry the values,
// on return those of the sorted keys. Both arrays are changed in place. False, with the call
// failed, when there is no memory or n is 2^31 or more.
bool sort_pairs(KernelContext& c, std::uint64_t* keys, std::uint32_t* order, std::int64_t n,
                int bits);

// out[i] = in[0] + .. + in[i - 1], i <= n: out has n + 1 elements, in has n.
bool count_before(KernelContext& c, const std::uint32_t* in, std::int64_t* out, std::int64_t n);

// Bits that hold the numbers 0 .. n.
inline int bits_for(std::int64_t n) {
  int bits = 1;
  while (bits < 63 && (std::int64_t{1} << bits) <= n) ++bits;
  return bits;
}

// A key that is ordered as x is; NaN above all else.
template <class T>
RILL_FORCE_INLINE std::uint64_t ordered_bits(T x) {
  if constexpr (is_half_v<T>) {
    return ordered_bits(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, float>) {
    if (x != x) return 0xffffffffu;
    const auto u = std::bit_cast<std::uint32_t>(x + 0.0f);  // -0 is 0
    return u & 0x80000000u ? ~u : u | 0x80000000u;
  } else if constexpr (std::is_same_v<T, double>) {
    if (x != x) return ~std::uint64_t{0};
    const auto u = std::bit_cast<std::uint64_t>(x + 0.0);
    return u >> 63 ? ~u : u | (std::uint64_t{1} << 63);
  } else if constexpr (std::is_signed_v<T> && sizeof(T) < 8) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x)) ^ 0x80000000u;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(x) ^ (std::uint64_t{1} << 63);
  } else {
    return static_cast<std::uint64_t>(x);
  }
}
template <class T>
inline constexpr int kKeyBits = sizeof(T) == 8 ? 64 : 32;

}  // namespace rill::cuda
