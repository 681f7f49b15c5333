#include "rill/ops/math_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;
using tf::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int>;

using rill::testing::printed;

namespace {

TEST(MathOps, AxisAsAField) {
  using namespace rill;
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor kept = reduce_sum(x, {.axis = 1, .keepdims = true});
  EXPECT_EQ(kept.shape(), TensorShape({2, 1}));
  EXPECT_EQ(kept.to_vector<float>(), (std::vector<float>{3, 7}));
  EXPECT_EQ(reduce_max(x, {.axis = -2}).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(reduce_mean(x, {.axis = std::vector{0, 1}}).item<float>(), 2.5f);
  EXPECT_EQ(reduce_variance(x, {.axis = 0}).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(reduce_sum(x, {.keepdims = true}).shape(), TensorShape({1, 1}));
  EXPECT_EQ(reduce_sum(x, {0, 1}).item<float>(), 10);
}

TEST(MathOps, AssignmentsWithAnOperator) {
  using namespace rill;
  Tensor x = constant({1.f, 2.f});
  const Tensor before = x;
  x += 1;
  x *= constant({2.f, 3.f});
  x -= 0.5f;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.75f, 4.25f}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(MathOps, OrderOfAllElements) {
  using namespace rill;
  EXPECT_TRUE(math::is_non_decreasing(constant({1.f, 1.f, 3.f})).item<bool>());
  EXPECT_FALSE(math::is_strictly_increasing(constant({1.f, 1.f, 3.f})).item<bool>());
  EXPECT_TRUE(math::is_strictly_increasing(constant({{1, 2}, {3, 4}})).item<bool>());
  EXPECT_FALSE(math::is_non_decreasing(constant({3, 1}, uint8)).item<bool>());
  for (const int n : {0, 1}) EXPECT_TRUE(math::is_strictly_increasing(zeros({n})).item<bool>());
}

TEST(MathOps, TensordotTakesNoNegativeCount) {
  const auto x = tf::ones({2, 2});
  EXPECT_EQ(tf::tensordot(x, x, 0).shape(), tf::TensorShape({2, 2, 2, 2}));
  expect_error<tf::errors::InvalidArgument>([&] { tf::tensordot(x, x, -1); },
                                            "axes is -1; expected 0 or more");
}

TEST(MathOps, AddMultiplyAndMatmulTakeIntegers) {
  RILL_SHOWS("O02", "Q56");
  const auto a = tf::constant({{1, 2}, {3, 4}}), b = tf::constant({{5, 6}, {7, 8}});
  EXPECT_EQ(tf::add(a, b).to_string(), "[[ 6  8]\n [10 12]]");
  EXPECT_EQ(tf::matmul(a, b).to_string(), "[[19 22]\n [43 50]]");
  EXPECT_EQ(tf::multiply(a, b).to_string(), "[[ 5 12]\n [21 32]]");
}

TEST(MathOps, ReductionsWithoutAxisAreScalars) {
  RILL_SHOWS("O03");
  const auto x = tf::constant({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(printed(tf::reduce_sum(tf::square(x))), "tf.Tensor(30.0, shape=(), dtype=float32)");
  EXPECT_EQ(tf::reduce_sum(x, 0).to_vector<float>(), (Floats{4, 6}));
  EXPECT_EQ(printed(tf::reduce_mean(x)), "tf.Tensor(2.5, shape=(), dtype=float32)");
  EXPECT_EQ(tf::reduce_mean(x, 1).to_vector<float>(), (Floats{1.5, 3.5}));
}

TEST(MathOps, ExpLogAndPow) {
  RILL_SHOWS("O04");
  EXPECT_EQ(tf::exp(0.f).item<float>(), 1.f);
  EXPECT_EQ(tf::log(1.f).item<float>(), 0.f);
  EXPECT_EQ(tf::pow(tf::constant({2.f, -3.f}), 2).to_vector<float>(), (Floats{4, 9}));
  const auto x = tf::constant(0.f);
  tf::GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(tf::pow(x, 2), x).item<float>(), 0.f)
      << "the gradient at base 0 is a number";
}

TEST(MathOps, StringsCompare) {
  RILL_SHOWS("O07");
  const auto names = tf::constant({"cat", "dog"});
  EXPECT_EQ(tf::equal(names, "cat").to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tf::not_equal(names, "cat").to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(tf::equal(tf::constant({1, 2}), tf::constant({1, 3})).to_vector<bool>(),
            (std::vector<bool>{true, false}));
}

TEST(MathOps, RowsGetTheirBiasByBroadcasting) {
  RILL_SHOWS("O27");
  const auto rows = tf::zeros({2, 3}) + tf::constant({1.f, 2.f, 3.f});
  EXPECT_EQ(rows.to_string(), "[[1. 2. 3.]\n [1. 2. 3.]]");
}

TEST(MathOps, DivisionIsTrue) {
  RILL_SHOWS("O29");
  EXPECT_EQ(printed(tf::constant(1) / tf::constant(4)), "tf.Tensor(0.25, shape=(), dtype=float64)");
  EXPECT_EQ((tf::constant({51}, tf::uint8) / 255).dtype(), tf::float32);
  EXPECT_EQ(tf::floordiv(tf::constant(-7), 2).item<int>(), -4);
  EXPECT_EQ(tf::truncatediv(tf::constant(-7), 2).item<int>(), -3);
  expect_error<tf::errors::InvalidArgument>([] { tf::floordiv(tf::constant(1), 0); }, "zero");
}

TEST(MathOps, RemaindersHaveTheSignOfTheDivisor) {
  RILL_SHOWS("O30");
  EXPECT_EQ((tf::constant({7, -7, 7, -7}) % tf::constant({2, 2, -2, -2})).to_vector<int>(),
            (Ints{1, 1, -1, -1}));
  EXPECT_EQ((tf::constant({5.5f, -5.5f}) % 2).to_vector<float>(), (Floats{1.5, 0.5}));
  EXPECT_TRUE(static_cast<bool>(tf::constant(3) % 2 > 0));
}

TEST(MathOps, ReluTakesIntegers) {
  RILL_SHOWS("Q55");
  // The guides' deep_net: relu(2 x + 1).
  EXPECT_EQ(printed(tf::nn::relu(2 * tf::constant({1, 2, 3}) + 1)),
            "tf.Tensor([3 5 7], shape=(3,), dtype=int32)");
  EXPECT_EQ(tf::nn::relu(tf::constant({-3, 0, 2})).to_vector<int>(), (Ints{0, 0, 2}));
}

TEST(MathOps, SoftmaxIsADistribution) {
  RILL_SHOWS("O21", "O22");
  const auto logits = tf::constant({{1.f, 2.f, 3.f}, {1000.f, 1000.f, -1000.f}});
  const auto p = tf::nn::softmax(logits);
  for (const float sum : tf::reduce_sum(p, 1).to_vector<float>()) EXPECT_FLOAT_EQ(sum, 1);
  for (const float v : p.to_vector<float>()) EXPECT_TRUE(v >= 0 && v <= 1) << v;
  EXPECT_EQ(p[1].to_vector<float>(), (Floats{0.5, 0.5, 0}));
  // A low temperature emphasises the maximum, a high one evens out.
  const auto cold = tf::nn::softmax(logits / 0.1f)[0].to_vector<float>(),
             hot = tf::nn::softmax(logits / 10.f)[0].to_vector<float>();
  EXPECT_GT(cold[2], 0.9999f);
  EXPECT_LT(hot[2], 0.4f);
}

TEST(MathOps, AffineLayerInOneCall) {
  RILL_SHOWS("O26");
  const auto x = tf::constant({{1.f, 2.f}}), w = tf::constant({{1.f, 0.f}, {0.f, 1.f}}),
             b = tf::constant({10.f, 20.f});
  EXPECT_EQ(tf::nn::xw_plus_b(x, w, b).to_vector<float>(), (Floats{11, 22}));
}

TEST(MathOps, SigmoidCrossEntropyFollowsItsFormula) {
  RILL_SHOWS("Q49");
  for (const float x : {-80.f, -1.5f, 0.f, 2.f, 80.f})
    for (const float z : {0.f, 0.25f, 1.f}) {
      const float want = std::max(x, 0.f) - x * z + std::log1p(std::exp(-std::abs(x)));
      EXPECT_FLOAT_EQ(tf::nn::sigmoid_cross_entropy_with_logits(
                          {.labels = tf::constant(z), .logits = tf::constant(x)})
                          .item<float>(),
                      want)
          << x << ' ' << z;
    }
}

TEST(MathOps, GradientsPrint) {
  RILL_SHOWS("Q13", "Q15", "Q32");
  const auto square = [](Tensor x) { return x * x; };
  const auto grad = tf::gradients_function(square);
  const auto gradgrad = tf::gradients_function([&](Tensor x) { return Tensor(grad(x)[0]); });
  const auto gradgradgrad =
      tf::gradients_function([&](Tensor x) { return Tensor(gradgrad(x)[0]); });
  EXPECT_EQ(square(tf::constant(3.f)).item<float>(), 9.f);
  EXPECT_EQ(grad(3.f)[0].item<float>(), 6.f);
  EXPECT_EQ(gradgrad(3.f)[0].item<float>(), 2.f);
  EXPECT_FALSE(gradgradgrad(3.f)[0].defined());
  const auto [value, grads] = tf::value_and_gradients_function(square)(3.f);
  EXPECT_EQ(printed(value) + " " + printed(grads[0]),
            "tf.Tensor(9.0, shape=(), dtype=float32) tf.Tensor(6.0, shape=(), dtype=float32)");
}

TEST(MathOps, NaiveLog1pExpLosesItsGradient) {
  RILL_SHOWS("Q17", "Z05");
  const auto grad = tf::gradients_function([](Tensor x) { return tf::log(1 + tf::exp(x)); });
  EXPECT_EQ(grad(0.f)[0].item<float>(), 0.5f);
  EXPECT_TRUE(std::isnan(grad(100.f)[0].item<float>()));
}

TEST(MathOps, SortNamesItselfInErrors) {
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        tf::sort(tf::constant({"b", "a"}));
      },
      "[sort] values have dtype string");
  expect_error<tf::errors::InvalidArgument>([&] { tf::argsort(tf::constant({true})); },
                                            "[argsort] values have dtype bool");
}

// A short last axis that repeats is written down many times: more rows than that, and a rest.
TEST(MathOps, ShortRowsRepeat) {
  for (tf::DType d : {tf::float32, tf::float64, tf::float16, tf::uint8, tf::int64, tf::complex128})
    for (auto [rows, n] : {std::pair{1001, 3}, {170, 3}, {171, 3}, {40, 64}, {9, 65}, {3, 2}}) {
      SCOPED_TRACE(tf::format("{} {} x {}", d, rows, n));
      const Tensor x = tf::cast(tf::reshape(tf::range(rows * n), {rows, n}) % 50 + 60, d),
                   row = tf::cast(tf::range(n) % 50 + 1, d);
      const Tensor repeated = tf::tile(tf::reshape(row, {1, n}), {rows, 1});
      EXPECT_TRUE(tf::reduce_all(tf::equal(x - row, x - repeated)).item<bool>());
      EXPECT_TRUE(tf::reduce_all(tf::equal(row - x, repeated - x)).item<bool>());
      EXPECT_TRUE(tf::reduce_all(tf::equal(x, row) == tf::equal(x, repeated)).item<bool>());
    }
}

}  // namespace
