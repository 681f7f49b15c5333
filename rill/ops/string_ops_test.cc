#include "rill/ops/string_ops.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;
using Texts = std::vector<std::string>;

namespace {

TEST(Strings, SubstrTakesBytes) {
  RILL_SHOWS("O08");
  const auto line = tf::constant("#comment");
  EXPECT_EQ(tf::substr(line, 0, 1).item<std::string>(), "#");
  EXPECT_FALSE(static_cast<bool>(tf::not_equal(tf::substr(line, 0, 1), "#")));
  expect_error<tf::errors::InvalidArgument>(
      [&] { tf::substr("", 1, 1); }, "pos 1 of element 0 is outside its string \"\" of 0 bytes");
}

TEST(Strings, JoinTakesScalarsAndTensors) {
  const auto names = tf::constant({"a", "b"});
  EXPECT_EQ(tf::strings::join({"img/", names, ".jpg"}).to_vector<std::string>(),
            (Texts{"img/a.jpg", "img/b.jpg"}));
  EXPECT_EQ((names + ".png").to_vector<std::string>(), (Texts{"a.png", "b.png"}));
  EXPECT_EQ(tf::strings::reduce_join({{"a", "b"}, {"c", "d"}}).item<std::string>(), "abcd");
  EXPECT_EQ(tf::strings::reduce_join({{"a", "b"}, {"c", "d"}}, 0, {.separator = "-"})
                .to_vector<std::string>(),
            (Texts{"a-c", "b-d"}));
}

TEST(Strings, SplitGivesARowAString) {
  const auto parts = tf::strings::split({"hello world", "", "a b c"});
  EXPECT_EQ(parts.to_list<std::string>(),
            (std::vector<Texts>{{"hello", "world"}, {}, {"a", "b", "c"}}));
  EXPECT_EQ(parts.row_splits().to_vector<int>(), (std::vector<int>{0, 2, 2, 5}));
  EXPECT_EQ(tf::strings::split({"a b", "c"}).row_lengths().to_vector<int>(),
            (std::vector<int>{2, 1}));
  EXPECT_EQ(tf::strings::split("a,b,c", ",", 1).values().to_vector<std::string>(),
            (Texts{"a", "b,c"}));
  const auto table = tf::strings::split({{"a b", "c"}, {"", "d"}});
  EXPECT_EQ(table.shape(), (tf::TensorShape{2, 2, tf::None}));
  EXPECT_EQ(table.to_string(), "[[[b'a', b'b'], [b'c']],\n [[], [b'd']]]");
  const auto words =
      tf::function([](const tf::Tensor& lines) { return tf::strings::split(lines).row_lengths(); });
  EXPECT_EQ(words(tf::constant({"a b", "", "c"})).to_vector<int>(), (std::vector<int>{2, 0, 1}));
}

TEST(Strings, LettersAreRows) {
  EXPECT_EQ(tf::strings::bytes_split({"ab", "", "cde"}).to_string(),
            "[[b'a', b'b'], [], [b'c', b'd', b'e']]");
  EXPECT_EQ(tf::strings::unicode_split({"a\xc3\xa9", "", "\xe6\x97\xa5\xe6\x9c\xac"}).to_string(),
            "[[b'a', b'\\xc3\\xa9'], [], [b'\\xe6\\x97\\xa5', b'\\xe6\\x9c\\xac']]");
  EXPECT_EQ(tf::strings::bytes_split("ab").values().to_vector<std::string>(), (Texts{"a", "b"}));
}

TEST(Strings, NgramsAreWhatTensorFlowGives) {
  const auto rows = tf::ragged::constant({{"a", "b", "c"}, {"d"}, {}});
  using tf::strings::ngrams;
  EXPECT_EQ(ngrams({"a", "b", "c", "d"}, 2).to_vector<std::string>(), (Texts{"a b", "b c", "c d"}));
  EXPECT_EQ(ngrams(rows, 2).to_string(), "[[b'a b', b'b c'], [], []]");
  EXPECT_EQ(ngrams(rows, {2, 1}).to_string(), "[[b'a b', b'b c', b'a', b'b', b'c'], [b'd'], []]");
  EXPECT_EQ(ngrams(rows, 2, {.separator = "|", .left_pad = "L", .right_pad = "R"}).to_string(),
            "[[b'L|a', b'a|b', b'b|c', b'c|R'], [b'L|d', b'd|R'], [b'L|R']]");
  EXPECT_EQ(ngrams(rows, 3, {.left_pad = "x", .right_pad = "x", .padding_width = 1}).to_string(),
            "[[b'x a b', b'a b c', b'b c x'], [b'x d x'], []]");
  EXPECT_EQ(ngrams(rows, 3, {.preserve_short_sequences = true}).to_string(),
            "[[b'a b c'], [b'd'], []]");
  EXPECT_EQ(ngrams(rows, 3, {.left_pad = "L", .right_pad = "R"}).to_string(),
            "[[b'L L a', b'L a b', b'a b c', b'b c R', b'c R R'],\n"
            " [b'L L d', b'L d R', b'd R R'], [b'L L R', b'L R R']]");
}

TEST(Strings, NumbersReadAndWrite) {
  EXPECT_EQ(tf::strings::to_number({"1.5", "2"}).to_vector<float>(), (std::vector<float>{1.5, 2}));
  EXPECT_EQ(tf::strings::as_string({1, 20}, {.width = 4, .fill = "0"}).to_vector<std::string>(),
            (Texts{"0001", "0020"}));
  expect_error<tf::errors::InvalidArgument>(
      [] { tf::strings::to_number("abc"); },
      "[strings.to_number] element 0, \"abc\", is not a number of dtype float32");
  expect_error<tf::errors::InvalidArgument>([] { tf::strings::to_number(tf::constant(1)); },
                                            "has dtype int32; expected one of string");
}

TEST(Strings, CaseAndSpaces) {
  EXPECT_EQ(tf::strings::upper("abc").item<std::string>(), "ABC");
  EXPECT_EQ(tf::strings::lower("ÄÖ", "utf-8").item<std::string>(), "äö");
  EXPECT_EQ(tf::strings::strip("  a b ").item<std::string>(), "a b");
  EXPECT_EQ(tf::strings::length("äö", "UTF8_CHAR").item<int>(), 2);
  EXPECT_EQ(tf::strings::regex_replace("a1b22", "[0-9]+", "#").item<std::string>(), "a#b#");
}

}  // namespace
