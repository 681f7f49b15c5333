#include "rill/compat/v1/nn.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace v1 = tf::compat::v1::nn;
using tf::errors::InvalidArgument, tf::testing::expect_error;

namespace {

TEST(DropoutOfVersion1, TakesKeepProbOrRateNotBoth) {
  RILL_SHOWS("O25", "Z51");
  tf::random::set_seed(5);
  const auto y = v1::dropout(tf::ones({1000}), 0.8).to_vector<float>();
  EXPECT_NEAR(static_cast<double>(std::count(y.begin(), y.end(), 0.f)) / 1000, 0.2, 0.07);
  EXPECT_FLOAT_EQ(*std::max_element(y.begin(), y.end()), 1.25f);
  expect_error<InvalidArgument>([] { v1::dropout(tf::ones({3}), {.keep_prob = 0.5, .rate = 0.5}); },
                                "both rate and keep_prob are given");
  expect_error<InvalidArgument>([] { v1::dropout(tf::ones({3}), {.seed = 1}); },
                                "neither rate nor keep_prob");
  expect_error<InvalidArgument>([] { v1::dropout(tf::ones({3}), 0); },
                                "keep_prob is 0; expected a number in (0, 1]");
}

}  // namespace
