#pragma once
#include <cstdint>
#include <map>
#include <vector>

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
// Of a dataset that draws. Datasets are counted by themselves: making one does not
// change the numbers of the ops that follow.
RandomStream dataset_stream(std::int64_t op_seed);
// Where a run starts that draws so many numbers: `offset`, or what count number
// -offset says, which then moves on.
RILL_API std::int64_t start_of_run(std::int64_t offset, std::int64_t elements);

// How far the random ops of the process have come. What is drawn after set_random_position is
// what was drawn after the random_position that it is given. Ops of graphs that were traced in
// between start anew.
struct RandomPosition {
  std::int64_t ops = 0;
  std::map<std::int64_t, std::int64_t> op_offsets;
  std::vector<std::int64_t> taken;
};
RILL_API RandomPosition random_position();
RILL_API void set_random_position(const RandomPosition& position);

// While it lives the random ops of this thread draw by an element of a dataset
// instead of in the order of the program: the same numbers, whichever thread works
// on the element and when. `round` tells passes over the dataset apart.
class ElementRandomScope {
 public:
  ElementRandomScope(const RandomStream& dataset, std::uint64_t round, std::uint64_t element);
  ~ElementRandomScope();
  ElementRandomScope(const ElementRandomScope&) = delete;

  // The stream of a call that draws from `stream`, at this element.
  RandomStream next(const RandomStream& stream);
  // The stream of an op that is traced here: the same whichever element the trace
  // is made for.
  RandomStream traced();
  RandomStream dataset() const { return {seed_, seed2_, 0}; }

 private:
  ElementRandomScope* outer_;
  std::int64_t seed_, seed2_;
  std::uint64_t round_, element_;
  std::int64_t calls_ = 0, traces_ = 0;
};

}  // namespace rill
