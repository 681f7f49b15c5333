#include "rill/saving/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/ops/array_ops.h"
#include "rill/saving/checkpoint_reader.h"
#include "rill/saving/checkpoint_state.h"
#include "rill/saving/tensor_bundle.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill::train {
namespace {

using rill::testing::expect_error;
using saving_tests::fresh_folder;
using saving_tests::golden;
using Names = std::vector<std::string>;

// A part of a model that makes its variables when it is first used.
struct Layer {
  Ref<TrackableNode> node{new TrackableNode};
  Variable kernel;
  Ref<TrackableNode> trackable() const { return node; }
  void build(float value) {
    kernel = Variable(constant({value, value}), {.name = "kernel"});
    node->track("kernel", TrackableRef(kernel).trackable());
  }
};

TEST(Checkpoint, SavesAndRestoresAVariable) {
  RILL_SHOWS("S10", "S33", "P15");
  const std::string folder = fresh_folder("one");
  Variable x(10.f);
  const Checkpoint checkpoint({{"x", x}});
  x.assign(2.f);
  const std::string path = checkpoint.save(folder + "/ckpt/");
  EXPECT_EQ(path, folder + "/ckpt/-1");
  x.assign(11.f);
  checkpoint.restore(path);
  EXPECT_EQ(x.numpy().item<float>(), 2.f);
}

TEST(Checkpoint, NamesAreFreeAndFilesAreTensorFlows) {
  RILL_SHOWS("S13", "S17", "S18");
  const std::string folder = fresh_folder("files") + "/save";
  Layer model;
  model.build(1);
  const Checkpoint checkpoint({{"myAwesomeModel", model}});
  EXPECT_EQ(latest_checkpoint(folder), "");
  EXPECT_EQ(checkpoint.save(folder + "/model.ckpt"), folder + "/model.ckpt-1");
  EXPECT_EQ(io::list_folder(folder),
            (Names{"checkpoint", "model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"}));
  EXPECT_EQ(io::file_contents(folder + "/checkpoint"),
            "model_checkpoint_path: \"model.ckpt-1\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-1\"\n");
  EXPECT_EQ(latest_checkpoint(folder), folder + "/model.ckpt-1");
  EXPECT_EQ(checkpoint.save(folder + "/model.ckpt"), folder + "/model.ckpt-2");
  EXPECT_EQ(latest_checkpoint(folder), folder + "/model.ckpt-2");
  EXPECT_EQ(checkpoint.save_counter().item<int>(), 2);

  const CheckpointReader reader = load_checkpoint(folder);
  EXPECT_TRUE(reader.has_tensor("myAwesomeModel/kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_EQ(reader.get_tensor("save_counter/.ATTRIBUTES/VARIABLE_VALUE").item<int>(), 2);
  EXPECT_EQ(reader.get_variable_to_dtype_map()["save_counter/.ATTRIBUTES/VARIABLE_VALUE"], int64);
  const auto variables = list_variables(folder + "/model.ckpt-1");
  ASSERT_EQ(variables.size(), 3u);
  EXPECT_EQ(variables[0].first, "_CHECKPOINTABLE_OBJECT_GRAPH");
  EXPECT_EQ(variables[1].second, TensorShape({2}));
}

TEST(Checkpoint, WhatComesLaterIsRestoredThen) {
  RILL_SHOWS("S15");
  const std::string folder = fresh_folder("deferred");
  {
    Layer layer;
    layer.build(7);
    Checkpoint({{"layers", std::vector<Layer>{layer}}}).save(folder + "/c");
  }
  Layer layer;
  const auto status = Checkpoint({{"layers", std::vector<Layer>{layer}}})
                          .restore(latest_checkpoint(folder))
                          .assert_existing_objects_matched();
  EXPECT_THROW(status.assert_consumed(), errors::FailedPrecondition);
  layer.build(0);
  EXPECT_EQ(layer.kernel.to_vector<float>(), (std::vector<float>{7, 7}));
  status.assert_consumed();
}

TEST(Checkpoint, WhatComesLaterAndDoesNotFitIsToldWithItsPath) {
  const std::string folder = fresh_folder("deferred_mismatch");
  Checkpoint({{"layer", Checkpoint({{"kernel", Variable(1.f)}})}}).write(folder + "/c");
  Layer layer;
  const auto status = Checkpoint({{"layer", layer}}).read(folder + "/c").expect_partial();
  expect_error<errors::InvalidArgument>([&] { layer.build(0); }, "has shape [2]");
  expect_error<errors::InvalidArgument>([&] { layer.build(0); }, "while restoring \"kernel\"");
}

TEST(Checkpoint, CountingGoesOnAfterARestore) {
  const std::string folder = fresh_folder("counting");
  Variable x(1.f);
  for (int i = 1; i <= 3; ++i) {
    const Checkpoint checkpoint({{"x", x}});  // as a new program does
    checkpoint.restore(latest_checkpoint(folder));
    EXPECT_EQ(checkpoint.save(folder + "/c"), format("{}/c-{}", folder, i));
  }
}

TEST(Checkpoint, WriteAndReadCountNothing) {
  const std::string folder = fresh_folder("write");
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  EXPECT_EQ(checkpoint.write(folder + "/w"), folder + "/w");
  EXPECT_EQ(io::list_folder(folder), (Names{"w.data-00000-of-00001", "w.index"}));
  x.assign(5.f);
  checkpoint.read(folder + "/w").assert_consumed();
  EXPECT_EQ(x.item<float>(), 1.f);
  checkpoint.write(folder + "/w");  // over the old one
  checkpoint.restore(folder + "/w").assert_consumed();
}

TEST(Checkpoint, OneObjectAsTheRoot) {
  const std::string folder = fresh_folder("root");
  Layer layer;
  layer.build(3);
  Checkpoint(TrackableRef(layer), {{"step", Variable(5)}}).save(folder + "/c");
  EXPECT_TRUE(load_checkpoint(folder).has_tensor("kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_EQ(layer.node->edges().size(), 1u);  // the counter is the checkpoint's alone
  Layer other;
  Variable step(0);
  const Checkpoint checkpoint(TrackableRef(other), {{"step", step}});
  const auto status = checkpoint.restore(folder + "/c-1");
  other.build(0);
  status.assert_consumed();
  EXPECT_EQ(step.item<int>(), 5);
  EXPECT_EQ(other.kernel.to_vector<float>()[0], 3.f);
  EXPECT_EQ(checkpoint.save_counter().item<int>(), 1);
  // A variable itself: its key begins with a slash.
  Variable x(4.f);
  Checkpoint{TrackableRef(x)}.write(folder + "/x");
  EXPECT_EQ(load_variable(folder + "/x", "/.ATTRIBUTES/VARIABLE_VALUE").item<float>(), 4.f);
}

TEST(Checkpoint, ReadsObjectsThatTensorFlowSaved) {
  Variable x(0.f), w({{0.f, 0.f}}), b(constant(0, int64));
  const Checkpoint inner({{"w", w}, {"a/b.c", b}});
  const Checkpoint checkpoint(
      {{"x", x},
       {"inner", inner},
       {"list", std::vector<TrackableRef>{TrackableRef(w), TrackableRef(b)}},
       {"again", w}});
  checkpoint.restore(golden("nested-1")).assert_consumed();
  EXPECT_EQ(x.item<float>(), 2.f);
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(b.item<int>(), 3);
  EXPECT_EQ(checkpoint.save_counter().item<int>(), 1);
}

TEST(Checkpoint, WritesTheKeysThatTensorFlowWrites) {
  RILL_SHOWS("S14", "Z24");  // values, and nothing of how they are computed
  Variable x(2.f, {.name = "x"}), w({{1.f, 2.f}}, {.name = "w"}),
      b(constant(3, int64), {.name = "b"});
  const Checkpoint inner({{"w", w}, {"a/b.c", b}});
  const std::string folder = fresh_folder("keys");
  Checkpoint({{"x", x}, {"inner", inner}, {"list", std::vector<Variable>{w, b}}, {"again", w}})
      .save(folder + "/nested");
  const BundleReader ours(folder + "/nested-1"), theirs(golden("nested-1"));
  EXPECT_EQ(ours.keys(), theirs.keys());
}

TEST(Checkpoint, ObjectsInACycleAreSavedOnce) {
  const std::string folder = fresh_folder("cycle");
  Layer a, b;
  a.build(1);
  a.node->track("next", b.node);
  b.node->track("back", a.node);
  const Checkpoint checkpoint({{"a", a}});
  checkpoint.save(folder + "/c");
  a.kernel.assign({0.f, 0.f});
  checkpoint.restore(folder + "/c-1").assert_consumed();
  EXPECT_EQ(a.kernel.to_vector<float>()[0], 1.f);
  b.node->track("back", Ref<TrackableNode>(new TrackableNode));  // let go of the cycle
}

TEST(Checkpoint, AMismatchChangesNothing) {
  const std::string folder = fresh_folder("mismatch");
  Checkpoint({{"a", Variable(1.f)}, {"b", Variable({1.f, 2.f}, {.name = "b"})}})
      .save(folder + "/c");
  Variable a(5.f), shape({1.f, 2.f, 3.f}), dtype({1.0, 2.0}, {.dtype = float64});
  expect_error<errors::InvalidArgument>(
      [&] {
        Checkpoint({{"a", a}, {"b", shape}}).restore(folder + "/c-1");
      },
      "\"b\" (variable \"Variable:0\") has shape [3], but [2] in checkpoint");
  expect_error<errors::InvalidArgument>(
      [&] {
        Checkpoint({{"a", a}, {"b", dtype}}).restore(folder + "/c-1");
      },
      "is float64, but float32");
  const std::string data = folder + "/c-1.data-00000-of-00001";
  std::string bytes = io::file_contents(data);
  bytes[6] ^= 1;  // in b
  io::write_file_atomically(data, bytes);
  Variable b({0.f, 0.f});
  expect_error<errors::DataLoss>(
      [&] {
        Checkpoint({{"a", a}, {"b", b}}).restore(folder + "/c-1");
      },
      data);
  EXPECT_EQ(a.item<float>(), 5.f);
}

// Saved as one object, restored into two: both are checked before one changes.
TEST(Checkpoint, OneSavedObjectMayGoToTwo) {
  const std::string folder = fresh_folder("two");
  Variable x({1.f, 2.f});
  Checkpoint({{"a", x}, {"b", x}}).write(folder + "/c");
  Variable a({0.f, 0.f}), b({0.f, 0.f}), other({0.f, 0.f, 0.f});
  Checkpoint({{"a", a}, {"b", b}}).read(folder + "/c").assert_consumed();
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{1, 2}));
  a.assign({0.f, 0.f});
  expect_error<errors::InvalidArgument>(
      [&] {
        Checkpoint({{"a", a}, {"b", other}}).read(folder + "/c");
      },
      "\"b\" (variable");
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 0}));
}

