// Lookup tables in checkpoints: what TensorFlow wrote, and what it reads (tools/checkpoints.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/data/dataset.h"
#include "rill/eager/module.h"
#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/lookup_ops.h"
#include "rill/saving/checkpoint.h"
#include "tests/checkpoint_files.h"

namespace rill::checkpoints {
namespace {

using lookup::experimental::DenseHashTable;
using lookup::experimental::MutableHashTable;
using ::testing::ElementsAre;

DenseHashTable small_table() {
  return DenseHashTable(string, int64, -1, "", "$", {.initial_num_buckets = 8});
}

TEST(TableCheckpoint, TakesWhatTensorFlowWrote) {
  const MutableHashTable grows(string, int64, -1);
  const DenseHashTable dense = small_table();
  const lookup::StaticHashTable fixed(lookup::KeyValueTensorInitializer({"a"}, {1}), -1);
  grows.insert({"old"}, {7});
  train::Checkpoint({{"grows", grows}, {"dense", dense}, {"fixed", fixed}})
      .read(saving_tests::golden("tables"))
      .assert_consumed();
  EXPECT_THAT(grows.lookup({"a", "b", "old"}).to_vector<int>(), ElementsAre(1, 2, -1));
  EXPECT_THAT(dense.lookup({"a", "c", "x"}).to_vector<int>(), ElementsAre(1, 3, -1));
  EXPECT_EQ(dense.size().item<int>(), 3);
}

TEST(Interchange, Tables) {
  const char* given = std::getenv("RILL_CHECKPOINT_OUT");
  const std::string folder =
      given ? std::string(given) + "/tables" : saving_tests::fresh_folder("tables");
  const MutableHashTable grows(string, int64, -1);
  grows.insert({"a", "b"}, {1, 2});
  const DenseHashTable dense = small_table();
  for (int i = 0; i < 100; ++i) dense.insert(format("word {}", i), i);
  train::Checkpoint({{"grows", grows}, {"dense", dense}}).write(folder + "/tables");

  const MutableHashTable again(string, int64, -1);
  const DenseHashTable dense_again = small_table();
  train::Checkpoint checkpoint({{"grows", again}, {"dense", dense_again}});
  checkpoint.read(folder + "/tables").assert_consumed();
  EXPECT_THAT(again.lookup({"b", "x"}).to_vector<int>(), ElementsAre(2, -1));
  EXPECT_EQ(dense_again.lookup("word 99").item<int>(), 99);
  EXPECT_EQ(dense_again.size().item<int>(), 100);
}

TEST(TableCheckpoint, OfATableThatWantsNoneHoldsNothing) {
  const std::string folder = saving_tests::fresh_folder("no_table");
  const MutableHashTable table(string, int64, -1, {.checkpoint = false});
  table.insert({"a"}, {1});
  train::Checkpoint({{"table", table}}).write(folder + "/x");
  const MutableHashTable again(string, int64, -1);
  train::Checkpoint({{"table", again}}).read(folder + "/x").expect_partial();
  EXPECT_EQ(again.size().item<int>(), 0);
}

struct Counter : Module {
  MutableHashTable counts{string, int64, 0};
  Counter() { track("counts", counts); }
};
TEST(TableCheckpoint, AModuleTracksTables) {
  const std::string folder = saving_tests::fresh_folder("module");
  Counter one, other;
  one.counts.insert({"a"}, {5});
  train::Checkpoint({{"counter", one}}).write(folder + "/x");
  train::Checkpoint({{"counter", other}}).read(folder + "/x").assert_consumed();
  EXPECT_EQ(other.counts.lookup("a").item<int>(), 5);
  EXPECT_TRUE(one.variables().empty());
}

TEST(Tables, AreUsedInFunctionsAndDatasets) {
  const lookup::StaticHashTable table(lookup::KeyValueTensorInitializer({"a", "b"}, {1, 2}), -1);
  const MutableHashTable counts(string, int64, 0);
  auto count = function([&](Tensor words) {
    counts.insert(words, counts.lookup(words) + 1);
    return table.lookup(words);
  });
  EXPECT_THAT(count(constant({"b", "x"})).to_vector<int>(), ElementsAre(2, -1));
  count(constant({"b", "y"}));
  EXPECT_THAT(counts.lookup({"b", "x", "y"}).to_vector<int>(), ElementsAre(2, 1, 1));
  EXPECT_EQ(table.size().item<int>(), 2);

  // A table that is made while a function is traced is made once.
  auto inside = function([](Tensor words) {
    const lookup::StaticHashTable made(lookup::KeyValueTensorInitializer({"a"}, {7}), 0);
    return made.lookup(words);
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(inside(constant({"a"})).item<int>(), 7);

  std::vector<int> got;
  const auto words =
      data::Dataset::from_tensor_slices(constant({"a", "c", "b"}))
          .map([&](Tensor word) { return table.lookup(word); }, {.num_parallel_calls = 2});
  for (const Nest& n : words) got.push_back(n.as_tensor().item<int>());
  EXPECT_THAT(got, ElementsAre(1, -1, 2));
}

}  // namespace
}  // namespace rill::checkpoints
