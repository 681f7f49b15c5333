// How many threads AUTOTUNE lets interleave() read ahead with.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "rill/data/thread_tuner_impl.h"
#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
using rill::testing::values;
using tf::Tensor, tf::data::AUTOTUNE, tf::data::Dataset, tf::data::ThreadTuner;

namespace {

// The number of threads after 2000 elements, of which `rate(threads)` come in a second, when the
// consumer does nothing else.
template <class F>
std::int64_t settled(ThreadTuner& tuner, F rate) {
  double now = 0;
  for (int i = 0; i < 2000; ++i) {
    const double wait = 1 / rate(static_cast<double>(tuner.threads()));
    now += wait;
    tuner.took(wait, now);
  }
  return tuner.threads();
}
TEST(ThreadTuner, TakesAsManyThreadsAsHelp) {
  ThreadTuner slow(12);
  EXPECT_EQ(slow.threads(), 1);
  EXPECT_EQ(settled(slow, [](double threads) { return 500 * threads; }), 12);
  // Four cores: more threads than these do nothing, or harm.
  ThreadTuner four(12), worse(12);
  std::int64_t most = 0;
  EXPECT_EQ(settled(four,
                    [&](double threads) {
                      most = std::max(most, static_cast<std::int64_t>(threads));
                      return 2000 * std::min(threads, 4.);
                    }),
            4);
  EXPECT_EQ(most, 8) << "more are tried, and taken back";
  EXPECT_EQ(settled(worse, [](double threads) { return 2000 / threads; }), 1);
}
TEST(ThreadTuner, LeavesAConsumerAloneThatDoesNotWait) {
  ThreadTuner tuner(8);
  double now = 0;
  for (int i = 0; i < 2000; ++i) tuner.took(1e-5, now += 1e-3);
  EXPECT_EQ(tuner.threads(), 1);
  for (int i = 0; i < 2000; ++i)
    tuner.took(1e-3 / static_cast<double>(tuner.threads()),
               now += 1e-3 / static_cast<double>(tuner.threads()));
  EXPECT_EQ(tuner.threads(), 8) << "until it begins to wait";
}
TEST(ThreadTuner, KeepsToALimit) {
  ThreadTuner tuner(64);
  const auto scales = [](double threads) { return 500 * threads; };
  EXPECT_GT(settled(tuner, scales), 8);
  tuner.limit(3);
  EXPECT_EQ(tuner.threads(), 3);
  EXPECT_EQ(settled(tuner, scales), 3);
}

Dataset sleepers(std::int64_t n, int microseconds, tf::data::InterleaveOptions options) {
  return Dataset::range(8).interleave(
      [=](Tensor i) {
        return Dataset::range(n).map([=](Tensor k) {
          std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
          return i * std::int64_t{1000} + k;
        });
      },
      options);
}
const tf::data::StageProfile& interleaving(const tf::data::PipelineProfile& p) {
  for (const auto& s : p.stages)
    if (s.stage == "ParallelInterleaveDataset") return s;
  throw std::runtime_error("no such stage");
}

TEST(InterleaveAutotune, SlowSourcesGetMoreThreads) {
  const tf::data::InterleaveOptions tuned{.cycle_length = 8, .num_parallel_calls = AUTOTUNE};
  const auto p = sleepers(80, 2000, tuned).profile({.seconds = 60});
  EXPECT_EQ(p.elements, 640);
  EXPECT_GE(interleaving(p).threads, 4) << p;
  EXPECT_GT(interleaving(p).room, 0);
  // One after the other it would be 1.28 seconds.
  EXPECT_LT(p.seconds, 0.9) << p;
  EXPECT_NE(sleepers(1, 0, tuned).explain().find("num_parallel_calls=AUTOTUNE"), std::string::npos);
}
TEST(InterleaveAutotune, AConsumerThatIsSlowerGetsFewThreads) {
  const Dataset d =
      sleepers(20, 100, {.cycle_length = 8, .num_parallel_calls = AUTOTUNE}).map([](Tensor x) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return x;
      });
  // One, but a busy machine may look as if the sources were slow.
  EXPECT_LE(interleaving(d.profile({.seconds = 60})).threads, 4);
}
TEST(InterleaveAutotune, OrderDoesNotDependOnTheThreads) {
  const auto with = [](std::int64_t calls) {
    return values(Dataset::range(7).interleave(
        [](Tensor i) {
          return Dataset::range(30).map([=](Tensor k) {
            std::this_thread::sleep_for(std::chrono::microseconds(i.item<int>() * 60));
            return i * std::int64_t{100} + k;
          });
        },
        {.cycle_length = 4, .block_length = 3, .num_parallel_calls = calls}));
  };
  const auto expected = with(0);
  ASSERT_EQ(expected.size(), 210u);
  for (const std::int64_t calls : {AUTOTUNE, std::int64_t{1}, std::int64_t{3}, std::int64_t{9}})
    EXPECT_EQ(with(calls), expected) << calls;
}
TEST(InterleaveAutotune, StatesDoNotDependOnTheThreads) {
  const auto with = [](std::int64_t calls) {
    return Dataset::range(6).interleave(
        [](Tensor i) {
          return Dataset::range(20)
              .map([=](Tensor k) { return i * std::int64_t{100} + k; })
              .shuffle(5, {.seed = 3});
        },
        {.cycle_length = 4, .num_parallel_calls = calls});
  };
  const auto all = values(with(3));
  auto it = with(2).make_iterator();
  for (int i = 0; i < 33; ++i) it.next();
  const std::string state = it.save();
  EXPECT_EQ(it.next().as_tensor().item<std::int64_t>(), all[33]) << "it goes on itself";
  for (const std::int64_t calls : {std::int64_t{4}, AUTOTUNE}) {
    auto other = with(calls).make_iterator();
    other.restore(state);
    std::vector<std::int64_t> rest;
    for (tf::Nest e; other.next(&e);) rest.push_back(e.as_tensor().item<std::int64_t>());
    EXPECT_EQ(rest, std::vector<std::int64_t>(all.begin() + 33, all.end())) << calls;
  }
}
TEST(InterleaveAutotune, WithoutOrderNoSourceHoldsOthersUp) {
  const auto with = [](std::optional<bool> deterministic, const tf::data::Options& options) {
    return values(
        Dataset::range(2)
            .interleave(
                [](Tensor i) {
                  return Dataset::range(10).map([=](Tensor k) {
                    if (i.item<int>() == 0)
                      std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    return i * std::int64_t{100} + k;
                  });
                },
                {.cycle_length = 2, .num_parallel_calls = 2, .deterministic = deterministic})
            .with_options(options));
  };
  const auto in_turns = with({}, {});
  ASSERT_EQ(in_turns.size(), 20u);
  EXPECT_EQ(in_turns[19], 109);
  EXPECT_EQ(with(true, {.deterministic = false}), in_turns);
  for (auto free : {with(false, {}), with({}, {.deterministic = false})}) {
    EXPECT_EQ(free[19], 9) << "the slow one is last";
    std::sort(free.begin(), free.end());
    auto sorted = in_turns;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(free, sorted);
  }
}
TEST(InterleaveAutotune, KeepsToTheMemoryOfTheOptions) {
  const auto held = [](std::int64_t megabytes) {
    const Dataset d = Dataset::range(4)
                          .interleave(
                              [](Tensor) {
                                return Dataset::range(40).map([](Tensor) {
                                  std::this_thread::sleep_for(std::chrono::microseconds(300));
                                  return tf::zeros({1 << 18});
                                });
                              },
                              {.cycle_length = 4, .num_parallel_calls = AUTOTUNE})
                          .with_options({.autotune = {.ram_budget = megabytes << 20}});
    return interleaving(d.profile({.seconds = 60})).bytes >> 20;
  };
  EXPECT_LE(held(8), 8);
  EXPECT_LE(held(4), 4);
  // One element of each dataset is always; and one that each has in work when the size is learnt.
  EXPECT_LE(held(1), 8);
}
TEST(InterleaveAutotune, FilesKeepTheirOrder) {
  const std::string folder = rill::testing::fresh_folder("autotune_files");
  std::vector<std::string> names;
  for (int f = 0; f < 5; ++f) {
    std::string text;
    for (int i = 0; i < 200 + 10 * f; ++i) text += std::to_string(1000 * f + i) + "\n";
    names.push_back(folder + "/" + std::to_string(f));
    tf::io::write_file(names.back(), text);
  }
  const auto lines = [&](std::int64_t reads) {
    std::vector<std::string> out;
    for (const auto& e : tf::data::TextLineDataset(names, {.num_parallel_reads = reads}))
      out.push_back(e.as_tensor().item<std::string>());
    return out;
  };
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  EXPECT_EQ(lines(AUTOTUNE), lines(cores));
  EXPECT_EQ(lines(AUTOTUNE).size(), 1100u);
  EXPECT_EQ(lines(1), lines(0));
  const std::string tree =
      tf::data::TFRecordDataset(names, {.num_parallel_reads = AUTOTUNE}).explain();
  EXPECT_NE(tree.find("num_parallel_calls=AUTOTUNE"), std::string::npos) << tree;
}
TEST(InterleaveAutotune, ErrorsComeInTheirTurn) {
  const Dataset d = Dataset::range(3).interleave(
      [](Tensor i) {
        return Dataset::range(6).map([=](Tensor k) {
          if (i.item<int>() == 1 && k.item<int>() == 2) throw tf::errors::DataLoss("a bad one");
          return i * std::int64_t{10} + k;
        });
      },
      {.cycle_length = 3, .num_parallel_calls = AUTOTUNE});
  auto it = d.make_iterator();
  for (const int want : {0, 10, 20, 1, 11, 21, 2})
    EXPECT_EQ(it.next().as_tensor().item<int>(), want);
  EXPECT_THROW(it.next(), tf::errors::DataLoss);
  EXPECT_EQ(values(d.ignore_errors()).size(), 17u);
}

}  // namespace
