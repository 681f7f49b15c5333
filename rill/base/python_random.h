#pragma once
#include <array>
#include <cstdint>

namespace rill {

// The generator behind Python's random.Random(seed), as far as TensorFlow uses it: it draws the
// seeds of eager ops that have none of their own.
class PythonRandom {
 public:
  explicit PythonRandom(std::int64_t seed);
  // randint(0, 2**31 - 1)
  std::int64_t next_seed();

 private:
  std::uint32_t bits();  // 32 of them: the Mersenne twister MT19937
  std::array<std::uint32_t, 624> state_;
  int at_ = 624;
};

}  // namespace rill
