#include "rill/ops/debugging.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace debugging = tf::debugging;
using rill::testing::expect_error;
using tf::Tensor;
using tf::errors::InvalidArgument;

namespace {

constexpr float nan = __builtin_nanf("");

TEST(Assert, FailsWithItsData) {
  tf::Assert(true, {tf::constant("fine")});
  expect_error<InvalidArgument>(
      [] {
        tf::Assert(tf::constant(false), {tf::constant("x is"), tf::range(10)});
      },
      "assertion failed: [x is] [[0 1 2 ... 7 8 9]]");
}

TEST(Assert, ComparesEveryElement) {
  const Tensor x = tf::constant({1.f, 2.f});
  debugging::assert_equal(x, {1, 2});
  debugging::assert_none_equal(x, 3);
  debugging::assert_less(x, 3);
  debugging::assert_less_equal(x, {1, 2});
  debugging::assert_greater(x, 0);
  debugging::assert_greater_equal(x, 1);
  debugging::assert_positive(x);
  debugging::assert_non_negative(x - 1);
  debugging::assert_negative(-x);
  debugging::assert_non_positive(1 - x);
  debugging::assert_near(x, x + 1e-7);
  debugging::assert_all_finite(x);
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_equal(x, {1, 3}, {.message = "sizes differ"});
      },
      "[[assert_equal] sizes differ expected x == y in every element; x =] [[1 2]] [y =] [[1 3]]");
  expect_error<InvalidArgument>([&] { debugging::assert_less(x, 2); },
                                "[assert_less] expected x <");
  expect_error<InvalidArgument>([&] { debugging::assert_positive(x - 1); }, "x =] [[0 1]]");
  expect_error<InvalidArgument>([&] { debugging::assert_near(x, x + 0.5); }, "|x - y| <=");
  expect_error<InvalidArgument>([&] { debugging::assert_all_finite(x * nan, "weights"); },
                                "[assert_all_finite] weights expected no NaN");
  expect_error<InvalidArgument>([] { debugging::assert_near(1, 2); }, "Use assert_equal");
}

TEST(Assert, ClaimsRanksAndDtypes) {
  const Tensor x = tf::zeros({2, 3});
  debugging::assert_rank(x, 2);
  debugging::assert_rank_at_least(x, 1);
  debugging::assert_scalar(7);
  debugging::assert_type(x, tf::float32);
  expect_error<InvalidArgument>([&] { debugging::assert_rank(x, 3); },
                                "[assert_rank] expected rank 3; the shape is [2, 3]");
  expect_error<InvalidArgument>([&] { debugging::assert_rank_at_least(x, 3); }, "rank 3 or more");
  expect_error<InvalidArgument>([&] { debugging::assert_scalar(x); }, "expected a scalar");
  expect_error<InvalidArgument>([&] { debugging::assert_type(x, tf::int32); },
                                "expected dtype int32; the tensor is float32");
}

TEST(Assert, IsCheckedWheneverAFunctionRuns) {
  tf::Variable steps(0);
  auto f = tf::function([&](Tensor x) {
    debugging::assert_non_negative(x, {.message = "lengths"});
    steps.assign_add(1);
    return tf::sqrt(x);
  });
  EXPECT_EQ(f(tf::constant({4.f, 9.f})).to_vector<float>(), (std::vector<float>{2, 3}));
  expect_error<InvalidArgument>(
      [&] {
        f(tf::constant({4.f, -9.f}));
      },
      "[assert_non_negative] lengths expected x >= 0 in every element; "
      "x =] [[4 -9]]");
  EXPECT_EQ(steps.item<int>(), 1) << "what comes after the claim was not done";
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Assert, OfAnUnknownRankIsCheckedWhenTheGraphRuns) {
  auto f = tf::function(
      [](Tensor x) {
        debugging::assert_rank(x, 2);
        return x + 1;
      },
      {.input_signature = {tf::TensorSpec(tf::TensorShape::unknown_rank(), tf::float32)}});
  EXPECT_EQ(f(tf::ones({1, 2})).to_vector<float>(), (std::vector<float>{2, 2}));
  expect_error<InvalidArgument>([&] { f(tf::ones({2})); },
                                "[assert_rank] expected rank 2; the shape is] [[2]]");
}

}  // namespace
