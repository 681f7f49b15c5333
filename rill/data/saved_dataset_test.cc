#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "rill/base/check.h"
#include "rill/base/format.h"
#include "rill/data/dataset.h"
#include "rill/data/element_records_impl.h"
#include "rill/data/file_datasets.h"
#include "rill/data/spec_proto_impl.h"
#include "rill/io/file.h"
#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"
#include "rill/ops/string_ops.h"
#include "tests/dataset_values.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::data {
namespace {

using rill::testing::counted, rill::testing::expect_error, rill::testing::fresh_folder;
using rill::testing::values;

std::string text(const Dataset& d) {
  std::string out;
  for (const Nest& e : d) out += format("{}\n", e);
  return out;
}
Dataset named() {
  return Dataset::from_tensor_slices(
      dict({{"b", constant({"x", "", "zz"})}, {"a", constant({{1, 2}, {3, 4}, {5, 6}})}}));
}
std::vector<std::string> files_of(const std::string& folder, const std::string& pattern) {
  return io::gfile::glob(folder + pattern);
}

TEST(SavedDataset, ComesBackAsItWas) {
  const std::string folder = fresh_folder("saved");
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    named().save(folder, {.compression = compression});
    const Dataset back = Dataset::load(folder, {.compression = compression});
    EXPECT_EQ(text(back),
              "{'a': array([1, 2], dtype=int32), 'b': b'x'}\n"
              "{'a': array([3, 4], dtype=int32), 'b': b''}\n"
              "{'a': array([5, 6], dtype=int32), 'b': b'zz'}\n");
    EXPECT_EQ(back.cardinality(), 3);
    EXPECT_EQ(back.element_spec().to_string(),
              Dataset(Dataset::load(folder)).element_spec().to_string());
    EXPECT_EQ(back.output_types()["b"].leaf(), string);
  }
  Dataset::range(0).save(folder);
  EXPECT_EQ(values(Dataset::load(folder)), values(Dataset::range(0)));
  const Dataset nested = Dataset::zip({Dataset::range(3), Dataset::range(3).enumerate()});
  nested.save(folder);
  EXPECT_EQ(text(Dataset::load(folder)), text(nested));
}
TEST(SavedDataset, RaggedAndSparseElements) {
  const std::string folder = fresh_folder("composites");
  const RaggedTensor r = ragged::constant({{1, 2}, {}, {3}});
  const RaggedTensor deep = RaggedTensor::from_row_splits(r, constant({0, 2, 3}));
  const SparseTensor s = sparse::from_dense(constant({{1.f, 0.f}, {0.f, 2.f}, {0.f, 0.f}}));
  for (const Dataset& d : {Dataset::from_tensor_slices(Nest(r)), Dataset::from_tensors(Nest(deep)),
                           Dataset::from_tensor_slices(Nest(s)), Dataset::from_tensors(Nest(s)),
                           Dataset::from_tensor_slices(Nest::make({Nest(r), Nest(s)})).batch(2)}) {
    d.save(folder);
    const Dataset back = Dataset::load(folder);
    EXPECT_EQ(text(back), text(d));
    EXPECT_TRUE(back.element_spec().same_structure(d.element_spec()));
  }
}
TEST(SavedDataset, ShardsAndReaders) {
  const std::string folder = fresh_folder("shards");
  Dataset::range(10).save(
      folder, {.compression = "GZIP", .shard_func = [](const Tensor& x) { return x % 3; }});
  EXPECT_EQ(files_of(folder, "/*/*.shard").size(), 3u);
  const std::vector<std::int64_t> in_turns{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(values(Dataset::load(folder, {.compression = "GZIP"})), in_turns);
  const Dataset one_by_one =
      Dataset::load(folder, {.compression = "GZIP", .reader_func = [](const Dataset& shards) {
                               return shards.flat_map([](const Dataset& shard) { return shard; });
                             }});
  EXPECT_EQ(values(one_by_one), (std::vector<std::int64_t>{0, 3, 6, 9, 1, 4, 7, 2, 5, 8}));
  EXPECT_EQ(one_by_one.cardinality(), 10);
  expect_error<errors::InvalidArgument>(
      [&] {
        Dataset::range(3).save(folder, {.shard_func = [](const Tensor& x) { return x - 1; }});
      },
      "shard_func returned -1");
  expect_error<errors::InvalidArgument>(
      [&] {
        Dataset::range(3).save(folder, {.shard_func = [](const Tensor& x) -> Tensor {
                                 RILL_FAIL(invalid_argument, "{} is bad", x.item<int>());
                               }});
      },
      "0 is bad\n  while the function of save() was at element 0");
  // Nothing of the failed one counts, or stays.
  EXPECT_EQ(values(Dataset::load(folder, {.compression = "GZIP"})), in_turns);
  EXPECT_EQ(files_of(folder, "/*/*.shard").size(), 3u);
}
TEST(SavedDataset, PackedBySnappy) {
  const std::string folder = fresh_folder("snappy");
  // More than the 256 kB of a block.
  const Dataset numbers =
      Dataset::range(20'000).map([](const Tensor& x) { return tuple(x, as_string(x)); });
  numbers.save(folder, {.compression = "SNAPPY"});
  EXPECT_EQ(text(Dataset::load(folder, {.compression = "SNAPPY"})), text(numbers));
  const std::string file = files_of(folder, "/*/*.shard/*.snapshot")[0];
  EXPECT_EQ(TFRecordDataset(file, {.compression_type = "SNAPPY"}).as_vector().size(), 40'000u);
  EXPECT_LT(io::file_contents(file).size(), 1'000'000u);
  expect_error<errors::DataLoss>([&] { text(Dataset::load(folder)); }, "00000000.snapshot");
  // Read on from the middle, which is in a block of its own.
  Iterator it = Dataset::load(folder, {.compression = "SNAPPY"}).make_iterator();
  for (int i = 0; i < 15'000; ++i) it.next();
  const std::string state = it.save();
  Iterator other = Dataset::load(folder, {.compression = "SNAPPY"}).make_iterator();
  other.restore(state);
  EXPECT_EQ(other.next()[0].item<int>(), 15'000);
}
TEST(SavedDataset, WhatIsNoneIsSaid) {
  const std::string folder = fresh_folder("bad");
  expect_error<errors::NotFound>([&] { Dataset::load(folder); }, "holds no saved dataset");
  expect_error<errors::InvalidArgument>([&] { Dataset::range(3).repeat().save(folder); },
                                        "the dataset is infinite");
  expect_error<errors::InvalidArgument>(
      [&] { Dataset::range(3).save(folder, {.compression = "LZ4"}); }, "LZ4");
  named().save(folder, {.compression = "GZIP"});
  expect_error<errors::DataLoss>([&] { text(Dataset::load(folder)); }, "00000000.snapshot");
  const Dataset other =
      Dataset::load(folder, {.element_spec = ElementSpec(TensorSpec(TensorShape::scalar(), int64)),
                             .compression = "GZIP"});
  expect_error<errors::DataLoss>([&] { text(other); },
                                 "the element at byte 0: a component is int32 of shape [2]; "
                                 "expected int64 of shape []");
}

// Whatever is changed: an error or elements, and nothing else.
Nest mixed_element() {
  const RaggedTensor r = ragged::constant({{1, 2}, {}, {3}});
  const SparseTensor s = sparse::from_dense(constant({{1.f, 0.f}, {0.f, 2.f}, {0.f, 0.f}}));
  return Nest::make({Nest(r), Nest(s), named().batch(3).iter().next()});
}
int fuzz_rounds(int usual) {
  const char* wanted = std::getenv("RILL_FUZZ");
  return wanted ? std::atoi(wanted) : usual;
}
unsigned fuzz_seed() {
  const char* seed = std::getenv("RILL_FUZZ_SEED");
  return seed ? static_cast<unsigned>(std::atoi(seed)) : 3;
}
std::string damaged(const std::string& good, std::mt19937& random) {
  std::string bad = good;
  for (unsigned k = 0; k <= random() % 3; ++k)
    bad[random() % bad.size()] = static_cast<char>(random());
  if (random() % 4 == 0) bad.resize(random() % (bad.size() + 1));
  return bad;
}
TEST(SavedDatasetFuzz, DamagedRecordsAndDescriptions) {
  const Nest element = mixed_element();
  const ElementSpec spec = spec_of(element);
  std::vector<std::string> records;
  write_element(element, [&](std::string_view r) { records.emplace_back(r); });
  ASSERT_EQ(records.size(), 4u);
  const std::string description = spec_bytes(spec);
  std::mt19937 random(fuzz_seed());
  int elements = 0, specs = 0;
  const int rounds = fuzz_rounds(10'000);
  for (int i = 0; i < rounds; ++i) {
    const std::size_t which = random() % records.size();
    const std::string bad = damaged(records[which], random);
    std::size_t at = 0;
    try {
      Nest out;
      elements += read_element(
          spec,
          [&](std::string* r) {
            if (at == records.size()) return false;
            *r = at == which ? bad : records[at];
            return ++at, true;
          },
          "x", &out);
    } catch (const errors::Error&) {
    }
    try {
      spec_of_bytes(damaged(description, random), "x");
      ++specs;
    } catch (const errors::Error&) {
    }
  }
  EXPECT_GT(elements, 0);
  EXPECT_LT(elements, rounds);
  EXPECT_GT(specs, 0);
}
TEST(SavedDatasetFuzz, DamagedFiles) {
  const std::string folder = fresh_folder("fuzz");
  Dataset::from_tensors(mixed_element()).save(folder);
  const std::vector<std::string> files{folder + "/snapshot.metadata", folder + "/dataset_spec.pb",
                                       files_of(folder, "/*/*.shard/*.snapshot")[0]};
  std::mt19937 random(fuzz_seed());
  int read = 0;
  for (int i = 0; i < fuzz_rounds(1000); ++i) {
    const std::string& path = files[random() % files.size()];
    const std::string good = io::file_contents(path);
    std::ofstream(path, std::ios::binary) << damaged(good, random);
    try {
      read += static_cast<int>(Dataset::load(folder).as_vector().size());
    } catch (const errors::Error&) {
    }
    std::ofstream(path, std::ios::binary) << good;
  }
  EXPECT_GT(read, 0);
}

// What TensorFlow 2.15 saved (tools/saved_datasets.py), and the same in other words.
TEST(SavedDataset, TensorFlowsAreRead) {
  const char* other = std::getenv("RILL_SAVED_DATASETS");
  const char* root = std::getenv("RILL_SOURCE_DIR");
  const std::string folder =
      other ? other : std::string(root ? root : ".") + "/rill/data/testdata/saved";
  EXPECT_EQ(text(Dataset::load(folder + "/plain")),
            "{'a': 0, 'b': b'x'}\n{'a': 1, 'b': b''}\n{'a': 2, 'b': b'zz'}\n");
  EXPECT_EQ(Dataset::load(folder + "/plain").cardinality(), 3);
  EXPECT_EQ(text(Dataset::load(folder + "/shards", {.compression = "GZIP"})), "0\n1\n2\n3\n4\n");
  std::string numbers;
  for (int i = 0; i < 200; ++i) numbers += "b'" + std::to_string(i) + "'\n";
  EXPECT_EQ(text(Dataset::load(folder + "/packed", {.compression = "SNAPPY"})), numbers);
  std::string rows;
  for (const Nest& e : Dataset::load(folder + "/ragged")) rows += e.as_ragged().to_string() + "\n";
  EXPECT_EQ(rows, "[[1], [2, 3]]\n[]\n");
  const Nest s = Dataset::load(folder + "/sparse").iter().next();
  EXPECT_EQ(sparse::to_dense(s.as_sparse()).to_string(), "[1 0]");
}

// For tools/saved_datasets.py, which lets TensorFlow read them.
TEST(SavedDataset, WrittenForTensorFlow) {
  const char* folder = std::getenv("RILL_SAVE_DATASETS_TO");
  if (!folder) return;
  const std::string to = folder;
  named().save(to + "/plain");
  Dataset::range(5).save(
      to + "/shards", {.compression = "GZIP", .shard_func = [](const Tensor& x) { return x % 2; }});
  Dataset::range(40'000)
      .map([](const Tensor& x) { return as_string(x); })
      .save(to + "/packed", {.compression = "SNAPPY"});
  const RaggedTensor r = ragged::constant({{1, 2}, {}, {3}});
  Dataset::from_tensors(Nest(RaggedTensor::from_row_splits(r, constant({0, 2, 3}))))
      .save(to + "/ragged");
  Dataset::from_tensor_slices(Nest(r)).save(to + "/rows");
  Dataset::from_tensor_slices(
      Nest(sparse::from_dense(constant({{1.f, 0.f}, {0.f, 2.f}, {0.f, 0.f}}))))
      .save(to + "/sparse");
}

// ---- cache(filename)
std::string cache_name(const char* name) { return fresh_folder(name) + "/c"; }

TEST(FileCache, IsMadeByTheFirstWholePass) {
  const std::string name = cache_name("cache");
  int calls = 0;
  const Dataset counted_calls = Dataset::range(5).map([&](const Tensor& x) {
    ++calls;
    return tuple(x, dict({{"s", as_string(x)}}));
  });
  const Dataset d = counted_calls.cache(name);
  d.element_spec();
  calls = 0;
  const std::string all = text(d);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(text(d), all);
  EXPECT_EQ(text(d.repeat(2)), all + all);
  EXPECT_EQ(calls, 5);
  // In another process, or another pipeline, too.
  EXPECT_EQ(text(counted_calls.cache(name)), all);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(files_of(name, "*").size(), 1u);
}
TEST(FileCache, HoldsWholePassesAlone) {
  const std::string name = cache_name("half");
  const Dataset d = Dataset::range(5).cache(name);
  {
    Iterator it = d.iter();
    it.next();
    expect_error<errors::AlreadyExists>([&] { d.iter().next(); },
                                        "is being written by another iterator or process");
    EXPECT_EQ(files_of(name, "*").size(), 2u);  // the part, and the lock
  }
  EXPECT_EQ(files_of(name, "*").size(), 0u);
  // What a killed process left.
  std::ofstream(name + ".part") << "half";
  std::ofstream(name + ".lockfile") << "";
  EXPECT_EQ(values(d), counted(5));
  EXPECT_EQ(files_of(name, "*").size(), 1u);
}
TEST(FileCache, AnErrorInItsInputIsNotCached) {
  const std::string name = cache_name("failing");
  bool fails = true;
  const Dataset d = Dataset::range(4)
                        .map([&](std::int64_t x) {
                          RILL_CHECK(!fails || x != 2, invalid_argument, "two");
                          return x;
                        })
                        .cache(name);
  Iterator it = d.iter();
  it.next();
  it.next();
  expect_error<errors::InvalidArgument>([&] { it.next(); }, "two");
  EXPECT_EQ(it.next().item<int>(), 3);
  EXPECT_EQ(files_of(name, "*").size(), 0u);
  fails = false;
  EXPECT_EQ(values(d), counted(4));
}
TEST(FileCache, ADamagedOrAnotherFileIsSaid) {
  const std::string name = cache_name("damaged");
  const Dataset d = Dataset::range(5).cache(name);
  values(d);
  expect_error<errors::InvalidArgument>(
      [&] { Dataset::range(5).batch(2).cache(name).iter().next(); }, "Remove the file");
  const std::string good = io::file_contents(name + ".cache");
  std::ofstream(name + ".cache", std::ios::binary) << good.substr(0, good.size() - 60);
  expect_error<errors::DataLoss>([&] { values(d); }, ".cache\" is damaged at byte");
  std::ofstream(name + ".cache", std::ios::binary) << "something else that is long enough";
  expect_error<errors::DataLoss>([&] { values(d); }, "damage");
}
TEST(FileCache, APassThatGoesOnInAnotherProcess) {
  const std::string name = cache_name("state");
  const auto make = [&] { return Dataset::range(8).shuffle(8, {.seed = 3}).cache(name).repeat(2); };
  Iterator it = make().iter();
  for (int i = 0; i < 3; ++i) it.next();
  const std::string writing = it.save();
  std::vector<std::int64_t> rest;
  for (Nest e; it.next(&e);) rest.push_back(e.item<std::int64_t>());
  io::remove_file(name + ".cache");
  {
    Iterator other = make().iter();
    other.restore(writing);
    std::vector<std::int64_t> again;
    for (int i = 0; i < 5; ++i) again.push_back(other.next().item<std::int64_t>());
    EXPECT_EQ(again, std::vector<std::int64_t>(rest.begin(), rest.begin() + 5));
    EXPECT_EQ(files_of(name, "*").size(), 0u);  // it has not seen all
  }
  values(make());
  Iterator reading = make().iter();
  for (int i = 0; i < 3; ++i) reading.next();
  const std::string state = reading.save();
  Iterator other = make().iter();
  other.restore(state);
  for (Nest e; reading.next(&e);)
    EXPECT_EQ(other.next().item<std::int64_t>(), e.item<std::int64_t>());
}

}  // namespace
}  // namespace rill::data
