#pragma once
#include <array>
#include <cstdint>

#include "rill/base/api.h"
#include "rill/base/host_device.h"

namespace rill RILL_API {

// The counter-based generator Philox 4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3"). The n-th group of four words is a pure function
// of the key and the counter plus n, so a stream can be entered anywhere.
// A small value: copied freely, one copy a thread.
class Philox {
 public:
  using Key = std::array<std::uint32_t, 2>;
  using Group = std::array<std::uint32_t, 4>;  // as a counter: a 128-bit number, low word first

  constexpr Philox() = default;
  constexpr Philox(const Key& key, const Group& counter) : key_(key), counter_(counter) {}
  // The key and the counter's halves as the 64-bit words in which tensors hold
  // them, low halves first.
  Philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high);

  const Key& key() const { return key_; }
  const Group& counter() const { return counter_; }

  // Passes over `groups` groups. The whole counter wraps around.
  RILL_HOST_DEVICE void skip(std::uint64_t groups) {
    const std::uint64_t before = counter_[0] | std::uint64_t{counter_[1]} << 32;
    const std::uint64_t after = before + groups;
    counter_[0] = static_cast<std::uint32_t>(after);
    counter_[1] = static_cast<std::uint32_t>(after >> 32);
    if (after < before && ++counter_[2] == 0) ++counter_[3];
  }

  // The next group.
  RILL_HOST_DEVICE Group operator()() {
    auto [x0, x1, x2, x3] = counter_;
    auto [k0, k1] = key_;
    // Scalars and an unrolled loop, so that all of it stays in registers.
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * x0;
      const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x2;
      x0 = static_cast<std::uint32_t>(b >> 32) ^ x1 ^ k0;
      x1 = static_cast<std::uint32_t>(b);
      x2 = static_cast<std::uint32_t>(a >> 32) ^ x3 ^ k1;
      x3 = static_cast<std::uint32_t>(a);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    for (std::uint32_t& word : counter_) {
      if (++word != 0) break;
    }
    return {x0, x1, x2, x3};
  }

  friend bool operator==(const Philox&, const Philox&) = default;

 private:
  Key key_{};
  Group counter_{};
};

}  // namespace RILL_API
