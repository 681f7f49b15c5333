// Folders of files, and windows of arrays, as datasets. Values are those of Keras 2.15.
#include "rill/keras/utils/directory_dataset.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "rill/io/file.h"
#include "rill/keras/utils/timeseries_dataset.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::keras::utils {
namespace {

using data::Dataset;
using rill::testing::expect_error, rill::testing::fresh_folder;
using Strings = std::vector<std::string>;

// Seven texts of two classes; each holds the name of its class and its own.
std::string reviews() {
  const std::string folder = fresh_folder("reviews");
  for (const char* path : {"neg/b", "neg/a", "neg/sub/z", "pos/d", "pos/c", "pos/e", "pos/f"}) {
    const std::string file = folder + "/" + path + ".txt";
    io::create_folders(io::folder_of(file));
    io::write_file_atomically(file, path);
  }
  io::write_file_atomically(folder + "/neg/other.csv", "no text");
  return folder;
}
Strings strings_of(const Dataset& d) {
  Strings out;
  for (const Nest& e : d)
    out.push_back(e.is_tensor() ? e.item<std::string>()
                                : e[0].item<std::string>() + " " + e[1].as_tensor().to_string());
  return out;
}
Strings names_of(const DirectoryDataset& d) {
  Strings out;
  for (const std::string& path : d.file_paths())
    out.push_back(std::filesystem::path(path).stem().string());
  return out;
}

TEST(TextDataset, InTheOrderOfPaths) {
  const auto d = text_dataset_from_directory(
      reviews(), {.batch_size = std::nullopt, .shuffle = false, .verbose = false});
  EXPECT_EQ(strings_of(d), (Strings{"neg/a 0", "neg/b 0", "neg/sub/z 0", "pos/c 1", "pos/d 1",
                                    "pos/e 1", "pos/f 1"}));
  EXPECT_EQ(d.class_names(), (Strings{"neg", "pos"}));
  EXPECT_EQ(d.file_paths().size(), 7u);
}
TEST(TextDataset, ShuffledAndSplitAsKerasDoes) {
  const std::string folder = reviews();
  EXPECT_EQ(names_of(text_dataset_from_directory(folder, {.seed = 7, .verbose = false})),
            (Strings{"z", "e", "a", "f", "c", "b", "d"}));
  TextDatasetOptions o{.seed = 7, .validation_split = 0.3, .subset = "training", .verbose = false};
  EXPECT_EQ(names_of(text_dataset_from_directory(folder, o)), (Strings{"z", "e", "a", "f", "c"}));
  o.subset = "validation";
  EXPECT_EQ(names_of(text_dataset_from_directory(folder, o)), (Strings{"b", "d"}));
  const auto [train, test] = text_datasets_from_directory(folder, o);
  EXPECT_EQ(names_of(train).size(), 5u);
  EXPECT_EQ(names_of(test), (Strings{"b", "d"}));
}
TEST(TextDataset, LabelsOfEachMode) {
  const std::string folder = reviews();
  const auto labels = [&](TextDatasetOptions o) {
    o.shuffle = o.verbose = false;
    o.batch_size = 4;
    const Nest batch = text_dataset_from_directory(folder, o).iter().next();
    return batch.is_tensor() ? std::string("none") : format("{}", batch[1].as_tensor());
  };
  EXPECT_EQ(labels({}), "[0 0 0 1]");
  EXPECT_EQ(labels({.label_mode = "binary"}), "[[0.]\n [0.]\n [0.]\n [1.]]");
  EXPECT_EQ(labels({.label_mode = "categorical"}), "[[1. 0.]\n [1. 0.]\n [1. 0.]\n [0. 1.]]");
  EXPECT_EQ(labels({.label_mode = std::nullopt}), "none");
  EXPECT_EQ(labels({.labels = std::nullopt}), "none");
  EXPECT_EQ(labels({.labels = {5, 6, 7, 5, 6, 7, 5}}), "[5 6 7 5]");
  EXPECT_EQ(labels({.class_names = {"pos", "neg"}}), "[0 0 0 0]");
  EXPECT_EQ(strings_of(text_dataset_from_directory(folder, {.labels = std::nullopt,
                                                            .batch_size = std::nullopt,
                                                            .max_length = 2,
                                                            .shuffle = false,
                                                            .verbose = false}))[0],
            "ne");
}
TEST(TextDataset, WhatDoesNotFitIsSaid) {
  const std::string folder = reviews();
  const auto fails = [&](const TextDatasetOptions& o, const char* text) {
    expect_error<errors::InvalidArgument>([&] { text_dataset_from_directory(folder, o); }, text);
  };
  fails({.label_mode = "one"}, "label_mode is \"one\"");
  fails({.class_names = {"good"}}, "\"good\", which is no folder");
  fails({.validation_split = 0.2}, "are set together");
  fails({.validation_split = 0.2, .subset = "training"}, "give a seed");
  fails({.labels = {1, 2}, .verbose = false}, "there are 2 labels, and 7 files");
  fails({.label_mode = "binary", .class_names = {"pos"}, .verbose = false},
        "there are 1 classes; expected 2");
  fails({.batch_size = 0}, "batch_size is 0");
  fails({.seed = 1, .validation_split = 0.2, .subset = "both"}, "text_datasets_from_directory");
  expect_error<errors::NotFound>([] { text_dataset_from_directory("/missing"); },
                                 "\"/missing\" is not a folder");
  expect_error<errors::InvalidArgument>(
      [&] { image_dataset_from_directory(folder, {.verbose = false}); }, "there are no images in");
}
TEST(ImageDataset, KnowsItsFiles) {
  const std::string folder = fresh_folder("images");
  for (const char* path : {"cat/1.png", "cat/2.JPG", "dog/3.jpeg", "dog/x.txt"}) {
    io::create_folders(io::folder_of(folder + "/" + path));
    io::write_file_atomically(folder + "/" + path, "");
  }
  const auto d = image_dataset_from_directory(
      folder, {.image_size = {8, 9}, .shuffle = false, .verbose = false});
  EXPECT_EQ(names_of(d), (Strings{"1", "2", "3"}));
  EXPECT_EQ(d.class_names(), (Strings{"cat", "dog"}));
  expect_error<errors::InvalidArgument>(
      [&] { image_dataset_from_directory(folder, {.color_mode = "cmyk"}); },
      "color_mode is \"cmyk\"");
}

std::string windows(const Dataset& d) {
  std::string out;
  for (const Nest& e : d) out += format("{}", e) + "\n";
  return out;
}
TEST(Timeseries, WindowsWithTargets) {
  const Tensor x = range(10);
  EXPECT_EQ(
      windows(timeseries_dataset_from_array(
          x, x(slice(3, 10)) * 10, 3, {.sequence_stride = 2, .sampling_rate = 2, .batch_size = 2})),
      "(array([[0, 2, 4],\n       [2, 4, 6]], dtype=int32), array([30, 50], dtype=int32))\n"
      "(array([[4, 6, 8]], dtype=int32), array([70], dtype=int32))\n");
  EXPECT_EQ(windows(timeseries_dataset_from_array(
                x, x, 2, {.batch_size = std::nullopt, .start_index = 2, .end_index = 6})),
            "(array([2, 3], dtype=int32), 2)\n(array([3, 4], dtype=int32), 3)\n"
            "(array([4, 5], dtype=int32), 4)\n");
  const Dataset shuffled = timeseries_dataset_from_array(
      x, std::nullopt, 3, {.batch_size = std::nullopt, .shuffle = true, .seed = 3});
  EXPECT_EQ(shuffled.as_vector().size(), 8u);
  expect_error<errors::InvalidArgument>(
      [&] { timeseries_dataset_from_array(x, std::nullopt, 3, {.sampling_rate = 10}); },
      "sampling_rate is 10");
}

}  // namespace
TEST(Timeseries, EveryNoneMeansNoTargets) {
  const Tensor d = range(10);
  const auto batches = [](const Dataset& of) {
    int n = 0;
    for (const Nest& each : of) n += each.is_tensor() && each.shape() == TensorShape({7, 4});
    return n;
  };
  EXPECT_EQ(batches(timeseries_dataset_from_array(d, {}, 4)), 1);
  EXPECT_EQ(batches(timeseries_dataset_from_array(d, None, 4)), 1);
  EXPECT_EQ(batches(timeseries_dataset_from_array(d, std::nullopt, 4)), 1);
  EXPECT_EQ(batches(timeseries_dataset_from_array(d, nullptr, 4)), 1);
  EXPECT_EQ(batches(timeseries_dataset_from_array(d, Tensor(), 4)), 1);
}

}  // namespace rill::keras::utils
