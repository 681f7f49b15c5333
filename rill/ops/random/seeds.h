#pragma once
#include <cstdint>

#include "rill/base/api.h"

namespace rill {

// The stream of one call of a stateful random op: the op's attributes seed and
// seed2, and how far into the stream this call starts. In a graph, where one op is
// run many times, the offset is -k: a count of its own, number k of this process,
// says how far it has come.
struct RandomStream {
  std::int64_t seed, seed2, offset;
};
// `op_seed` -1: none. `elements`: how many numbers the call draws.
RandomStream next_stream(std::int64_t op_seed, std::int64_t elements);
RandomStream graph_stream(std::int64_t op_seed);
// Where a run starts that draws so many numbers: `offset`, or what count number
// -offset says, which then moves on.
RILL_API std::int64_t start_of_run(std::int64_t offset, std::int64_t elements);

}  // namespace rill
