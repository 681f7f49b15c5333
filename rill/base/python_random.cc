#include "rill/base/python_random.h"

#include <algorithm>

namespace rill {

PythonRandom::PythonRandom(std::int64_t seed) {
  // MT19937's seeding by a list of words: those of the seed without its sign, the lowest first.
  const std::uint64_t size = seed < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(seed)
                                      : static_cast<std::uint64_t>(seed);
  const std::uint32_t words[] = {static_cast<std::uint32_t>(size),
                                 static_cast<std::uint32_t>(size >> 32)};
  const int n = words[1] ? 2 : 1;
  constexpr int kWords = 624;
  state_[0] = 19650218;
  for (int i = 1; i < kWords; ++i) {
    const std::uint32_t last = state_[static_cast<std::size_t>(i - 1)];
    state_[static_cast<std::size_t>(i)] =
        1812433253u * (last ^ last >> 30) + static_cast<std::uint32_t>(i);
  }
  int i = 1, j = 0;
  const auto mix = [&](std::uint32_t factor) {
    const std::uint32_t last = state_[static_cast<std::size_t>(i - 1)];
    return state_[static_cast<std::size_t>(i)] ^ (last ^ last >> 30) * factor;
  };
  const auto step = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (int k = 0; k < kWords; ++k) {
    state_[static_cast<std::size_t>(i)] = mix(1664525u) + words[j] + static_cast<std::uint32_t>(j);
    step();
    j = (j + 1) % n;
  }
  for (int k = 0; k < kWords - 1; ++k) {
    state_[static_cast<std::size_t>(i)] = mix(1566083941u) - static_cast<std::uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000u;
}

std::uint32_t PythonRandom::bits() {
  constexpr std::size_t kWords = 624, kMiddle = 397;
  if (at_ == kWords) {
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
      state_[i] = state_[(i + kMiddle) % kWords] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }
  std::uint32_t y = state_[static_cast<std::size_t>(at_++)];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

std::int64_t PythonRandom::next_seed() {
  std::uint32_t r = bits();
  while (r >> 31) r = bits();
  return r;
}

}  // namespace rill
