#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "rill/base/api.h"

namespace rill {

// The stream of one call of a stateful random op: the op's attributes seed and
// seed2, and how far into the stream this call starts. In a graph, where one op is
// run many times, the offset is -k: its own count, number k of this process,
// says how far it has come.
struct RandomStream {
  std::int64_t seed, seed2, offset;
};
// `op_seed` -1: none. `elements`: how many numbers the call draws.
RandomStream next_stream(std::int64_t op_seed, std::int64_t elements);
RandomStream graph_stream(std::int64_t op_seed);
// Only the offset of such a stream, for an op whose seeds came with a file.
std::int64_t new_graph_offset();
// The attribute of a stateful random op that holds the offset.
inline constexpr const char* kRandomOffset = "_offset";
// So many groups of the generator TensorFlow reserves for each number that an op may draw; the next
// run begins behind them.
constexpr std::int64_t kReservedPerNumber = 256;
// For a permutation of n it reserves one number of 32 bits for each exchange.
inline std::int64_t groups_of_permutation(std::int64_t n) { return n > 1 ? (n + 2) / 4 : 0; }
// For samples of classes, two numbers for each, the samples of a row rounded up to fours.
inline std::int64_t reserved_samples(std::int64_t rows, std::int64_t samples) {
  return rows * ((samples + 3) / 4 * 4);
}
// Of a dataset that draws. Datasets are counted by themselves: making one does not
// change the numbers of the ops that follow.
RandomStream dataset_stream(std::int64_t op_seed);
// Where a run starts that draws so many numbers: `offset`, or what count number
// -offset says, which then moves on. -1: there is no such count.
RILL_API std::int64_t start_of_run(std::int64_t offset, std::int64_t elements);

// Where the random numbers of this process stand: the seeds, and how many streams were handed
// out. A process that is given the state of another continues with that one's numbers; DataLoss
// for a list that is not a state. Traced ops have their own counts, below.
std::vector<std::int64_t> random_state();
void set_random_state(std::span<const std::int64_t> state);
// Of traced ops without a seed: how many streams were handed out. A function traced after
// set_traced_ops(n) draws what one drew that was traced when there were n.
std::int64_t traced_ops();
void set_traced_ops(std::int64_t n);
// Of traced ops: how many counts there are in this process, and how far some of them have come.
std::size_t graph_streams();
std::vector<std::int64_t> graph_stream_counts(std::size_t first, std::size_t last);
void set_graph_stream_counts(std::size_t first, std::span<const std::int64_t> counts);

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
