#pragma once
#include <array>
#include <cstdint>

#include "rill/base/api.h"

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
  void skip(std::uint64_t groups);

  // The next group.
  Group operator()() {
    Group x = counter_;
    Key k = key_;
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ k[0], static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ k[1], static_cast<std::uint32_t>(a)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    for (std::uint32_t& word : counter_) {
      if (++word != 0) break;
    }
    return x;
  }

  friend bool operator==(const Philox&, const Philox&) = default;

 private:
  Key key_{};
  Group counter_{};
};

}  // namespace rill
