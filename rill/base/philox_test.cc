#include "rill/base/philox.h"

#include <gtest/gtest.h>

namespace rill {
namespace {

constexpr std::uint32_t kOnes = 0xffffffff;

// The known answers published with the algorithm.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox()(), (Philox::Group{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes})(),
            (Philox::Group{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344})(),
            (Philox::Group{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, SkipIsTheSameAsDrawing) {
  Philox drawn({1, 2}, {3, 4, 5, 6});
  Philox skipped = drawn;
  for (int i = 0; i < 1000; ++i) drawn();
  skipped.skip(1000);
  EXPECT_EQ(drawn, skipped);
  EXPECT_EQ(drawn(), skipped());
}

TEST(Philox, TheCounterCarries) {
  Philox drawn({1, 2}, {kOnes, kOnes, kOnes, 7});
  Philox skipped = drawn;
  drawn();
  skipped.skip(1);
  EXPECT_EQ(drawn.counter(), (Philox::Group{0, 0, 0, 8}));
  EXPECT_EQ(drawn, skipped);
  skipped.skip(std::uint64_t{5} << 32 | 9);
  EXPECT_EQ(skipped.counter(), (Philox::Group{9, 5, 0, 8}));
  Philox last({0, 0}, {kOnes, kOnes, kOnes, kOnes});
  last.skip(1);
  EXPECT_EQ(last.counter(), (Philox::Group{0, 0, 0, 0}));
}

TEST(Philox, WordsAreLowFirst) {
  const Philox gen(0x0000000200000001, 0x0000000400000003, 0x0000000600000005);
  EXPECT_EQ(gen, Philox({1, 2}, {3, 4, 5, 6}));
}

}  // namespace
}  // namespace rill
