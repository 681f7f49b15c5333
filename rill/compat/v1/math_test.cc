#include "rill/compat/v1/math.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace v1 = tf::compat::v1;
using tf::errors::InvalidArgument, tf::testing::expect_error;

namespace {

TEST(DivisionOfVersion1, OfIntegersRoundsTowardZero) {
  EXPECT_EQ(v1::div(tf::constant({7, -7}), 2).to_vector<int>(), (std::vector<int>{3, -3}));
  EXPECT_EQ(v1::div(tf::constant({7.f, -7.f}), 2).to_vector<float>(),
            (std::vector<float>{3.5f, -3.5f}));
}

TEST(ClipOfVersion1, ByAverageNormDividesTheNormByTheSize) {
  RILL_SHOWS("L39", "Q50");
  // The norm of [3, 4] is 5, its average 2.5.
  const auto t = v1::clip_by_average_norm(tf::constant({3.f, 4.f}), 1.f).to_vector<float>();
  EXPECT_NEAR(t[0], 3 / 2.5f, 1e-6f);
  EXPECT_NEAR(t[1], 4 / 2.5f, 1e-6f);
  expect_error<InvalidArgument>(
      [] {
        v1::clip_by_average_norm(tf::constant({1, 2}), 1);
      },
      "[clip_by_average_norm] t is int32; expected a floating-point dtype");
}

}  // namespace