// Takes no value back.
class Stubborn : public TrackableNode {
 public:
  std::vector<SavedValue> saved_values() override { return {{"state", constant(1)}}; }
  std::vector<std::string> saved_keys() override { return {"state"}; }
  void restore_value(std::string_view, const Tensor&) override {
    throw errors::InvalidArgument("no");
  }
};
TEST(Checkpoint, AnObjectThatRefusesItsValueUndoesTheOthers) {
  const std::string folder = fresh_folder("undo");
  struct Object {
    Ref<TrackableNode> node{new Stubborn};
    Ref<TrackableNode> trackable() const { return node; }
  };
  Variable a(1.f);
  const Checkpoint checkpoint({{"a", a}, {"b", Object()}});
  checkpoint.write(folder + "/c");
  a.assign(2.f);
  expect_error<errors::InvalidArgument>([&] { checkpoint.read(folder + "/c"); },
                                        "while restoring \"b\"");
  EXPECT_EQ(a.item<float>(), 2.f);
}

TEST(Checkpoint, TheTableTellsWhatMatched) {
  const std::string folder = fresh_folder("table");
  Checkpoint({{"a", Variable(1.f)}, {"b", Variable(2.f)}}).write(folder + "/c");
  Variable a(0.f), c(0.f, {.name = "c"});
  const auto status = Checkpoint({{"a", a}, {"c", c}}).read(folder + "/c");
  EXPECT_EQ(status.table(),
            "checkpoint \"" + folder +
                "/c\": 1 restored, 1 missing, 1 extra\n"
                "  restored  a\n"
                "  missing   c (variable \"c\"): not in the checkpoint\n"
                "  extra     b/.ATTRIBUTES/VARIABLE_VALUE: no such object in the program\n");
  status.assert_nontrivial_match().expect_partial();
  EXPECT_EQ(status.missing().size(), 1u);
  EXPECT_EQ(status.extra(), std::vector<std::string>{"b/.ATTRIBUTES/VARIABLE_VALUE"});
  expect_error<errors::FailedPrecondition>([&] { status.assert_consumed(); }, "1 missing, 1 extra");
  expect_error<errors::FailedPrecondition>([&] { status.assert_existing_objects_matched(); },
                                           "missing   c");
  const auto none = Checkpoint({{"c", c}}).read(folder + "/c").expect_partial();
  EXPECT_THROW(none.assert_nontrivial_match(), errors::FailedPrecondition);
  const auto empty = Checkpoint({{"c", c}}).restore("");
  expect_error<errors::FailedPrecondition>([&] { empty.assert_consumed(); }, "no checkpoint");
}

