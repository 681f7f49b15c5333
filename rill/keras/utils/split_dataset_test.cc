#include <gtest/gtest.h>

#include "rill/keras/utils/split_dataset.h"
#include "rill/ops/array_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;

namespace {

std::vector<std::int64_t> values(const tf::data::Dataset& d) {
  std::vector<std::int64_t> all;
  for (const tf::Nest& x : d)
    for (const std::int64_t v : tf::cast(x.flatten()[0], tf::int64).to_vector<std::int64_t>())
      all.push_back(v);
  return all;
}
using Values = std::vector<std::int64_t>;

// The results are those of Keras 2.15.
TEST(SplitDataset, FirstAndLastSamples) {
  const auto data = tf::data::Dataset::range(10);
  const auto [left, right] = keras::utils::split_dataset(data, {.left_size = 0.75});
  EXPECT_EQ(values(left), (Values{0, 1, 2, 3, 4, 5, 6, 7}));  // 7.5 is rounded to the even
  EXPECT_EQ(values(right), (Values{8, 9}));
  const auto [a, b] = keras::utils::split_dataset(data, {.left_size = 3, .right_size = 0.2});
  EXPECT_EQ(values(a), (Values{0, 1, 2}));
  EXPECT_EQ(values(b), (Values{8, 9}));
}

TEST(SplitDataset, BatchesStayBatches) {
  const auto data = tf::data::Dataset::range(10).batch(4);
  const auto [left, right] = keras::utils::split_dataset(data, {.right_size = 3, .batch_size = 4});
  std::vector<std::int64_t> sizes;
  for (const tf::Nest& x : left) sizes.push_back(x.as_tensor().shape().dim(0));
  EXPECT_EQ(sizes, (Values{4, 3}));
  EXPECT_EQ(values(right), (Values{7, 8, 9}));
}

TEST(SplitDataset, ShufflesArraysTogether) {
  const tf::Tensor x = tf::range(10);
  const auto [left, right] = keras::utils::split_dataset(
      tf::tuple(x, x * 2), {.left_size = 6, .shuffle = true, .seed = 4});
  Values all;
  for (const auto& part : {left, right})
    for (const tf::Nest& pair : part) {
      EXPECT_EQ(pair[1].as_tensor().item<int>(), 2 * pair[0].as_tensor().item<int>());
      all.push_back(pair[0].as_tensor().item<int>());
    }
  EXPECT_NE(all, (Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(SplitDataset, SaysWhichSizeDoesNotFit) {
  const auto data = tf::data::Dataset::range(10);
  const auto refused = [&](keras::utils::SplitDatasetOptions o, const char* why) {
    rill::testing::expect_error<tf::errors::InvalidArgument>(
        [&] { keras::utils::split_dataset(data, o); }, why);
  };
  refused({}, "at least one of left_size and right_size");
  refused({.left_size = 10}, "left_size is 10");
  refused({.right_size = 1.5}, "right_size is 1.5");
  refused({.left_size = 0.7, .right_size = 0.7}, "7 and 7 samples together, of 10");
  refused({.left_size = 0.01}, "0 go to the left and 10 to the right");
}

}  // namespace
