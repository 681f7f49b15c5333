#include "rill/ops/random/seeds.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "rill/base/check.h"
#include "rill/base/philox.h"
#include "rill/base/python_random.h"
#include "rill/core/call_context.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

// TensorFlow's seed where only an op has one.
constexpr std::int64_t kDefaultGlobalSeed = 87654321;

// Streams of traced ops are others than those of eager ones.
constexpr std::int64_t kTraced = std::int64_t{1} << 32;

struct Seeds {
  std::mutex mutex;
  bool fixed = false;  // the user set a global seed
  std::int64_t global = 0;
  bool drawn = false;         // without one: the global seed was drawn by chance
  PythonRandom op_seeds{0};   // of eager ops that have none, as TensorFlow draws them
  std::int64_t ops = 0;       // how many were handed out
  std::int64_t traced = 0;    // the same of traced ops
  std::int64_t datasets = 0;  // and of datasets
  std::map<std::int64_t, std::int64_t>
      op_offsets;  // of op seeds: one entry a seed that the program writes
};
Seeds& seeds() {
  static auto* s = new Seeds;
  return *s;
}
// REQUIRES: the lock.
std::int64_t global_seed(Seeds& s) {
  if (!s.fixed && !s.drawn) {
    std::random_device entropy;
    s.global = static_cast<std::int64_t>(entropy()) << 31 ^ entropy();
    s.drawn = true;
  }
  return s.global;
}
std::int64_t seed_beside_op_seed(const Seeds& s) { return s.fixed ? s.global : kDefaultGlobalSeed; }

// A pair of seeds as TensorFlow cuts them to what its ops take; two zeros would mean none.
RandomStream as_tensorflow(std::int64_t seed, std::int64_t op_seed, std::int64_t offset) {
  constexpr std::int64_t kMost = 2147483647;
  const auto cut = [](std::int64_t v) { return (v % kMost + kMost) % kMost; };
  const std::int64_t a = cut(seed), b = cut(op_seed);
  return {a, a == 0 && b == 0 ? kMost : b, offset};
}

}  // namespace

ElementRandomScope::ElementRandomScope(const RandomStream& dataset, std::uint64_t round,
                                       std::uint64_t element)
    : outer_(std::exchange(call_context().element_random, this)),
      seed_(dataset.seed),
      seed2_(dataset.seed2),
      round_(round),
      element_(element) {}
ElementRandomScope::~ElementRandomScope() { call_context().element_random = outer_; }
RandomStream ElementRandomScope::next(const RandomStream& stream) {
  Philox bits(static_cast<std::uint64_t>(stream.seed) ^
                  static_cast<std::uint64_t>(stream.seed2) * 0x9E3779B97F4A7C15,
              round_, element_);
  const auto w = bits();
  const auto word = [&](std::size_t i) {
    return static_cast<std::int64_t>(w[i] | std::uint64_t{w[i + 1]} << 32);
  };
  return {word(0), (word(2) & INT64_MAX >> 1) + ++calls_, 0};
}

RandomStream ElementRandomScope::traced() {
  Philox bits(static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(seed2_),
              static_cast<std::uint64_t>(++traces_));
  const auto w = bits();
  return {seed_, static_cast<std::int64_t>(w[0] | std::uint64_t{w[1]} << 32), 0};
}

RandomStream next_stream(std::int64_t op_seed, std::int64_t elements) {
  Seeds& s = seeds();
  if (ElementRandomScope* scope = call_context().element_random) {
    if (op_seed < 0) return scope->next(scope->dataset());
    std::lock_guard lock(s.mutex);
    return scope->next({seed_beside_op_seed(s), op_seed, 0});
  }
  std::lock_guard lock(s.mutex);
  if (op_seed < 0) {
    const std::int64_t global = global_seed(s);
    ++s.ops;
    return s.fixed ? as_tensorflow(global, s.op_seeds.next_seed(), 0)
                   : RandomStream{global, s.ops, 0};
  }
  std::int64_t& offset = s.op_offsets[op_seed];
  const RandomStream stream = as_tensorflow(seed_beside_op_seed(s), op_seed, offset);
  offset += elements;
  return stream;
}