std::string last_log;
TEST(Checkpoint, ValuesThatNobodyTookAreTold) {
  const std::string folder = fresh_folder("unused");
  Checkpoint({{"a", Variable(1.f)}, {"b", Variable(2.f)}}).write(folder + "/c");
  const LogLevel before = log_level();
  set_log_level(LogLevel::warning);
  set_log_sink([](LogLevel, std::string_view line) { last_log = line; });
  Variable a(0.f);
  Checkpoint({{"a", a}}).read(folder + "/c").expect_partial();
  EXPECT_EQ(last_log, "");
  Checkpoint({{"a", a}}).read(folder + "/c");
  EXPECT_NE(last_log.find("b/.ATTRIBUTES/VARIABLE_VALUE"), std::string::npos);
  EXPECT_EQ(last_log.find("a/.ATTRIBUTES"), std::string::npos);
  set_log_sink(nullptr);
  set_log_level(before);
}

TEST(Checkpoint, ReadsVariablesByNameWhereThereIsNoGraph) {
  const std::string folder = fresh_folder("names");
  BundleWriter saver(folder + "/model.ckpt-5");
  saver.add("dense/kernel", constant({1.f, 2.f}));
  saver.add("global_step", constant(5, int64));
  saver.finish();
  Variable kernel({0.f, 0.f}, {.name = "dense/kernel"}), other(1.f, {.name = "other"});
  const auto status = Checkpoint({{"k", kernel}, {"o", other}}).restore(folder + "/model.ckpt-5");
  EXPECT_EQ(kernel.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(other.item<float>(), 1.f);
  expect_error<errors::FailedPrecondition>([&] { status.assert_consumed(); },
                                           "1 restored, 1 missing, 1 extra");
}

TEST(Checkpoint, RefusesWhatCannotBe) {
  Variable x(1.f);
  expect_error<errors::InvalidArgument>([&] { Checkpoint c({{"save_counter", x}}); }, "counter");
  expect_error<errors::InvalidArgument>([&] { Checkpoint c({{"x", x}, {"x", x}}); }, "twice");
  expect_error<errors::NotFound>(
      [&] {
        Checkpoint({{"x", x}}).restore("/nowhere/c-1");
      },
      "/nowhere/c-1.index");
  const std::string folder = fresh_folder("state");
  io::write_file_atomically(folder + "/checkpoint", "model_checkpoint_path: \"gone-3\"\n");
  EXPECT_EQ(latest_checkpoint(folder), "");
  expect_error<errors::NotFound>([&] { load_checkpoint(folder); }, "names no checkpoint");
}

// As on a full disk: the system refuses to let the file grow.
TEST(Checkpoint, WhatWasSavedStaysWhenThereIsNoRoom) {
  const std::string folder = fresh_folder("full");
  Variable x(constant({1.f, 2.f}), {.shape = {None}});
  const Checkpoint checkpoint({{"x", x}});
  checkpoint.write(folder + "/c");
  x.assign(zeros({1 << 20}));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(checkpoint.write(folder + "/c"), errors::ResourceExhausted);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(io::list_folder(folder), (Names{"c.data-00000-of-00001", "c.index"}));
  checkpoint.read(folder + "/c").assert_consumed();
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Checkpoint, AFailedSaveIsNotCounted) {
  const std::string folder = fresh_folder("failed");
  io::write_file_atomically(folder + "/file", "");
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  EXPECT_THROW(checkpoint.save(folder + "/file/c"), errors::Error);
  EXPECT_EQ(checkpoint.save_counter().item<int>(), 0);
  EXPECT_EQ(checkpoint.save(folder + "/c"), folder + "/c-1");
}

TEST(Checkpoint, FilesHaveTheNamesOfTheGuide) {
  RILL_SHOWS("Q40");
  const std::string folder = fresh_folder("guide_names");
  Variable weight(1.f);
  Checkpoint({{"myAwesomeModel", weight}}).save(folder + "/model.ckpt");
  EXPECT_EQ(io::list_folder(folder),
            (Names{"checkpoint", "model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"}));
}

TEST(Checkpoint, TheStateOfAFolderNamesTheNewest) {
  RILL_SHOWS("S24");
  const std::string folder = fresh_folder("folder_state") + "/checkpoints";
  const std::string file = folder + "/checkpoint";
  const auto state = [&] {  // of the folder of the file, as the guide asks
    return get_checkpoint_state(std::filesystem::path(file).parent_path().string());
  };
  EXPECT_FALSE(state().has_value());
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  checkpoint.save(folder + "/skip-gram");
  x.assign(2.f);
  checkpoint.save(folder + "/skip-gram");
  x.assign(3.f);
  ASSERT_TRUE(state().has_value());
  EXPECT_EQ(state()->model_checkpoint_path, folder + "/skip-gram-2");
  checkpoint.restore(state()->model_checkpoint_path);
  EXPECT_EQ(x.item<float>(), 2.f);
}

}  // namespace
}  // namespace rill::train
