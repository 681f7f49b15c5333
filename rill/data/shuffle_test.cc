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

}  // namespace
