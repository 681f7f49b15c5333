#include "rill/ops/array_ops.h"

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

TEST(ArrayOps, VectorsAndArraysAreOperands) {
  using namespace rill;
  const std::vector<int> places{2, 0};
  const std::array<double, 3> numbers{1, 2, 3};
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  EXPECT_EQ(gather(x, places, 1).to_vector<float>(), (std::vector<float>{3, 1, 6, 4}));
  // Beside a tensor it takes that one's dtype, alone it keeps its own.
  EXPECT_EQ((x * numbers).to_vector<float>(), (std::vector<float>{1, 4, 9, 4, 10, 18}));
  EXPECT_EQ(constant(numbers).dtype(), float64);
  EXPECT_EQ(constant(places).dtype(), int32);
  EXPECT_EQ(constant(std::vector<std::uint8_t>{7}).dtype(), uint8);
  EXPECT_EQ(rill::reverse(std::vector<std::string>{"a", "b"}, {0}).to_vector<std::string>(),
            (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(constant({places, places}).shape(), TensorShape({2, 2}));
  EXPECT_EQ(stack({places, {1, 1}}).to_vector<int>(), (std::vector<int>{2, 0, 1, 1}));
  EXPECT_EQ((ones({2, 0}) + std::vector<float>()).shape(), TensorShape({2, 0}));
  expect_error<errors::InvalidArgument>(
      [&] {
        constant({1, 2}) + std::vector<float>{1.5f, 2};
      },
      "fraction 1.5");
  // Vectors in a shape, and rows.
  EXPECT_EQ(constant(std::vector<float>{1, 2, 3, 4}, {2, 2}).shape(), TensorShape({2, 2}));
  const Tensor rows = constant(std::vector<std::vector<float>>{{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(rows.shape(), TensorShape({3, 2}));
  EXPECT_EQ(rows.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(constant(std::vector<std::vector<int>>{}).shape(), TensorShape({0, 0}));
  expect_error<errors::InvalidArgument>(
      [] {
        constant(std::vector<std::vector<int>>{{1, 2}, {3}});
      },
      "rows of 2 and 1 elements");
}

TEST(ArrayOps, ConstantsHaveTheirNaturalDType) {
  RILL_SHOWS("O01");
  EXPECT_EQ(tf::constant({{1, 2}, {3, 4}}).dtype(), tf::int32);
  EXPECT_EQ(tf::constant({{1., 2.}, {3., 4.}}).dtype(), tf::float32);
  EXPECT_EQ(tf::constant({1, 2, 3}).shape(), (tf::TensorShape{3}));
  EXPECT_EQ(printed(tf::constant(0.0)), "tf.Tensor(0.0, shape=(), dtype=float32)");
  EXPECT_EQ(tf::constant({"a.jpg", "b.jpg"}).dtype(), tf::string);
  EXPECT_EQ(tf::constant(std::vector<std::string>{"a", "b"}).dtype(), tf::string);
  EXPECT_EQ(tf::constant(std::vector<double>{1, 2}).dtype(), tf::float64)
      << "a vector keeps its own element type";
  EXPECT_EQ(tf::constant(7, tf::int64, {2, 2}).to_vector<int>(), Ints(4, 7));
}

TEST(ArrayOps, OneHotAddsAnAxis) {
  RILL_SHOWS("O09");
  const auto y = tf::constant({{0, 2}, {1, 1}}), scores = tf::zeros({2, 2, 3});
  const auto hot = tf::one_hot(y, tf::shape(scores)[-1]);
  EXPECT_EQ(hot.shape(), (tf::TensorShape{2, 2, 3}));
  EXPECT_EQ(hot.dtype(), tf::float32);
  EXPECT_EQ(hot.to_vector<int>(), (Ints{1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(tf::one_hot({1, 5}, 3).to_vector<int>(), (Ints{0, 1, 0, 0, 0, 0}))
      << "outside: all off";
}

TEST(ArrayOps, ReshapeKeepsTheOrder) {
  RILL_SHOWS("O11");
  const auto image = tf::reshape(tf::range(299 * 299), {299, 299, 1});
  EXPECT_EQ(image.shape(), (tf::TensorShape{299, 299, 1}));
  EXPECT_EQ(image(1, 0, 0).item<int>(), 299);
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::reshape(tf::zeros({6}), {-1, -1});
      },
      "only one size may be -1");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::reshape(tf::zeros({6}), {4, -1});
      },
      "do not divide");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::reshape(tf::zeros({6}), {-2, 3});
      },
      "negative (-2)");
}

TEST(ArrayOps, ConcatJoinsAlongTheLastAxis) {
  RILL_SHOWS("O12");
  const auto files = tf::concat({tf::constant({"cat.0", "cat.1"}), tf::constant({"dog.0"})}, -1);
  EXPECT_EQ(files.to_vector<std::string>(), (std::vector<std::string>{"cat.0", "cat.1", "dog.0"}));
  EXPECT_EQ(tf::concat({tf::ones({2, 1}), tf::zeros({2, 2})}, -1).to_string(),
            "[[1. 0. 0.]\n [1. 0. 0.]]");
}

TEST(ArrayOps, ConcatRefusesSizesBeyond63Bits) {
  const auto none = tf::zeros({0, std::int64_t{1} << 62});
  expect_error<tf::errors::InvalidArgument>([&] { tf::concat({none, none}, 1); }, "63 bits");
}

TEST(ArrayOps, SlicesStayInside) {
  const auto x = tf::zeros({2, 3});
  const auto begin = tf::constant({std::int64_t{1}, std::int64_t{0}}),
             size = tf::constant({INT64_MAX, std::int64_t{1}});
  expect_error<tf::errors::OutOfRange>([&] { tf::slice(x, begin, size); },
                                       "reach outside shape [2, 3]");
  EXPECT_EQ(tf::strided_slice(tf::range(6), {5}, {0}, {-2}).to_vector<int>(), (Ints{5, 3, 1}));
  EXPECT_EQ(tf::strided_slice(tf::range(6), {5}, {0}, {-2}, {.end_mask = 1}).to_vector<int>(),
            (Ints{5, 3, 1}));
  EXPECT_EQ(tf::strided_slice(tf::range(6), {1}, {3}).to_vector<int>(), (Ints{1, 2}));
}

TEST(ArrayOps, StackNeedsEqualShapes) {
  RILL_SHOWS("O13");
  EXPECT_EQ(tf::stack({tf::constant({1, 2}), tf::constant({3, 4})}).to_string(), "[[1 2]\n [3 4]]");
  EXPECT_EQ(tf::stack({tf::constant({1, 2}), tf::constant({3, 4})}, 1).to_string(),
            "[[1 3]\n [2 4]]");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::stack({tf::zeros({2}), tf::zeros({3})});
      },
      "[2]");
}

TEST(ArrayOps, FillMakesOneValue) {
  RILL_SHOWS("O14", "Q28");
  EXPECT_EQ(printed(tf::fill({2, 3}, 3)),
            "tf.Tensor(\n[[3 3 3]\n [3 3 3]], shape=(2, 3), dtype=int32)");
  EXPECT_EQ(tf::fill(tf::constant({2}), "x").to_vector<std::string>(),
            (std::vector<std::string>{"x", "x"}));
}

TEST(ArrayOps, IdentityIsTheValue) {
  RILL_SHOWS("O15");
  EXPECT_EQ(tf::identity({1.f, 2.f}).to_vector<float>(), (Floats{1, 2}));
}

TEST(ArrayOps, NormalNumbersHaveMean0AndDeviation1) {
  RILL_SHOWS("O17");
  tf::set_random_seed(1);
  const auto x = tf::random_normal({1000, 1000});
  EXPECT_NEAR(tf::reduce_mean(x).item<float>(), 0, 5e-3);
  EXPECT_NEAR(tf::math::reduce_std(x).item<float>(), 1, 5e-3);
  tf::set_random_seed(1);
  EXPECT_EQ(tf::random_normal({1000, 1000}).to_vector<float>(), x.to_vector<float>())
      << "a seed gives the same numbers again";
}

TEST(ArrayOps, UniformNumbersAreHalfOpen) {
  RILL_SHOWS("O18");
  const auto x = tf::random_uniform({4, 10});
  EXPECT_GE(tf::reduce_min(x).item<float>(), 0);
  EXPECT_LT(tf::reduce_max(x).item<float>(), 1);
  const auto i = tf::random_uniform({4, 100}, 0, 100, tf::int32);
  EXPECT_EQ(i.dtype(), tf::int32);
  EXPECT_GE(tf::reduce_min(i).item<int>(), 0);
  EXPECT_LT(tf::reduce_max(i).item<int>(), 100);
  const auto one = tf::random_uniform({}, -10, 10, tf::int64);
  EXPECT_EQ(one.ndim(), 0);
  EXPECT_TRUE(one.item<int>() >= -10 && one.item<int>() < 10);
  EXPECT_EQ(tf::random::uniform({3, 3}).shape(), (tf::TensorShape{3, 3}));
  expect_error<tf::errors::InvalidArgument>([] { tf::random_uniform({2}, 5, 5, tf::int32); },
                                            "minval 5 must be below maxval 5");
  expect_error<tf::errors::InvalidArgument>([] { tf::random_uniform({2}, 0.5, 2, tf::int32); },
                                            "must be whole");
}

TEST(ArrayOps, TruncatedNormalStaysWithinTwoDeviations) {
  RILL_SHOWS("O19");
  tf::set_random_seed(1);
  const auto x = tf::truncated_normal({100000}, 0, 0.1, tf::float32, 0);
  EXPECT_LE(tf::reduce_max(tf::abs(x)).item<float>(), 0.2f);
  EXPECT_GT(tf::reduce_max(tf::abs(x)).item<float>(), 0.19f);
  // What lies beyond is drawn again, not moved to the bound: a deviation of 0.8796, by theory.
  EXPECT_NEAR(tf::reduce_mean(x).item<float>(), 0, 1e-3);
  EXPECT_NEAR(tf::math::reduce_std(x).item<float>(), 0.08796, 5e-4);
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::truncated_normal({-1.0, 1.0});
      },
      "negative size: -1");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::truncated_normal(tf::constant({-1.f, 1.f}));
      },
      "shape must be integers");
}

