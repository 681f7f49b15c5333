#include "rill/base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace rill {
namespace {

TEST(Hash, SipHashHasItsPublishedAnswers) {
  // Keys 00 01 .. 0f, messages 00 01 ..: the vectors of the paper.
  const std::uint64_t k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908;
  std::string message;
  for (char i = 0; i < 15; ++i) message += i;
  EXPECT_EQ(siphash64(message, k0, k1), 0xa129ca6149be45e5u);
  EXPECT_EQ(siphash64("", k0, k1), 0x726fdb47dd0e0e31u);
}

TEST(Hash, FingerprintsDependOnEveryByte) {
  for (const std::size_t n : {1u, 5u, 12u, 20u, 40u, 64u, 65u, 200u}) {
    const std::string text(n, 'x');
    for (std::size_t i = 0; i < n; ++i) {
      std::string other = text;
      other[i] = 'y';
      EXPECT_NE(fingerprint64(other), fingerprint64(text)) << n << ' ' << i;
      EXPECT_NE(murmur64(other), murmur64(text)) << n << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace rill
