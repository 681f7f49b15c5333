#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "rill/io/file.h"
#include "rill/io/gfile.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::datasets {
namespace {

using rill::testing::expect_error, rill::testing::fresh_folder;
using Strings = std::vector<std::string>;

// What tools/prepared_datasets.py made.
std::string prepared() {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/data/testdata/prepared";
}
LoadOptions from_prepared(const Splits& split) {
  return {.split = split, .data_dir = prepared(), .decode = false};
}
Strings texts(const data::Dataset& d) {
  Strings out;
  for (const Nest& e : d) out.push_back(e["text"].item<std::string>());
  return out;
}
Strings texts(const char* split) { return texts(load("tiny", from_prepared(split))); }

TEST(Prepared, ElementsAreWhatTfdsGives) {
  const Loaded train = load("tiny", from_prepared("train"));
  EXPECT_EQ(train.cardinality(), 10);
  data::Iterator it = train.iter();
  const Nest first = it.next(), second = it.next();
  EXPECT_EQ(second.keys(), (Strings{"box", "deep", "flag", "image", "label", "nested", "objects",
                                    "scalar", "text", "words"}));
  EXPECT_EQ(second["box"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{5, 1, 2, 3}));
  EXPECT_EQ(second["box"].shape(), TensorShape({2, 2}));
  EXPECT_EQ(second["flag"].dtype(), bool_);
  EXPECT_FALSE(second["flag"].item<bool>());
  EXPECT_EQ(second["label"].dtype(), int64);
  EXPECT_EQ(second["label"].item<int>(), 1);
  EXPECT_EQ(second["nested"]["x"].dtype(), int32);
  EXPECT_EQ(second["nested"]["y"].dtype(), uint8);
  EXPECT_EQ(second["nested"]["y"].item<int>(), 5);
  EXPECT_EQ(second["objects"]["bbox"].to_vector<float>(),
            (std::vector<float>{0, 0, 0.5f, 1, 0, 0.25f, 0.5f, 1}));
  EXPECT_EQ(second["objects"]["kind"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(first["objects"]["bbox"].shape(), TensorShape({0, 4}));
  EXPECT_EQ(second["scalar"].item<float>(), 2.5f);
  EXPECT_EQ(second["words"].to_vector<std::string>(), (Strings{"w", "w"}));
  EXPECT_EQ(first["deep"].as_ragged().to_string(), "[[], [0]]");
  EXPECT_EQ(second["image"].item<std::string>().substr(1, 3), "PNG");
}
TEST(Prepared, PicturesAreDecoded) {
  data::Iterator it = load("tiny", {.split = "train", .data_dir = prepared()}).iter();
  it.next();
  const Tensor image = it.next()["image"];
  EXPECT_EQ(image.shape(), TensorShape({3, 3, 3}));
  EXPECT_EQ(image.to_vector<int>(), std::vector<int>(27, 5));
}
TEST(Prepared, SplitExpressions) {
  EXPECT_EQ(texts("train"), (Strings{"t6", "t5", "t4", "t0", "t8", "t3", "t1", "t9", "t7", "t2"}));
  EXPECT_EQ(texts("train[:80%]"), (Strings{"t6", "t5", "t4", "t0", "t8", "t3", "t1", "t9"}));
  EXPECT_EQ(texts("train[20%:]"), (Strings{"t4", "t0", "t8", "t3", "t1", "t9", "t7", "t2"}));
  EXPECT_EQ(texts("train[-3:]"), (Strings{"t9", "t7", "t2"}));
  EXPECT_EQ(texts("train[:-7]"), (Strings{"t6", "t5", "t4"}));
  EXPECT_EQ(texts("train[2:5]+test[:50%]"), (Strings{"t4", "t0", "t8", "t101", "t103"}));
  EXPECT_EQ(texts("train[33%:66%]"), (Strings{"t0", "t8", "t3", "t1"}));
  EXPECT_EQ(texts("train[1shard]"), (Strings{"t0", "t8", "t3", "t1"}));
  EXPECT_EQ(texts("train[5:5]"), Strings());
  EXPECT_EQ(texts("all").size(), 14u);
  for (const char* bad : {"train[", "train[]", "train[1]", "train[a:]", "train[:1.5]", "train[:]",
                          "train[1%:2shard]", "", "train[7:2]", "train[:101%]"})
    expect_error<errors::InvalidArgument>([&] { texts(bad); }, "[datasets.load] \"");
  expect_error<errors::InvalidArgument>([] { texts("valid"); }, "There are: test, train");
}
TEST(Prepared, SeveralSplitsAndInfo) {
  const Loaded all = load("tiny", from_prepared({}));
  EXPECT_EQ(texts(all["test"]), (Strings{"t101", "t103", "t102", "t100"}));
  expect_error<errors::NotFound>([&] { all["valid"]; }, "There are: test, train");
  expect_error<errors::InvalidArgument>([&] { all.iter(); },
                                        "there are several splits: test, train");
  const Loaded two = load("tiny:1.*.*", from_prepared({"train[:20%]", "test"}));
  const auto [some, test] = two.unpack<2>();
  EXPECT_EQ(some.cardinality(), 2);
  EXPECT_EQ(test.cardinality(), 4);
  expect_error<errors::InvalidArgument>([&] { two.unpack<3>(); }, "there are 2 splits");
  const DatasetInfo& info = two.info();
  EXPECT_EQ(info.name + info.version, "tiny1.0.0");
  EXPECT_EQ(info.splits.at("train").num_examples, 10);
  const FeatureInfo& label = info.features.at("label");
  EXPECT_EQ(label.names, (Strings{"cat", "dog"}));
  EXPECT_EQ(label.str2int("dog"), 1);
  EXPECT_EQ(label.int2str(0), "cat");
  expect_error<errors::InvalidArgument>([&] { label.str2int("cow"); }, "\"cow\" is none");
  EXPECT_EQ(info.features.at("objects/bbox").shape.to_string(), "(None, 4)");
  std::ostringstream os;
  os << info;
  EXPECT_NE(os.str().find("'train': <SplitInfo num_examples=10, num_shards=3>"), std::string::npos);
}
TEST(Prepared, PairsAndBatches) {
  LoadOptions o = from_prepared("train[:4]");
  o.as_supervised = true;
  o.batch_size = 3;
  std::vector<std::string> pairs;
  for (const Nest& e : load("tiny", o)) pairs.push_back(format("{}", e));
  EXPECT_EQ(pairs, (Strings{"(array([b't6', b't5', b't4'], dtype=object), array([0, 1, 0]))",
                            "(array([b't0'], dtype=object), array([0]))"}));
}
TEST(Prepared, WhatIsMissingIsSaid) {
  const std::string folder = fresh_folder("tfds");
  expect_error<errors::NotFound>(
      [&] { load("tf_flowers", {.split = "train", .data_dir = folder}); },
      "[datasets.load] \"tf_flowers\" is not there. It was looked for in \"" + folder +
          "/tf_flowers\"");
  expect_error<errors::NotFound>([] { load("tiny:2.*.*", from_prepared("train")); }, "not there");
  expect_error<errors::InvalidArgument>([] { load("../x"); }, "is no name of a dataset");
  io::gfile::makedirs(folder + "/tiny/1.0.0");
  for (const std::string& name : io::gfile::listdir(prepared() + "/tiny/1.0.0"))
    if (name.find("train.tfrecord-00001") == name.npos)
      io::gfile::copy(prepared() + "/tiny/1.0.0/" + name, folder + "/tiny/1.0.0/" + name);
  const Loaded lacking = load("tiny", {.split = "train", .data_dir = folder, .decode = false});
  expect_error<errors::NotFound>([&] { texts(lacking); }, "tiny-train.tfrecord-00001-of-00003");
}
TEST(Prepared, FoldersOfPictures) {
  const std::string folder = fresh_folder("pictures");
  for (const char* path :
       {"train/dog/b.JPG", "train/cat/a.png", "test/cat/c.jpg", "train/cat/x.txt"})
    io::gfile::makedirs(io::folder_of(folder + "/pets/" + path)),
        io::write_file_atomically(folder + "/pets/" + path, path);
  const Loaded pets =
      load("pets", {.split = "train", .data_dir = folder, .as_supervised = true, .decode = false});
  std::vector<std::string> seen;
  for (const Nest& e : pets)
    seen.push_back(e[0].item<std::string>() + " " + std::to_string(e[1].item<int>()));
  EXPECT_EQ(seen, (Strings{"train/cat/a.png 0", "train/dog/b.JPG 1"}));
  EXPECT_EQ(pets.info().features.at("label").names, (Strings{"cat", "dog"}));
}
TEST(PreparedFuzz, DamagedDescriptions) {
  const std::string folder = fresh_folder("tfds_fuzz");
  io::gfile::makedirs(folder + "/tiny/1.0.0");
  for (const std::string& name : io::gfile::listdir(prepared() + "/tiny/1.0.0"))
    io::gfile::copy(prepared() + "/tiny/1.0.0/" + name, folder + "/tiny/1.0.0/" + name);
  const char* wanted = std::getenv("RILL_FUZZ");
  const char* seed = std::getenv("RILL_FUZZ_SEED");
  const int rounds = wanted ? std::atoi(wanted) : 1000;
  std::mt19937 random(seed ? static_cast<unsigned>(std::atoi(seed)) : 5);
  int loaded = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string path =
        folder + "/tiny/1.0.0/" + (random() % 2 ? "features.json" : "dataset_info.json");
    const std::string good = io::file_contents(path);
    std::string bad = good;
    for (unsigned k = 0; k <= random() % 3; ++k)
      bad[random() % bad.size()] = "0159-\"{}[]:,ae%"[random() % 15];
    std::ofstream(path, std::ios::binary) << bad;
    try {
      loaded +=
          !texts(load("tiny", {.split = "test", .data_dir = folder, .decode = false})).empty();
    } catch (const errors::Error&) {
    }
    std::ofstream(path, std::ios::binary) << good;
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace rill::datasets