TEST(ArrayOps, StringsAreBytes) {
  RILL_SHOWS("O36");
  const auto name = tf::constant("gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(name.to_string(), "b'gr\\xc3\\xbc\\xc3\\x9f'");
  EXPECT_EQ(name.numpy().item<std::string>(), "grüß") << "decoding is reading the bytes as text";
  EXPECT_EQ(tf::constant(std::string("a\0b", 3)).item<std::string>().size(), 3u);
}

TEST(ArrayOps, ErrorsHaveOneClassACode) {
  RILL_SHOWS("O35");
  try {
    throw tf::errors::OutOfRangeError("end of sequence");
  } catch (const tf::errors::OutOfRange& e) {
    EXPECT_EQ(e.code(), tf::Code::out_of_range);
    EXPECT_STREQ(e.what(), "end of sequence");
  }
  EXPECT_THROW(tf::throw_error(tf::Code::not_found, "x"), tf::errors::NotFoundError);
  EXPECT_THROW(tf::throw_error(tf::Code::invalid_argument, "x"), tf::errors::Error);
}

TEST(ArrayOps, ErrorsOfListsNameTheirElement) {
  const auto x = tf::ones({2, 3});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        tf::concat({x, Tensor()}, 0);
      },
      "[concat] values[1] is undefined");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        tf::concat({x, tf::ones({2, 3}, tf::int32)}, 0);
      },
      "values[0] is float32 and values[1] is int32: dtypes are not promoted. Write "
      "tf::cast(values[1], tf::float32)");
  expect_error<tf::errors::InvalidArgument>([&] { tf::where(x > 0.f, Tensor(), x); },
                                            "[where] t is undefined");
}

