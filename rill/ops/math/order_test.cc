#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;

namespace {

using Ints = std::vector<int>;

TEST(Argmax, IsInt64UnlessAsked) {
  RILL_SHOWS("O06");
  const auto y = tf::constant({{1.f, 3.f, 2.f}, {5.f, 4.f, 5.f}});
  const auto best = tf::argmax(y, {.axis = -1, .output_type = tf::int32});
  EXPECT_EQ(best.dtype(), tf::int32);
  EXPECT_EQ(best.to_vector<int>(), (Ints{1, 0}));
  EXPECT_EQ(tf::argmax(y).dtype(), tf::int64);
  EXPECT_EQ(tf::argmax(y).to_vector<int>(), (Ints{1, 1, 1}));
  EXPECT_EQ(tf::argmin(y, 1).to_vector<int>(), (Ints{0, 1}));
}

TEST(Sort, PutsNanLast) {
  const float nan = __builtin_nanf("");
  const auto x = tf::constant({2.f, nan, 1.f, nan, 3.f});
  EXPECT_EQ(tf::argsort(x).to_vector<int>(), (Ints{2, 0, 4, 1, 3}));
  EXPECT_EQ(tf::argsort(x, -1, "DESCENDING").to_vector<int>(), (Ints{4, 0, 2, 1, 3}));
}

TEST(Sort, KeepsTheExtremesOfIntegers) {
  EXPECT_EQ(tf::sort(tf::constant({0, -2147483647 - 1, 2147483647})).to_vector<int>(),
            (Ints{-2147483647 - 1, 0, 2147483647}));
  EXPECT_EQ(tf::sort(tf::constant({3, 255, 0}, tf::uint8)).to_vector<int>(), (Ints{0, 3, 255}));
}

TEST(TopK, ReadsAsAPair) {
  const auto [values, indices] =
      tf::math::top_k(tf::constant({{1.f, 9.f, 3.f}, {4.f, 0.f, 4.f}}), 2);
  EXPECT_EQ(values.to_vector<float>(), (std::vector<float>{9, 3, 4, 4}));
  EXPECT_EQ(indices.to_vector<int>(), (Ints{1, 2, 0, 2}));
}

TEST(Unique, OfStringsWithCounts) {
  const auto [y, idx, count] = tf::unique_with_counts(tf::constant({"b", "a", "b"}));
  EXPECT_EQ(y.to_vector<std::string>(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(idx.to_vector<int>(), (Ints{0, 1, 0}));
  EXPECT_EQ(count.to_vector<int>(), (Ints{2, 1}));
}

}  // namespace
