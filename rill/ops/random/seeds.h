#pragma once
#include <cstdint>

namespace rill {

// The stream of one call of a stateful random op: the op's attributes seed and
// seed2, and how far into the stream this call starts.
struct RandomStream {
  std::int64_t seed, seed2, offset;
};
// `op_seed` -1: none. `elements`: how many numbers the call draws.
RandomStream next_stream(std::int64_t op_seed, std::int64_t elements);

}  // namespace rill
