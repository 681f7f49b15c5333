#include "rill/base/philox.h"

namespace rill {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

Philox::Philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high)
    : key_{low(key), high(key)},
      counter_{low(counter_low), high(counter_low), low(counter_high), high(counter_high)} {}

void Philox::skip(std::uint64_t groups) {
  const std::uint64_t before = counter_[0] | std::uint64_t{counter_[1]} << 32;
  const std::uint64_t after = before + groups;
  counter_[0] = low(after);
  counter_[1] = high(after);
  if (after < before && ++counter_[2] == 0) ++counter_[3];
}

}  // namespace rill
