#include "rill/base/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rill {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Version, IsThisRelease) { EXPECT_STREQ(version(), "0.1.0"); }

}  // namespace
}  // namespace rill
