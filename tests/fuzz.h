#pragma once
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

// How much a fuzz test does: RILL_FUZZ and RILL_FUZZ_SEED, which the nightly tests set.
namespace rill::testing {

// Of quick tests `times` as many rounds as RILL_FUZZ says; without it the usual number.
inline long fuzz_rounds(long usual, long times = 1) {
  const char* wanted = std::getenv("RILL_FUZZ");
  return wanted ? times * std::atol(wanted) : usual;
}
inline unsigned fuzz_seed(unsigned usual) {
  const char* seed = std::getenv("RILL_FUZZ_SEED");
  return seed ? static_cast<unsigned>(std::atoi(seed)) : usual;
}

// One to three bytes are others, of the first `front` bytes more often; now and then the end is
// missing, or a part is there twice.
inline std::string damaged(const std::string& good, std::mt19937& random,
                           std::size_t front = SIZE_MAX) {
  std::string bad = good;
  for (unsigned k = 0; k <= random() % 3 && !bad.empty(); ++k)
    bad[random() % (random() % 2 ? std::min(bad.size(), front) : bad.size())] =
        static_cast<char>(random());
  if (random() % 5 == 0) bad.resize(random() % (bad.size() + 1));
  if (random() % 20 == 0) bad.insert(random() % (bad.size() + 1), bad.substr(bad.size() / 2));
  return bad;
}

}  // namespace rill::testing
