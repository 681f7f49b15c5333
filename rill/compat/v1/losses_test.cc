#include "rill/compat/v1/losses.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
using tf::Tensor, tf::errors::InvalidArgument, tf::testing::expect_error;

namespace {

using Reduction = tf::losses::Reduction;

const auto labels = [] { return tf::constant({0, 1, 1}); };
const auto logits = [] { return tf::constant({{1.f, 2.f}, {0.f, 1.f}, {3.f, 1.f}}); };

TEST(SparseSoftmaxCrossEntropy, TakesAColumnOfWeights) {
  const Tensor column = tf::constant({{1.f}, {2.f}, {0.f}}), row = tf::constant({1.f, 2.f, 0.f});
  for (const Tensor& weights : {column, row})
    for (const Tensor& y : {labels(), tf::expand_dims(labels(), 1)})
      EXPECT_NEAR(tf::losses::sparse_softmax_cross_entropy(y, logits(), weights).item<float>(),
                  0.9698925f, 1e-6f);
  const Tensor each =
      tf::losses::sparse_softmax_cross_entropy(labels(), logits(), column, Reduction::NONE);
  EXPECT_EQ(each.shape(), tf::TensorShape({3}));
  EXPECT_NEAR(tf::losses::sparse_softmax_cross_entropy(labels(), logits(), {{2.f}}).item<float>(),
              2.502301f, 1e-6f);
  EXPECT_THROW(
      tf::losses::sparse_softmax_cross_entropy(labels(), logits(), tf::constant({{1.f, 2.f, 0.f}})),
      InvalidArgument);
}

// The others have weights of the rank of the losses.
TEST(Losses, RefuseWeightsOfAnotherRank) {
  const Tensor column = tf::constant({{1.f}, {2.f}, {0.f}}), row = tf::constant({1.f, 2.f, 0.f});
  const std::string why = "do not fit losses of shape";
  expect_error<InvalidArgument>(
      [&] { tf::losses::softmax_cross_entropy(tf::one_hot(labels(), 2), logits(), column); }, why);
  expect_error<InvalidArgument>([&] { tf::losses::mean_squared_error(row, row, column); }, why);
  expect_error<InvalidArgument>([&] { tf::losses::mean_squared_error(column, column, row); }, why);
  expect_error<InvalidArgument>(
      [&] { tf::losses::compute_weighted_loss(3.f, tf::constant({2.f})); }, why);
  EXPECT_EQ(tf::losses::mean_squared_error(tf::ones({3, 2}), logits(), column).item<float>(),
            0.75f);
}

}  // namespace
