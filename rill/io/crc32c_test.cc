#include "rill/io/crc32c.h"

#include <gtest/gtest.h>

#include <random>

namespace rill::io {
namespace {

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(mask_crc(0xe3069283u), 0xc78ab0e5u);
  EXPECT_EQ(mask_crc(0), 0xa282ead8u);
  EXPECT_EQ(unmask_crc(0xc78ab0e5u), 0xe3069283u);
}

TEST(Crc32c, InstructionAndTableAgreeAtEveryLengthAndCut) {
  std::mt19937 random(1);
  std::string bytes(300, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    const std::string_view all(bytes.data(), n);
    const std::uint32_t whole = crc32c(all);
    EXPECT_EQ(crc32c_by_table(all, 0), whole);
    EXPECT_EQ(crc32c(all.substr(n / 3), crc32c(all.substr(0, n / 3))), whole);
  }
}

}  // namespace
}  // namespace rill::io
