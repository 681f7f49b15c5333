// What a pipeline holds while it runs, and that nothing is left of it: memory and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "rill/rill.h"
#include "tests/sanitizer.h"

namespace tf = rill;
using tf::Nest, tf::Tensor, tf::data::AUTOTUNE, tf::data::Dataset;

namespace {

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

TEST(DatasetMemory, AShuffleHoldsItsBufferAndNoMore) {
  if (rill::testing::has_sanitizer()) GTEST_SKIP() << "sanitizers hold memory back";
  // 1 GB of elements, of which 64 MB are in the buffer.
  const Dataset d = Dataset::range(4096)
                        .map([](Tensor x) { return tf::fill({1 << 16}, tf::cast(x, tf::float32)); })
                        .shuffle(256)
                        .map([](Tensor x) { return tf::reduce_max(x); })
                        .batch(64)
                        .prefetch(AUTOTUNE)
                        .with_options({.autotune = {.ram_budget = 8 << 20}});
  const double before = resident_megabytes();
  double most = 0, sum = 0;
  for (const Nest& e : d) {
    sum += tf::reduce_sum(e).item<float>();
    most = std::max(most, resident_megabytes() - before);
  }
  EXPECT_EQ(sum, 4095. * 4096 / 2);
  EXPECT_GE(most, 50);
  EXPECT_LE(most, 64 + 32);
}
TEST(DatasetMemory, TenMillionElementsLeaveItFlat) {
  if (rill::testing::has_sanitizer()) GTEST_SKIP() << "sanitizers hold memory back";
  const Dataset d = Dataset::range(10'000'000).shuffle(10'000, {.seed = 1}).batch(500).prefetch(2);
  double early = 0, most = 0;
  std::int64_t elements = 0, sum = 0;
  for (const Nest& e : d) {
    elements += e.as_tensor().size();
    sum += tf::reduce_sum(e).item<std::int64_t>();
    const double now = resident_megabytes();
    if (elements == 500'000) early = now;
    if (elements > 500'000) most = std::max(most, now);
  }
  EXPECT_EQ(elements, 10'000'000);
  EXPECT_EQ(sum, std::int64_t{9'999'999} * 5'000'000);
  EXPECT_LT(most - early, 4);
}

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}
// A thread may still be listed for a moment after it was joined.
bool threads_become(std::ptrdiff_t n) {
  for (int i = 0; i < 500 && threads() != n; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return threads() == n;
}

struct ThreadedStage {
  const char* name;
  std::function<Dataset()> make;
};
std::ostream& operator<<(std::ostream& os, const ThreadedStage& s) { return os << s.name; }
class IteratorThreads : public ::testing::TestWithParam<ThreadedStage> {};

TEST_P(IteratorThreads, EndWithTheIteratorMidway) {
  const Dataset d = GetParam().make();
  d.make_iterator().next();  // threads that are there for good: the pool of the kernels
  const std::ptrdiff_t before = threads();
  for (int i = 0; i < 3; ++i) {
    auto it = d.make_iterator();
    for (int k = 0; k <= 3 * i; ++k) it.next();
    EXPECT_GT(threads(), before);
    it = Dataset::range(1).make_iterator();
    EXPECT_TRUE(threads_become(before)) << threads() << " instead of " << before;
  }
}

Dataset slow(std::int64_t n = 1'000'000) {
  return Dataset::range(n).map([](Tensor x) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return x;
  });
}
Tensor same(Tensor x) { return x; }
const ThreadedStage kStages[] = {
    {"prefetch", [] { return slow().prefetch(4); }},
    {"map", [] { return slow().map(same, {.num_parallel_calls = 3}); }},
    {"unordered_map",
     [] { return slow().map(same, {.num_parallel_calls = 3, .deterministic = false}); }},
    {"interleave",
     [] {
       return Dataset::range(100).interleave([](Tensor) { return slow(); },
                                             {.cycle_length = 4, .num_parallel_calls = 4});
     }},
    {"tuned_interleave",
     [] {
       return Dataset::range(100).interleave([](Tensor) { return slow(); },
                                             {.cycle_length = 4, .num_parallel_calls = AUTOTUNE});
     }},
    {"batch", [] { return slow().batch(2, {.num_parallel_calls = 2}).prefetch(AUTOTUNE); }},
    {"prefetch_to_device", [] { return slow().prefetch_to_device("/cpu:0", 2); }},
    {"all_together",
     [] {
       return Dataset::range(100)
           .interleave([](Tensor) { return slow().prefetch(2); },
                       {.cycle_length = 3, .num_parallel_calls = 3})
           .map(same, {.num_parallel_calls = 2})
           .shuffle(8)
           .batch(2)
           .prefetch(AUTOTUNE);
     }},
};
INSTANTIATE_TEST_SUITE_P(, IteratorThreads, ::testing::ValuesIn(kStages),
                         [](const auto& stage) { return std::string(stage.param.name); });

}  // namespace