RandomStream dataset_stream(std::int64_t op_seed) {
  // One that a user's function makes for an element draws by that element.
  if (ElementRandomScope* scope = call_context().element_random; scope && op_seed < 0)
    return scope->next(scope->dataset());
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  if (op_seed >= 0) return {seed_beside_op_seed(s), op_seed, 0};
  const std::int64_t global = global_seed(s);
  return {global, -++s.datasets, 0};
}

namespace {
struct Counts {
  std::mutex mutex;
  std::vector<std::int64_t> taken;
};
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}
}  // namespace

RandomStream graph_stream(std::int64_t op_seed) {
  RandomStream s;
  if (ElementRandomScope* scope = call_context().element_random) {
    std::lock_guard lock(seeds().mutex);
    s = op_seed < 0 ? scope->traced() : RandomStream{seed_beside_op_seed(seeds()), op_seed, 0};
  } else if (op_seed < 0) {
    std::lock_guard lock(seeds().mutex);
    const std::int64_t global = global_seed(seeds());
    s = {global, kTraced + ++seeds().traced, 0};
  } else {
    s = next_stream(op_seed, 0);
  }
  s.offset = new_graph_offset();
  return s;
}

std::int64_t new_graph_offset() {
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  c.taken.push_back(0);
  return -static_cast<std::int64_t>(c.taken.size());
}

std::int64_t start_of_run(std::int64_t offset, std::int64_t elements) {
  if (offset >= 0) return offset;
  if (ElementRandomScope* scope = call_context().element_random)
    return scope->next({0, 0, 0}).seed2;  // each op's stream, entered far apart
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  // Counted from below 0, so that the most negative number does not overflow.
  const auto index = static_cast<std::size_t>(-(offset + 1));
  if (index >= c.taken.size()) return -1;
  std::int64_t& taken = c.taken[index];
  const std::int64_t start = taken;
  taken += elements;
  return start;
}

std::vector<std::int64_t> random_state() {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  std::vector<std::int64_t> state{s.fixed, s.drawn, s.global, s.ops, s.datasets, s.traced};
  for (const auto& [seed, offset] : s.op_offsets) state.insert(state.end(), {seed, offset});
  return state;
}
void set_random_state(std::span<const std::int64_t> state) {
  RILL_CHECK(state.size() >= 6 && state.size() % 2 == 0 && state[3] >= 0, data_loss,
             "[random] {} numbers are not a state of the random streams", state.size());
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  s.fixed = state[0] != 0;
  s.drawn = state[1] != 0;
  s.global = state[2];
  s.ops = state[3];
  s.op_seeds = PythonRandom(s.global);
  if (s.fixed)
    for (std::int64_t i = 0; i < s.ops; ++i) s.op_seeds.next_seed();
  s.datasets = state[4];
  s.traced = state[5];
  s.op_offsets.clear();
  for (std::size_t i = 6; i < state.size(); i += 2) s.op_offsets[state[i]] = state[i + 1];
}
std::int64_t traced_ops() {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  return s.traced;
}
void set_traced_ops(std::int64_t n) {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  s.traced = n;
}
std::size_t graph_streams() {
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  return c.taken.size();
}
std::vector<std::int64_t> graph_stream_counts(std::size_t first, std::size_t last) {
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  RILL_INTERNAL_CHECK(first <= last && last <= c.taken.size());
  return {c.taken.begin() + static_cast<std::ptrdiff_t>(first),
          c.taken.begin() + static_cast<std::ptrdiff_t>(last)};
}
void set_graph_stream_counts(std::size_t first, std::span<const std::int64_t> values) {
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  RILL_INTERNAL_CHECK(first + values.size() <= c.taken.size());
  std::copy(values.begin(), values.end(), c.taken.begin() + static_cast<std::ptrdiff_t>(first));
}

namespace random {
void set_seed(std::int64_t seed) {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  s.fixed = true;
  s.global = seed;
  s.op_seeds = PythonRandom(seed);
  s.ops = 0;
  s.traced = 0;
  s.datasets = 0;
  s.op_offsets.clear();
}
}  // namespace random

void set_random_seed(std::int64_t seed) { random::set_seed(seed); }

}  // namespace rill
