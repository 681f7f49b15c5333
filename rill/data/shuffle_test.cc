#include <gtest/gtest.h>

#include <algorithm>

#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::counted, rill::testing::values;
using tf::data::Dataset;

namespace {

// The first element is any of the ten that fill the buffer, the second any of the nine left and the
// eleventh, all equally likely.
TEST(ShuffleBuffer, IsDrawnFromAsAWhole) {
  RILL_SHOWS("D27");
  const auto rows = Dataset::range(100), mapped = rows.map([](tf::Nest n) { return n; });
  for (const Dataset& source : {rows, mapped}) {
    std::vector<int> first(100), second(100);
    for (int seed = 0; seed < 1000; ++seed) {
      const auto order = values(source.shuffle(10, {.seed = seed}).take(2));
      ++first.at(static_cast<std::size_t>(order[0]));
      ++second.at(static_cast<std::size_t>(order[1]));
    }
    // The standard deviation of a count is 9.5.
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(first[i], 100, 40) << i;
      EXPECT_NEAR(second[i], 90, 40) << i;
    }
    EXPECT_NEAR(second[10], 100, 40);
    EXPECT_EQ(std::count(first.begin() + 10, first.end(), 0), 90);
    EXPECT_EQ(std::count(second.begin() + 11, second.end(), 0), 89);
  }
}

// TensorFlow's orders, of each pass.
TEST(Shuffle, SeedsGiveTensorFlowsOrder) {
  using List = std::vector<std::int64_t>;
  const auto plain = [](const Dataset& d) { return d.map([](tf::Nest n) { return n; }); };
  for (const bool rows : {true, false}) {
    const auto source = [&](std::int64_t n) {
      return rows ? Dataset::range(n) : plain(Dataset::range(n));
    };
    tf::random::set_seed(7);
    const Dataset ds = source(10).shuffle(4, {.seed = 5});
    EXPECT_EQ(values(ds), (List{0, 1, 3, 6, 4, 5, 7, 8, 2, 9})) << rows;
    EXPECT_EQ(values(ds), (List{3, 2, 1, 5, 0, 6, 9, 4, 7, 8})) << rows;
    EXPECT_EQ(values(ds), (List{2, 4, 0, 3, 6, 7, 5, 8, 1, 9})) << rows;
    tf::random::set_seed(7);
    EXPECT_EQ(values(source(10).shuffle(4, {.seed = 5}).repeat(2)),
              (List{0, 1, 3, 6, 4, 5, 7, 8, 2, 9, 3, 2, 1, 5, 0, 6, 9, 4, 7, 8}));
    // A state tells where the passes are.
    tf::random::set_seed(7);
    const Dataset again = source(10).shuffle(4, {.seed = 5}).repeat(2);
    auto it = again.iter();
    tf::Nest one;
    for (int i = 0; i < 6; ++i) one = it.next();
    const std::string state = it.save();
    auto other = again.iter();
    other.restore(state);
    List rest;
    for (int i = 0; i < 14; ++i) rest.push_back(other.next().as_tensor().item<std::int64_t>());
    EXPECT_EQ(rest, (List{7, 8, 2, 9, 3, 2, 1, 5, 0, 6, 9, 4, 7, 8}));
    tf::random::set_seed(1);
    EXPECT_EQ(values(source(20).shuffle(20, {.seed = 2}).take(10)),
              (List{12, 10, 2, 11, 17, 5, 14, 13, 16, 18}));
  }
}

TEST(SampleFromDatasets, SeedsGiveTensorFlowsChoice) {
  tf::random::set_seed(7);
  const auto a = Dataset::range(0, 6), b = Dataset::range(10, 16), c = Dataset::range(20, 26);
  EXPECT_EQ(values(Dataset::sample_from_datasets({a, b, c}, {}, {.seed = 4})),
            (std::vector<std::int64_t>{0, 1, 20, 2, 21, 3, 22, 10, 11, 12, 23, 4, 13, 24, 25, 5, 14,
                                       15}));
  EXPECT_EQ(values(Dataset::sample_from_datasets({a, b, c}, {0.5, 0, 0.25}, {.seed = 4})),
            (std::vector<std::int64_t>{0, 1, 20, 2, 21, 3, 22, 4, 5, 23, 24, 25}));
}

}  // namespace
