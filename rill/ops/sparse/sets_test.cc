#include <gtest/gtest.h>

#include "rill/rill.h"

namespace tf = rill;
namespace sets = tf::sets;
using tf::SparseTensor;
using tf::Tensor;

namespace {

using Ints = std::vector<std::int64_t>;
void expect_is(const SparseTensor& t, const Ints& indices, const Ints& values, const Ints& shape) {
  EXPECT_EQ(t.indices.to_vector<std::int64_t>(), indices);
  EXPECT_EQ(t.values.to_vector<std::int64_t>(), values);
  EXPECT_EQ(t.dense_shape.to_vector<std::int64_t>(), shape);
}

// TensorFlow 2.15's results.
TEST(Sets, OfDenseTensors) {
  const Tensor a = tf::constant({{1, 2, 2}, {4, 5, 1}}), b = tf::constant({{2, 9}, {1, 1}});
  expect_is(sets::intersection(a, b), {0, 0, 1, 0}, {2, 1}, {2, 1});
  expect_is(sets::union_(a, b), {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}, {1, 2, 9, 1, 4, 5}, {2, 3});
  expect_is(sets::difference(a, b), {0, 0, 1, 0, 1, 1}, {1, 4, 5}, {2, 2});
  expect_is(sets::difference(a, b, false), {0, 0}, {9}, {2, 1});
}

TEST(Sets, OfSparseTensorsInAnyOrder) {
  const Tensor a = tf::constant({{1, 2, 2}, {4, 5, 1}});
  const SparseTensor s = tf::sparse::from_dense(tf::constant({{7, 0, 8}, {0, 0, 0}}));
  const SparseTensor t = tf::sparse::from_dense(tf::constant({{7, 5, 0}, {0, 3, 0}}));
  expect_is(sets::union_(s, t), {0, 0, 0, 1, 0, 2, 1, 0}, {5, 7, 8, 3}, {2, 3});
  expect_is(sets::difference(s, t), {0, 0}, {8}, {2, 1});
  expect_is(sets::difference(a, s), {0, 0, 0, 1, 1, 0, 1, 1, 1, 2}, {1, 2, 1, 4, 5}, {2, 3});
  expect_is(sets::difference(s, a), {0, 0, 0, 1}, {7, 8}, {2, 2});
  EXPECT_EQ(sets::size(s).to_vector<int>(), (std::vector<int>{2, 0}));
  auto f = tf::function([](Tensor x, Tensor y) { return sets::size(sets::union_(x, y)); });
  EXPECT_EQ(f(a, tf::constant({{2, 9}, {1, 1}})).to_vector<int>(), (std::vector<int>{3, 3}));
}

}  // namespace
