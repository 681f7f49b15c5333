// Values: tf.keras.utils.pad_sequences of Keras 2.15 with the same arguments.
#include <gtest/gtest.h>

#include "rill/keras/utils/utils.h"
#include "tests/expect_error.h"

namespace rill::keras::utils {
namespace {

using testing::expect_error;

template <class T>
void expect(const Tensor& got, DType dtype, const TensorShape& shape, const std::vector<T>& want) {
  EXPECT_EQ(got.dtype(), dtype);
  EXPECT_EQ(got.shape(), shape);
  EXPECT_EQ(got.to_vector<T>(), want);
}

TEST(PadSequences, WholeNumbersByDefault) {
  expect<int>(pad_sequences({{1}, {2, 3}, {4, 5, 6}}), int32, {3, 3}, {0, 0, 1, 0, 2, 3, 4, 5, 6});
  expect<int>(pad_sequences({{1}, {2, 3}, {4, 5, 6}}, {.maxlen = 2, .truncating = "post"}), int32,
              {3, 2}, {0, 1, 2, 3, 4, 5});
  expect<int>(pad_sequences({{1}, {2, 3}}, {.maxlen = 3, .padding = "post", .value = -1}), int32,
              {2, 3}, {1, -1, -1, 2, 3, -1});
}

TEST(PadSequences, NumbersOfEveryDtype) {
  expect<float>(pad_sequences({{1.5, 2.25}, {3.}}, {.dtype = float32, .value = 0.5}), float32,
                {2, 2}, {1.5f, 2.25f, 0.5f, 3});
  expect<double>(pad_sequences({{0.1, 0.2}, {0.3}}, {.dtype = float64, .padding = "post"}), float64,
                 {2, 2}, {0.1, 0.2, 0.3, 0});
  // A double would round this one.
  const std::int64_t large = 9007199254740993;
  expect<std::int64_t>(
      pad_sequences(std::vector<std::vector<std::int64_t>>{{large}, {1, 2}}, {.dtype = int64}),
      int64, {2, 2}, {0, large, 1, 2});
  expect<int>(pad_sequences({{1.7, -1.7}, {2.5}}), int32, {2, 2}, {1, -1, 0, 2});
  expect<float>(pad_sequences({{1, 2}, {3}}, {.dtype = float32, .value = 0.25}), float32, {2, 2},
                {1, 2, 0.25f, 3});
}

TEST(PadSequences, Texts) {
  expect<std::string>(
      pad_sequences({{"a", "b"}, {"c"}, {}}, {.dtype = string, .padding = "post", .value = "pad"}),
      string, {3, 2}, {"a", "b", "c", "pad", "pad", "pad"});
  expect<std::string>(pad_sequences(std::vector<std::vector<std::string>>{{"a", "b", "c"}},
                                    {.maxlen = 2, .dtype = string, .value = ""}),
                      string, {1, 2}, {"b", "c"});
}

TEST(PadSequences, TextsAndNumbersDoNotMix) {
  expect_error<errors::InvalidArgument>(
      [] { pad_sequences({{"a"}}); }, "hold texts and dtype is int32; expected {.dtype = tf::str");
  expect_error<errors::InvalidArgument>([] { pad_sequences({{"a"}}, {.dtype = string}); },
                                        "hold texts and value is");
  expect_error<errors::InvalidArgument>([] { pad_sequences({{1}}, {.dtype = string}); },
                                        "hold numbers and dtype is string");
  expect_error<errors::InvalidArgument>([] { pad_sequences({{1}}, {.value = "x"}); },
                                        "expected a number");
  expect_error<errors::InvalidArgument>([] { pad_sequences({{1}}, {.padding = "left"}); },
                                        "got \"left\"; expected \"pre\" or \"post\"");
}

}  // namespace
}  // namespace rill::keras::utils
