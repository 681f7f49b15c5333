// Tables that turn keys into values. What is expected is what TensorFlow 2.15 gives.
#include "rill/ops/lookup_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/string_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill {
namespace {

using lookup::KeyValueTensorInitializer;
using lookup::StaticHashTable;
using lookup::StaticVocabularyTable;
using lookup::TextFileIndex;
using lookup::TextFileInitializer;
using lookup::experimental::DenseHashTable;
using lookup::experimental::MutableHashTable;
using ::testing::ElementsAre;
using testing::expect_error;

template <class T>
std::vector<T> list(const Tensor& t) {
  return t.to_vector<T>();
}

TEST(StaticHashTable, FindsValuesAndGivesTheDefault) {
  const StaticHashTable table(KeyValueTensorInitializer({"cat", "dog"}, {0, 1}), -1);
  EXPECT_EQ(table.key_dtype(), string);
  EXPECT_EQ(table.value_dtype(), int32);
  EXPECT_THAT(list<int>(table.lookup({"dog", "bird"})), ElementsAre(1, -1));
  EXPECT_THAT(list<int>(table.lookup({"a", "dog", "cat"})), ElementsAre(-1, 1, 0));
  EXPECT_EQ(table.lookup("cat").item<int>(), 0);
  EXPECT_EQ(table.lookup({{"cat", "x"}}).shape(), TensorShape({1, 2}));
  EXPECT_EQ(table["dog"].item<int>(), 1);
  EXPECT_EQ(table.size().item<int>(), 2);
  EXPECT_EQ(table.size().dtype(), int64);
}

TEST(StaticHashTable, TakesEachDtypeOfKeysAndValues) {
  const StaticHashTable floats(KeyValueTensorInitializer({3, 5}, {0.5, 1.5}, {.key_dtype = int64}),
                               -1.0);
  EXPECT_THAT(list<float>(floats.lookup({5, 4})), ElementsAre(1.5f, -1.f));
  const StaticHashTable words(KeyValueTensorInitializer(constant({3, 5}), {"three", "five"}), "?");
  EXPECT_THAT(list<std::string>(words.lookup({5, 4})), ElementsAre("five", "?"));
  EXPECT_EQ(words.key_dtype(), int32);
  expect_error<errors::InvalidArgument>([&] { words.lookup(constant({5}, int64)); },
                                        "the keys of table \"hash_table\" are int32, got int64");
  expect_error<errors::InvalidArgument>(
      [&] {
        KeyValueTensorInitializer({0.5, 1.5}, {1, 2});
      },
      "the keys are float32; expected one of");
  expect_error<errors::InvalidArgument>(
      [&] {
        KeyValueTensorInitializer({"a", "b"}, {1, 2, 3});
      },
      "keys have shape [2] and values [3]");
  expect_error<errors::InvalidArgument>(
      [&] {
        StaticHashTable(KeyValueTensorInitializer({"a"}, {1}), constant({1, 2}));
      },
      "default_value has shape [2]");
}

TEST(StaticHashTable, RefusesTwoValuesOfOneKey) {
  expect_error<errors::FailedPrecondition>(
      [&] {
        StaticHashTable(KeyValueTensorInitializer({"a", "a"}, {1, 2}), -1);
      },
      "key \"a\" has two values");
  const StaticHashTable twice(KeyValueTensorInitializer({"a", "a"}, {1, 1}), -1);
  EXPECT_EQ(twice.size().item<int>(), 1);
}

TEST(StaticHashTable, LooksUpRaggedAndSparseKeys) {
  const StaticHashTable table(KeyValueTensorInitializer({"a", "b"}, {1, 2}), 0);
  EXPECT_EQ(table.lookup(ragged::constant({{"a", "x"}, {}, {"b"}})).to_string(),
            "[[1, 0], [], [2]]");
  const SparseTensor sparse({{0, 1}, {2, 0}}, {"b", "y"}, {3, 2});
  EXPECT_THAT(list<int>(table.lookup(sparse).values), ElementsAre(2, 0));
}

class VocabularyFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(folder_ + "/words.txt", std::ios::binary) << text;
    return folder_ + "/words.txt";
  }
  TextFileInitializer lines(const std::string& path, const lookup::TextFileOptions& o = {}) {
    return TextFileInitializer(path, string, TextFileIndex::WHOLE_LINE, int64,
                               TextFileIndex::LINE_NUMBER, o);
  }
  const std::string folder_ = testing::fresh_folder("vocabulary");
};

TEST_F(VocabularyFile, GivesWordsTheirLines) {
  const StaticHashTable table(lines(write("the\r\nquick\nfox")), -1);
  EXPECT_THAT(list<std::int64_t>(table.lookup({"fox", "the", "dog"})), ElementsAre(2, 0, -1));
  const StaticHashTable two(
      lines(folder_ + "/words.txt", {.vocab_size = 2, .value_index_offset = 10}), -1);
  EXPECT_THAT(list<std::int64_t>(two.lookup({"fox", "quick"})), ElementsAre(-1, 11));
}

TEST_F(VocabularyFile, ReadsColumns) {
  const std::string path = write("emerson 10 0.5\nlake 20 -2e3\n");
  const StaticHashTable ints(TextFileInitializer(path, string, 0, int64, 1, {.delimiter = " "}),
                             -1);
  EXPECT_THAT(list<std::int64_t>(ints.lookup({"lake", "x"})), ElementsAre(20, -1));
  const StaticHashTable floats(TextFileInitializer(path, int64, 1, float32, 2, {.delimiter = " "}),
                               0.f);
  EXPECT_THAT(list<float>(floats.lookup({10, 20})), ElementsAre(0.5f, -2000.f));
}

