#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
using rill::testing::expect_error;
using tf::Tensor, tf::data::AUTOTUNE, tf::data::Dataset;

namespace {

// How many elements of a megabyte are made and not yet taken, when 40 were taken faster than they
// came and the pipeline then had time.
class Ahead {
 public:
  Dataset source(int sleep_us) {
    return Dataset::range(100000).map([this, sleep_us](Tensor) {
      std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
      ++made_;
      return tf::zeros({1 << 18});
    });
  }
  int of(const Dataset& ds) {
    auto it = ds.make_iterator();
    for (int i = 0; i < 40; ++i) {
      it.next();
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // the thread begins the next
    }
    for (int before = -1; before != made_;) {
      before = made_;
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
    return made_ - 40;
  }

 private:
  std::atomic<int> made_{0};
};

tf::data::Options with_memory(std::int64_t megabytes) {
  return {.autotune = {.ram_budget = megabytes << 20}};
}

TEST(Autotune, PrefetchKeepsWithinItsMemory) {
  const auto ahead = [](const tf::data::Options& options) {
    Ahead a;
    return a.of(a.source(500).prefetch(AUTOTUNE).with_options(options));
  };
  int most = 0;  // that it grows is a matter of time: a busy machine may need another try
  for (int i = 0; i < 5 && most <= 4; ++i) most = std::max(most, ahead({}));
  EXPECT_GT(most, 4);
  EXPECT_LE(ahead(with_memory(5)), 4);
  EXPECT_LE(ahead(with_memory(1)), 1);
  EXPECT_LE(ahead({.autotune = {.enabled = false}}), 2);
}

TEST(Autotune, BuffersOfOneIteratorShareTheirMemory) {
  Ahead a;
  const auto ds = a.source(500).prefetch(AUTOTUNE).skip(0).prefetch(AUTOTUNE);
  // Each keeps at least one, and one more may be on its way between them.
  EXPECT_LE(a.of(ds.with_options(with_memory(4))), 5);
}

TEST(Autotune, ParallelMapKeepsWithinItsMemory) {
  std::atomic<int> made{0};
  const auto ds = Dataset::range(100000).map(
      [&](Tensor) {
        ++made;
        return tf::zeros({1 << 18});
      },
      {.num_parallel_calls = AUTOTUNE});
  auto it = ds.with_options(with_memory(8)).make_iterator();
  for (int i = 0; i < 200; ++i) it.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Eight wait, and those of one job are the consumer's.
  EXPECT_LE(made - 200, 16);
}

TEST(Options, DeterminismIsForStagesThatDoNotSayIt) {
  // The first element takes longest: where order is free others come before it.
  const auto slow_first = [](tf::data::MapOptions o) {
    o.num_parallel_calls = 4;
    return Dataset::range(8).map(
        [](std::int64_t i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 60 : 1));
          return i;
        },
        std::move(o));
  };
  const auto first = [](const Dataset& ds) {
    return ds.make_iterator().next().as_tensor().item<std::int64_t>();
  };
  const tf::data::Options free{.deterministic = false};
  EXPECT_EQ(first(slow_first({})), 0);
  EXPECT_NE(first(slow_first({}).with_options(free)), 0);
  EXPECT_EQ(first(slow_first({.deterministic = true}).with_options(free)), 0);
  // Of two the later one counts.
  EXPECT_EQ(first(slow_first({}).with_options(free).with_options({.deterministic = true})), 0);
}

TEST(Iterators, AreSharedByThreads) {
  const auto by_threads = [](const Dataset& ds) {
    auto it = ds.iter();
    std::atomic<std::int64_t> count{0}, sum{0};
    const auto work = [&] {
      auto copy = it;
      for (tf::Nest e; copy.next(&e); ++count) sum += e.as_tensor().item<std::int64_t>();
    };
    std::thread a(work), b(work);
    a.join(), b.join();
    return std::pair{count.load(), sum.load()};
  };
  const std::pair<std::int64_t, std::int64_t> all{1000, 499500};
  const auto same = [](Tensor x) { return x; };
  EXPECT_EQ(by_threads(Dataset::range(1000).map(same)), all);
  EXPECT_EQ(by_threads(Dataset::range(1000).map(same, {.num_parallel_calls = 3})), all);
  EXPECT_EQ(by_threads(Dataset::range(1000).map(same, {.num_parallel_calls = 3}).prefetch(4)), all);
  EXPECT_EQ(by_threads(Dataset::range(1000).shuffle(100)), all);
}

TEST(Options, KeepTheElementsAndTheirState) {
  const auto ds = Dataset::range(10).shuffle(10, {.seed = 3}).batch(2).with_options(with_memory(1));
  EXPECT_EQ(ds.cardinality(), 5);
  EXPECT_EQ(ds.element_spec().to_string(), Dataset::range(10).batch(2).element_spec().to_string());
  auto it = ds.make_iterator();
  it.next();
  const std::string state = it.save();
  auto again = ds.make_iterator();
  again.restore(state);
  EXPECT_EQ(again.next().as_tensor().to_string(), it.next().as_tensor().to_string());
  expect_error<tf::errors::InvalidArgument>(
      [&] { ds.with_options({.autotune = {.ram_budget = -1}}); },
      "[with_options] autotune has cpu_budget 0 and ram_budget -1");
}

}  // namespace
