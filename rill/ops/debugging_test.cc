#include "rill/ops/debugging.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(IsNumericTensor, IsTrueOfNumbers) {
  EXPECT_TRUE(debugging::is_numeric_tensor(tf::zeros({2}, tf::bfloat16)));
  EXPECT_TRUE(debugging::is_numeric_tensor(tf::zeros({2}, tf::uint8)));
  EXPECT_TRUE(debugging::is_numeric_tensor(tf::zeros({2}, tf::complex64)));
  EXPECT_FALSE(debugging::is_numeric_tensor(tf::constant(true)));
  EXPECT_FALSE(debugging::is_numeric_tensor(tf::constant("1")));
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

TEST(AssertShapes, TiesSizesTogetherByName) {
  const Tensor x = tf::zeros({10, 3}), y = tf::ones({10, 7});
  const tf::Variable param(tf::constant({1.f, 2.f, 3.f}));
  debugging::assert_shapes({{x, {"N", "Q"}}, {y, {"N", "D"}}, {param, {"Q"}}, {x[0][0], {}}});
  debugging::assert_shapes({{x, {10, "."}}, {y, {tf::None, "7"}}, {tf::ones({1}), {}}});
  debugging::assert_shapes({{tf::ones({2, 4, 3}), {"...", "Q"}}, {param, {"*", "Q"}}});
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_shapes({{x, {"N", "D"}}, {y, {"N", "D"}}}, {.message = "inputs"});
      },
      "[assert_shapes] inputs axis 1 of the float32 tensor of shape [10, 7] has size 7; expected 3 "
      "(\"D\", by axis 1 of the float32 tensor of shape [10, 3])");
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_shapes({{x, {"N", 4}}});
      },
      "has size 3; expected 4");
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_shapes({{x, {"N"}}});
      },
      "expected one of the ranks [0, 1]; the shape is [10, 3]");
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_shapes({{param, {"A", "B"}}});
      },
      "expected rank 2");
  expect_error<InvalidArgument>(
      [&] {
        debugging::assert_shapes({{x, {"N", "*"}}});
      },
      "the first entry");
}

TEST(AssertShapes, ChecksUnknownSizesWhenTheGraphRuns) {
  auto f = tf::function(
      [](Tensor x, Tensor y) {
        debugging::assert_shapes({{x, {"N", "Q"}}, {y, {"...", "Q"}}});
        return tf::reduce_sum(x) + tf::reduce_sum(y);
      },
      {.input_signature = {tf::TensorSpec({tf::None, tf::None}, tf::float32),
                           tf::TensorSpec(tf::TensorShape::unknown_rank(), tf::float32)}});
  EXPECT_EQ(f(tf::ones({2, 3}), tf::ones({3})).item<float>(), 9);
  EXPECT_EQ(f(tf::ones({2, 1}), 5.f).item<float>(), 7) << "a scalar has one axis of size 1";
  expect_error<InvalidArgument>(
      [&] {
        f(tf::ones({2, 3}), tf::ones({4, 2}));
      },
      "has size] [2] [expected (\"Q\", by axis 1");
}

// Numerics are checked while it lives.
struct CheckedNumerics {
  CheckedNumerics() { debugging::enable_check_numerics(); }
  ~CheckedNumerics() { debugging::disable_check_numerics(); }
};

TEST(CheckNumerics, NamesTheOpThatMadeThem) {
  const Tensor x = tf::constant({0.f, 1.f});
  EXPECT_TRUE(std::isinf(tf::log(x).to_vector<float>()[0]));
  {
    const CheckedNumerics checked;
    EXPECT_EQ(tf::sqrt(x).to_vector<float>(), (std::vector<float>{0, 1}));
    const auto take_log = [&] { tf::log(x); };
    constexpr int line = __LINE__ - 1;
    expect_error<InvalidArgument>(take_log, tf::format("debugging_test.cc:{}\n  result 0", line));
    expect_error<InvalidArgument>([&] { tf::log(x); },
                                  "[check_numerics] Log made numbers that are not finite, at ");
    expect_error<InvalidArgument>([&] { tf::log(x); },
                                  "result 0: float32 [2], 0 NaN and 1 infinite of 2 elements, the "
                                  "first at [0]: -inf; the others from 0 to 0\n  input 0: float32 "
                                  "[2], from 0 to 1");
    const Tensor moved = tf::transpose(tf::constant({{nan, 1.f}}));
    EXPECT_EQ(moved.shape(), tf::TensorShape({2, 1})) << "what only moves elements may";
  }
  EXPECT_TRUE(std::isinf(tf::log(x).to_vector<float>()[0])) << "no longer checked";
}

TEST(CheckNumerics, LooksIntoFunctionsAndGradients) {
  auto f = tf::function([](Tensor x) {
    const Tensor y = x - 1.f;
    return tf::reduce_sum(tf::sqrt(y) * 2.f);
  });
  EXPECT_TRUE(std::isnan(f({0.f}).item<float>())) << "traced and planned before";
  const CheckedNumerics checked;
  EXPECT_EQ(f({5.f}).item<float>(), 4);
  expect_error<InvalidArgument>([&] { f({0.f}); }, "Sqrt made numbers that are not finite");
  expect_error<InvalidArgument>([&] { f({0.f}); }, "in node \"Sqrt\" (");
  const Tensor x = tf::constant({1.f});
  tf::GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);  // sqrt(0), whose derivative is infinite
  expect_error<InvalidArgument>([&] { tape.gradient(y, x); }, "made numbers that are not finite");
}

}  // namespace
