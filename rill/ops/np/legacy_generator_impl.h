#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace rill::np {

// NumPy's RandomState: a Mersenne Twister and what NumPy makes of its words.
class LegacyGenerator {
 public:
  explicit LegacyGenerator(std::uint32_t seed) : words_(seed) {}
  void seed(std::uint32_t seed) { words_.seed(seed); }

  // In [0, 1).
  double number() {
    const std::uint32_t a = words_() >> 5, b = words_() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
  }
  // In [0, max]: as many bits as max has, drawn again while above it.
  std::uint64_t up_to(std::uint64_t max) {
    std::uint64_t mask = max;
    for (int s = 1; s < 64; s *= 2) mask |= mask >> s;
    if (max == 0) return 0;
    for (;;) {
      std::uint64_t v = words_();
      if (max > 0xffffffff) v = v << 32 | words_();
      if ((v &= mask) <= max) return v;
    }
  }
  // What shuffle makes of arange(n).
  std::vector<std::int64_t> shuffled(std::size_t n) {
    std::vector<std::int64_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = n; i-- > 1;) std::swap(order[i], order[up_to(i)]);
    return order;
  }

 private:
  std::mt19937 words_;
};

}  // namespace rill::np