TEST(ArrayOps, RepeatChecksItsCounts) {
  const auto x = tf::ones({2, 3});
  expect_error<tf::errors::InvalidArgument>([&] { tf::repeat(x, -1); },
                                            "[repeat] repeats is -1; expected 0 or more");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        tf::repeat(x, {1, 2, 3}, 0);
      },
      "[repeat] 3 repeats for axis 0 of shape [2, 3]");
  EXPECT_EQ(tf::repeat(tf::zeros({0, 2}), tf::zeros({0}, tf::int32), 0).shape(),
            tf::TensorShape({0, 2}));
}

TEST(ArrayOps, LinspaceOfIntegersIsFloat64) {
  EXPECT_EQ(tf::linspace(0, 10, 3).dtype(), tf::float64);
  EXPECT_EQ(tf::linspace(0.f, 10, 3).dtype(), tf::float32);
}

TEST(ArrayOps, ThereIsNoStringOfOne) {
  EXPECT_EQ(tf::zeros({1}, tf::string).item<std::string>(), "");
  expect_error<tf::errors::InvalidArgument>([&] { tf::ones({1}, tf::string); },
                                            "[ones] dtype is string");
}

TEST(ArrayOps, SpecsOfRealNumbersDoNotTakeComplexOnes) {
  expect_error<tf::errors::InvalidArgument>([&] { tf::format("{:.2f}", tf::complex(1.f, 2.f)); },
                                            "formats a real number, got complex64");
}

// A copy on another device stays connected to what it is a copy of.
TEST(ArrayOps, CopiesBetweenDevicesAreDifferentiable) {
  tf::Variable x({1.f, 2.f});
  tf::GradientTape tape;
  const Tensor there = Tensor(x).to("/TEST:0");
  const auto y = there * there.cpu();
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), (Floats{2, 4}));
}

}  // namespace