TEST_F(VocabularyFile, NamesTheLineThatCannotBeRead) {
  const std::string path = write("a\t1\nb\n");
  const TextFileInitializer columns(path, string, 0, int64, 1);
  expect_error<errors::InvalidArgument>(
      [&] { StaticHashTable(columns, -1); },
      "words.txt, line 2: \"b\" has 1 columns; expected at least 2");
  expect_error<errors::InvalidArgument>(
      [&] { StaticHashTable(TextFileInitializer(path, int64, 0, int64, 1), -1); },
      "line 1: \"a\t1\" has no int64 in column 0");
  expect_error<errors::InvalidArgument>(
      [&] { StaticHashTable(lines(path, {.vocab_size = 5}), -1); },
      "has 2 lines; expected vocab_size = 5");
  expect_error<errors::NotFound>([&] { StaticHashTable(lines(folder_ + "/none"), -1); }, "none");
  expect_error<errors::InvalidArgument>([&] { TextFileInitializer(path, string, 0, int32, -1); },
                                        "value_dtype is int32; expected int64 for line numbers");
  expect_error<errors::InvalidArgument>([&] { lines(path, {.delimiter = "ab"}); },
                                        "expected one character");
}

TEST_F(VocabularyFile, IsAnAssetOfTheTable) {
  const StaticHashTable table(lines(write("a\nb\n")), -1);
  TrackableNode* how = table.trackable()->child("_initializer");
  ASSERT_NE(how, nullptr);
  EXPECT_NE(how->child("_filename"), nullptr);
}

TEST(StaticVocabularyTable, PutsOtherWordsIntoBuckets) {
  const KeyValueTensorInitializer words({"emerson", "lake", "palmer"}, {0, 1, 2},
                                        {.value_dtype = int64});
  const StaticVocabularyTable table(words, 5);
  EXPECT_EQ(table.size().item<int>(), 8);
  EXPECT_THAT(list<std::int64_t>(table.lookup({"emerson", "lake", "palmer", "king", "crimson"})),
              ElementsAre(0, 1, 2, 6, 7));
  const StaticVocabularyTable ids(KeyValueTensorInitializer({10, 20}, {0, 1}, {int64, int64}), 3,
                                  {.lookup_key_dtype = int32});
  EXPECT_THAT(list<std::int64_t>(ids.lookup({20, 30, 40, -7})), ElementsAre(1, 4, 3, 4));
  const StaticVocabularyTable alone(4);
  EXPECT_THAT(list<std::int64_t>(alone.lookup({"a", "b", "c"})), ElementsAre(3, 2, 0));
  expect_error<errors::InvalidArgument>(
      [&] { StaticVocabularyTable(KeyValueTensorInitializer({"a"}, {1}), 1); },
      "values of the initializer are int32; expected int64");
  expect_error<errors::InvalidArgument>([&] { StaticVocabularyTable(0); }, "num_oov_buckets is 0");
}

TEST(MutableHashTable, TakesAndGivesUpKeys) {
  const MutableHashTable table(string, int64, -1);
  table.insert({"a", "b", "c"}, {1, 2, 3});
  table.insert({"b"}, {20});
  EXPECT_THAT(list<std::int64_t>(table.lookup({"a", "b", "z"})), ElementsAre(1, 20, -1));
  EXPECT_THAT(list<std::int64_t>(table.lookup({"y", "b"}, {7, 8})), ElementsAre(7, 20));
  table.remove({"a", "nothing"});
  EXPECT_EQ(table.size().item<int>(), 2);
  const auto [keys, values] = table.export_();
  EXPECT_THAT(list<std::string>(keys), ElementsAre("c", "b"));
  EXPECT_THAT(list<std::int64_t>(values), ElementsAre(3, 20));
  expect_error<errors::InvalidArgument>(
      [&] {
        table.insert({"a", "b"}, {1});
      },
      "keys have shape [2] and values");
}

TEST(MutableHashTable, HoldsListsOfNumbers) {
  const MutableHashTable table(int64, float32, {0.f, 0.f});
  table.insert({3, 5}, {{1.f, 2.f}, {3.f, 4.f}});
  const Tensor found = table.lookup({{5, 4}});
  EXPECT_EQ(found.shape(), TensorShape({1, 2, 2}));
  EXPECT_THAT(list<float>(found), ElementsAre(3, 4, 0, 0));
}

TEST(DenseHashTable, ReservesTwoKeys) {
  const DenseHashTable table(string, int64, -1, "", "$", {.initial_num_buckets = 4});
  table.insert({"a", "b", "c", "d", "e"}, {1, 2, 3, 4, 5});
  table.remove({"b"});
  EXPECT_THAT(list<std::int64_t>(table.lookup({"a", "b", "e"})), ElementsAre(1, -1, 5));
  EXPECT_EQ(table.export_().first.shape(), TensorShape({8, 1}));
  expect_error<errors::InvalidArgument>([&] { table.insert({"$"}, {1}); },
                                        "is the empty_key or deleted_key");
  expect_error<errors::InvalidArgument>([&] { DenseHashTable(string, int64, -1, "x", "x"); },
                                        "empty_key and deleted_key are the same");
  expect_error<errors::InvalidArgument>(
      [&] { DenseHashTable(int64, int64, -1, 0, 1, {.initial_num_buckets = 5}); },
      "expected a power of two");
}

}  // namespace
}  // namespace rill
