#include "rill/data/autotune_impl.h"

#include <gtest/gtest.h>

#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

TEST(AutotuneBudget, PartsShareWhatIsAllowed) {
  AutotuneBudget budget;
  budget.set_limit(100);
  AutotuneBudget::Part one(budget);
  EXPECT_TRUE(one.resize(60));
  {
    AutotuneBudget::Part other(budget);
    EXPECT_FALSE(other.resize(50));
    EXPECT_TRUE(other.resize(40));
    EXPECT_FALSE(one.resize(61));
    EXPECT_TRUE(one.resize(30));    // less is always granted
    EXPECT_TRUE(other.resize(70));  // of which 40 were held before
    EXPECT_FALSE(one.resize(31));
  }
  EXPECT_TRUE(one.resize(100)) << "a part that is gone holds nothing";
}

TEST(AutotuneBudget, ElementsAreAsLargeAsTheirTensors) {
  EXPECT_EQ(bytes_of(Nest{zeros({2, 3}), zeros({5}, int64)}), 24 + 40);
  EXPECT_EQ(bytes_of(Nest{constant("abc")}) - bytes_of(Nest{constant("")}), 3);
}

}  // namespace
}  // namespace rill::data
