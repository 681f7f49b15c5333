#include "rill/ops/random/seeds.h"

#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "rill/ops/random_ops.h"

namespace rill {
namespace {

// TensorFlow's seed where only an op has one.
constexpr std::int64_t kDefaultGlobalSeed = 87654321;

struct Seeds {
  std::mutex mutex;
  bool fixed = false;  // the user set a global seed
  std::int64_t global = 0;
  std::int64_t ops = 0;  // streams handed out
  std::map<std::int64_t, std::int64_t>
      op_offsets;  // of op seeds: one entry a seed that the program writes
};
Seeds& seeds() {
  static auto* s = new Seeds;
  return *s;
}

}  // namespace

RandomStream next_stream(std::int64_t op_seed, std::int64_t elements) {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  if (op_seed < 0) {
    if (!s.fixed && s.ops == 0) {
      std::random_device entropy;
      s.global = static_cast<std::int64_t>(entropy()) << 31 ^ entropy();
    }
    return {s.global, ++s.ops, 0};
  }
  const std::int64_t seed = s.fixed ? s.global : kDefaultGlobalSeed;
  std::int64_t& offset = s.op_offsets[op_seed];
  const RandomStream stream{seed, op_seed, offset};
  offset += elements;
  return stream;
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
  RandomStream s = next_stream(op_seed, 0);
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  c.taken.push_back(0);
  s.offset = -static_cast<std::int64_t>(c.taken.size());
  return s;
}

std::int64_t start_of_run(std::int64_t offset, std::int64_t elements) {
  if (offset >= 0) return offset;
  Counts& c = counts();
  std::lock_guard lock(c.mutex);
  std::int64_t& taken = c.taken[static_cast<std::size_t>(-offset - 1)];
  const std::int64_t start = taken;
  taken += elements;
  return start;
}

namespace random {
void set_seed(std::int64_t seed) {
  Seeds& s = seeds();
  std::lock_guard lock(s.mutex);
  s.fixed = true;
  s.global = seed;
  s.ops = 0;
  s.op_offsets.clear();
}
}  // namespace random

void set_random_seed(std::int64_t seed) { random::set_seed(seed); }

}  // namespace rill
