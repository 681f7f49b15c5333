#include "rill/saving/checkpoint_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/saving/checkpoint_state.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill::train {
namespace {

using rill::testing::expect_error;
using saving_tests::fresh_folder;
using Names = std::vector<std::string>;

Names indexes(const std::string& folder) {
  Names out;
  for (const std::string& name : io::list_folder(folder))
    if (name.ends_with(".index")) out.push_back(name);
  return out;
}

TEST(CheckpointManager, KeepsTheLastThree) {
  RILL_SHOWS("S19");
  const std::string folder = fresh_folder("keep") + "/save";
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  CheckpointManager manager(checkpoint, {.directory = folder, .max_to_keep = 3});
  EXPECT_EQ(manager.latest_checkpoint(), "");
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(manager.save(), format("{}/ckpt-{}", folder, i));
  EXPECT_EQ(indexes(folder), (Names{"ckpt-3.index", "ckpt-4.index", "ckpt-5.index"}));
  EXPECT_EQ(io::list_folder(folder).size(), 7u);
  EXPECT_EQ(manager.checkpoints(),
            (Names{folder + "/ckpt-3", folder + "/ckpt-4", folder + "/ckpt-5"}));
  const auto state = get_checkpoint_state(folder);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->model_checkpoint_path, folder + "/ckpt-5");
  EXPECT_EQ(state->all_model_checkpoint_paths, manager.checkpoints());
  EXPECT_EQ(state->all_model_checkpoint_timestamps.size(), 3u);
  EXPECT_GT(state->last_preserved_timestamp, 0);
}

TEST(CheckpointManager, NumbersAreTheCallers) {
  RILL_SHOWS("S20", "P63");
  const std::string folder = fresh_folder("numbers");
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  CheckpointManager manager(checkpoint, {.directory = folder, .max_to_keep = 3});
  for (int batch = 0; batch <= 500; batch += 100) {
    x.assign(static_cast<float>(batch));
    manager.save({.checkpoint_number = batch});
  }
  EXPECT_EQ(indexes(folder), (Names{"ckpt-300.index", "ckpt-400.index", "ckpt-500.index"}));
  EXPECT_EQ(checkpoint.save_counter().item<int>(), 6);
  checkpoint.restore(folder + "/ckpt-300").assert_consumed();
  EXPECT_EQ(x.item<float>(), 300.f);
  // One that is written again is the newest.
  manager.save({.checkpoint_number = 400});
  EXPECT_EQ(manager.checkpoints(),
            (Names{folder + "/ckpt-300", folder + "/ckpt-500", folder + "/ckpt-400"}));
}

TEST(CheckpointManager, AnotherProgramGoesOn) {
  const std::string folder = fresh_folder("resume");
  Variable x(1.f);
  {
    CheckpointManager first(Checkpoint({{"x", x}}), {.directory = folder, .max_to_keep = 2});
    first.save();
    first.save();
  }
  x.assign(0.f);
  int initialized = 0;
  const CheckpointManagerOptions options{
      .directory = folder, .max_to_keep = 2, .init_fn = [&] { ++initialized; }};
  CheckpointManager second(Checkpoint({{"x", x}}), options);
  EXPECT_EQ(second.restore_or_initialize(), folder + "/ckpt-2");
  EXPECT_EQ(x.item<float>(), 1.f);
  EXPECT_EQ(initialized, 0);
  EXPECT_EQ(second.save(), folder + "/ckpt-3");
  EXPECT_EQ(indexes(folder), (Names{"ckpt-2.index", "ckpt-3.index"}));
  CheckpointManager empty(Checkpoint({{"x", x}}),
                          {.directory = folder + "/other", .init_fn = [&] { ++initialized; }});
  EXPECT_EQ(empty.restore_or_initialize(), "");
  EXPECT_EQ(initialized, 1);
}

TEST(CheckpointManager, KeepsOneEverySoManyHours) {
  const std::string folder = fresh_folder("hours");
  Variable x(1.f);
  const Checkpoint checkpoint({{"x", x}});
  const CheckpointManagerOptions options{
      .directory = folder, .max_to_keep = 1, .keep_checkpoint_every_n_hours = 1};
  CheckpointManager(checkpoint, options).save();
  // As if the first had been saved two hours after the last that was kept.
  auto state = *get_checkpoint_state(folder);
  state.last_preserved_timestamp = state.all_model_checkpoint_timestamps[0] - 7200;
  update_checkpoint_state(folder, state);
  CheckpointManager manager(checkpoint, options);
  manager.save();
  manager.save();
  EXPECT_EQ(indexes(folder), (Names{"ckpt-1.index", "ckpt-3.index"}));
  EXPECT_EQ(manager.checkpoints(), Names{folder + "/ckpt-3"});
}

TEST(CheckpointManager, SavesWhenTheIntervalHasPassed) {
  const std::string folder = fresh_folder("interval");
  Variable step(0);
  CheckpointManager manager(Checkpoint({{"step", step}}), {.directory = folder,
                                                           .checkpoint_name = "model",
                                                           .step_counter = step,
                                                           .checkpoint_interval = 5});
  Names saved;
  for (int i = 0; i < 12; ++i, step.assign_add(1))
    if (const std::string path = manager.save(); !path.empty()) saved.push_back(path);
  EXPECT_EQ(saved, (Names{folder + "/model-1", folder + "/model-2", folder + "/model-3"}));
  EXPECT_NE(manager.save({.check_interval = false}), "");
  EXPECT_EQ(manager.save({.check_interval = false}), "");  // nothing has happened since
}

TEST(CheckpointManager, RefusesWhatCannotBe) {
  const Checkpoint checkpoint({{"x", Variable(1.f)}});
  const auto make = [&](const CheckpointManagerOptions& o) { CheckpointManager m(checkpoint, o); };
  expect_error<errors::InvalidArgument>([&] { make({.directory = "d", .max_to_keep = 0}); },
                                        "max_to_keep is 0");
  expect_error<errors::InvalidArgument>([&] { make({.max_to_keep = 1}); }, "no directory");
  expect_error<errors::InvalidArgument>([&] { make({.directory = "d", .checkpoint_interval = 5}); },
                                        "step_counter");
}

// As TensorFlow does: a damaged file is as good as none, and a warning tells of it.
TEST(CheckpointState, ThatIsDamagedIsPassedOver) {
  static std::string said;
  const std::string folder = fresh_folder("damaged_state");
  for (const char* text :
       {"\x01garbage", "foo: 1\n", "model_checkpoint_path: 7\n", "model_checkpoint_path: \"no"}) {
    said.clear();
    const LogLevel before = log_level();
    io::write_file_atomically(folder + "/checkpoint", text);
    set_log_level(LogLevel::warning);
    set_log_sink([](LogLevel, std::string_view line) { said = line; });
    EXPECT_EQ(latest_checkpoint(folder), "");
    set_log_sink(nullptr);
    set_log_level(before);
    EXPECT_THAT(said, ::testing::HasSubstr("is damaged and not used: line 1"));
    EXPECT_FALSE(get_checkpoint_state(folder));
  }
  io::write_file_atomically(folder + "/checkpoint", "all_model_checkpoint_paths: \"a\"\n");
  EXPECT_THROW(latest_checkpoint(folder), errors::DataLoss);
}

}  // namespace
}  // namespace rill::train
