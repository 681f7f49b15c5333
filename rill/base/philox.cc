#include "rill/base/philox.h"

namespace rill {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

Philox::Philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high)
    : key_{low(key), high(key)},
      counter_{low(counter_low), high(counter_low), low(counter_high), high(counter_high)} {}

}  // namespace rill
