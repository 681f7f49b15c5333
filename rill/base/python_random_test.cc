#include "rill/base/python_random.h"

#include <gtest/gtest.h>

namespace rill {
namespace {

// random.Random(seed).randint(0, 2**31 - 1) of CPython 3.11.
TEST(PythonRandom, DrawsWhatPythonDraws) {
  PythonRandom a(1234);
  for (const std::int64_t want : {1892932127, 501869158, 32175636, 389311301, 150006740})
    EXPECT_EQ(a.next_seed(), want);
  PythonRandom b((std::int64_t{1} << 40) + 3);
  EXPECT_EQ(b.next_seed(), 943978446);
  EXPECT_EQ(b.next_seed(), 261273136);
}
TEST(PythonRandom, TheSignOfASeedDoesNotCount) {
  PythonRandom a(-7), b(7);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(a.next_seed(), b.next_seed());
}

}  // namespace
}  // namespace rill
