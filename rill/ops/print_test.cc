#include "rill/ops/print.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

template <class... A>
std::string printed(const A&... args) {
  ::testing::internal::CaptureStderr();
  tf::print(args...);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Print, WritesTextAndTensors) {
  RILL_SHOWS("Q64");
  EXPECT_EQ(printed("loss", tf::constant(0.25f)), "loss 0.25\n");
  EXPECT_EQ(printed("x", tf::range(10)), "x [0 1 2 ... 7 8 9]\n");
  EXPECT_EQ(printed(tf::constant({{1, 2}, {3, 4}})), "[[1 2]\n [3 4]]\n");
  EXPECT_EQ(printed(), "\n");
  EXPECT_EQ(printed("a"), "a\n");
}

TEST(Print, WritesPlainValuesAsPythonDoes) {
  EXPECT_EQ(printed(tf::constant(true), true, 1.5, 3, 0.1f, 1e-7, 1e20),
            "1 True 1.5 3 0.1 1e-07 1e+20\n");
  EXPECT_EQ(printed(tf::Variable(2.f)), "2\n");
  EXPECT_EQ(printed(std::vector<Tensor>{tf::constant(1), tf::constant({2, 3})}, Tensor()),
            "[1, [2 3]] None\n");
}

TEST(Print, QuotesStringsOfTensors) {
  EXPECT_EQ(printed(tf::constant({"a", "b c"})), "[\"a\" \"b c\"]\n");
  EXPECT_EQ(printed(tf::constant("a")), "a\n") << "alone, a string is written as it is";
  EXPECT_EQ(printed(tf::constant(3.f), tf::constant("x")), "3 \"x\"\n");
}

TEST(Print, TakesSettings) {
  EXPECT_EQ(printed(tf::PrintTo{.summarize = -1}, tf::range(10)), "[0 1 2 3 4 5 6 7 8 9]\n");
  EXPECT_EQ(printed(tf::PrintTo{.summarize = 1}, tf::range(10)), "[0 ... 9]\n");
  EXPECT_EQ(printed(tf::PrintTo{.sep = ",", .end = "!\n"}, tf::range(3), "a"), "[0 1 2],a!\n");
  ::testing::internal::CaptureStdout();
  tf::print(tf::PrintTo{.output_stream = "stdout"}, 1);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "1\n");
  expect_error<tf::errors::InvalidArgument>(
      [] { tf::print(tf::PrintTo{.output_stream = "nowhere"}, 1); },
      "output_stream is \"nowhere\"");
  expect_error<tf::errors::InvalidArgument>(
      [] { tf::print(tf::PrintTo{.summarize = 0}, tf::range(3)); }, "summarize is 0");
  expect_error<tf::errors::NotFound>(
      [] { tf::print(tf::PrintTo{.output_stream = "file:///no/such/folder/x"}, 1); },
      "cannot open");
}

TEST(Print, FormatsIntoTensors) {
  EXPECT_EQ(tf::strings::format("tensor: {}, suffix", tf::range(5)).item<std::string>(),
            "tensor: [0 1 2 3 4], suffix");
  EXPECT_EQ(tf::strings::format("{} {}", {tf::constant(1), tf::constant(2.5f)}).item<std::string>(),
            "1 2.5");
  expect_error<tf::errors::InvalidArgument>([] { tf::strings::format("{}{}", tf::constant(1)); },
                                            "2 placeholders in \"{}{}\" for 1 inputs");
}

TEST(Print, WritesEachTimeAFunctionRuns) {
  RILL_SHOWS("F06", "Z27");
  int traced = 0;
  auto step = tf::function([&](Tensor x) {
    ++traced;
    const Tensor loss = tf::reduce_sum(tf::square(x));
    tf::print("loss", loss, "{} of", x);
    return loss;
  });
  ::testing::internal::CaptureStderr();
  step(tf::constant({1.f, 2.f}));
  step(tf::constant({3.f, 4.f}));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "loss 5 {} of [1 2]\nloss 25 {} of [3 4]\n");
  EXPECT_EQ(traced, 1);
}

TEST(Print, ComesInProgramOrder) {
  tf::Variable v(1.f);
  auto f = tf::function([&] {
    tf::print("before", v);
    v.assign_add(1.f);
    tf::print("after", v);
  });
  ::testing::internal::CaptureStderr();
  f();
  f();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "before 1\nafter 2\nbefore 2\nafter 3\n");
}

}  // namespace
