#include "rill/keras/callbacks/callbacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/summary/event_reader.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using tf::Tensor;
using tf::testing::expect_error;

namespace {

// y = 3 x, to be learnt by one weight.
keras::Sequential model(double rate = 0.1) {
  keras::Sequential m({keras::layers::Dense(
      1, {.use_bias = false, .kernel_initializer = "zeros", .input_shape = {1}})});
  m.compile({.optimizer = keras::optimizers::SGD(rate), .loss = "mse"});
  return m;
}
const Tensor& x() {
  static const Tensor t = tf::ones({4, 1});
  return t;
}
const Tensor& y() {
  static const Tensor t = tf::fill({4, 1}, 3.f);
  return t;
}

std::string folder() {
  return rill::testing::fresh_folder(
      ::testing::UnitTest::GetInstance()->current_test_info()->name());
}

// Says numbers of its own as if they were measured.
struct Says : keras::callbacks::Callback {
  std::string calls;
  void on_train_begin(const keras::Logs&) override { calls += "B"; }
  void on_train_end(const keras::Logs&) override { calls += "E"; }
  void on_epoch_begin(int epoch, const keras::Logs&) override { calls += std::to_string(epoch); }
  void on_epoch_end(int, const keras::Logs& logs) override {
    calls += ".";
    EXPECT_TRUE(logs.contains("loss"));
  }
  void on_train_batch_end(std::int64_t batch, const keras::Logs&) override {
    calls += static_cast<char>('a' + batch);
  }
};

TEST(Callbacks, HooksOfAUsersClass) {
  keras::Sequential m = model();
  Says says;
  m.fit(x(), y(), {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {says}});
  EXPECT_EQ(says.calls, "B0ab.1ab.E");
  EXPECT_EQ(says.params.epochs, 2);
  RILL_SHOWS("K84", "K89");
}

TEST(Callbacks, EarlyStoppingWaitsAndRestores) {
  // A rate at which the weight jumps ever further away: the first epoch is the best.
  keras::Sequential m = model(1.2);
  keras::callbacks::EarlyStopping stop(
      {.monitor = "val_loss", .patience = 2, .restore_best_weights = true});
  const auto h = m.fit(
      x(), y(), {.epochs = 10, .verbose = 0, .callbacks = {stop}, .validation_data = {x(), y()}});
  EXPECT_EQ(h["loss"].size(), 3u);  // the best, and two that were worse
  EXPECT_EQ(stop.stopped_epoch, 2);
  EXPECT_EQ(stop.best_epoch, 0);
  EXPECT_NEAR(m.get_weights()[0].item<float>(), 7.2f, 1e-5);
  // While it gets better nothing stops it.
  keras::Sequential good = model(0.1);
  EXPECT_EQ(good.fit(x(), y(),
                     {.epochs = 6,
                      .verbose = 0,
                      .callbacks = {keras::callbacks::EarlyStopping({.monitor = "loss"})}})["loss"]
                .size(),
            6u);
  RILL_SHOWS("K87");
}

TEST(Callbacks, LearningRates) {
  keras::Sequential m = model();
  auto h = m.fit(x(), y(),
                 {.epochs = 3,
                  .verbose = 0,
                  .callbacks = {keras::callbacks::LearningRateScheduler(
                      [](int epoch) { return 0.5 / (epoch + 1); })}});
  ASSERT_EQ(h["lr"].size(), 3u);
  EXPECT_NEAR(h["lr"][1], 0.25, 1e-7);
  EXPECT_NEAR(m.optimizer().learning_rate(), 0.5 / 3, 1e-7);
  // Rate 0.5 reaches 3 in one step: 2 * 0.5 * (3 - 0).
  EXPECT_NEAR(m.get_weights()[0].item<float>(), 3, 1e-6);

  keras::Sequential plateau = model(1.0);  // jumps between 0 and 6
  h = plateau.fit(x(), y(),
                  {.epochs = 4,
                   .verbose = 0,
                   .callbacks = {keras::callbacks::ReduceLROnPlateau(
                       {.monitor = "loss", .factor = 0.5, .patience = 2})}});
  EXPECT_NEAR(plateau.optimizer().learning_rate(), 0.5, 1e-7);
  RILL_SHOWS("K86");
}

// As Keras's rules say for a number that never changes.
TEST(Callbacks, ReduceLROnPlateauStopsAtTheLeastRate) {
  struct Flat : keras::callbacks::Callback {
    std::vector<double>* rates;
    explicit Flat(std::vector<double>* r) : rates(r) {}
    void on_epoch_end(int, const keras::Logs&) override { extra.set("flat", 1); }
    void on_epoch_begin(int, const keras::Logs&) override {
      rates->push_back(model->optimizer().learning_rate());
    }
  };
  const auto rates_of = [&](keras::callbacks::ReduceLROnPlateauOptions o) {
    std::vector<double> rates;
    o.monitor = "flat";
    o.patience = 1;
    keras::Sequential m = model(0.1);
    m.fit(x(), y(),
          {.epochs = 6,
           .verbose = 0,
           .callbacks = {Flat(&rates), keras::callbacks::ReduceLROnPlateau(o)}});
    return rates;
  };
  const auto expect = [](const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-7) << i;
  };
  expect(rates_of({.factor = 0.5, .min_lr = 0.03}), {0.1, 0.1, 0.05, 0.03, 0.03, 0.03});
  expect(rates_of({.factor = 0.5}), {0.1, 0.1, 0.05, 0.025, 0.0125, 0.00625});
  expect(rates_of({.factor = 0.5, .cooldown = 2}), {0.1, 0.1, 0.05, 0.05, 0.025, 0.025});
}

TEST(Callbacks, CsvLogger) {
  const std::string file = folder() + "/log.csv";
  keras::Sequential m = model();
  m.fit(x(), y(), {.epochs = 2, .verbose = 0, .callbacks = {keras::callbacks::CSVLogger(file)}});
  const std::string text = tf::io::file_contents(file);
  EXPECT_THAT(text, ::testing::StartsWith("epoch,loss,val_loss\n0,9.0,NA\n1,"));
  m.fit(x(), y(),
        {.epochs = 1,
         .verbose = 0,
         .callbacks = {keras::callbacks::CSVLogger(file, {.append = true})}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') + 1, [&] {
    const std::string more = tf::io::file_contents(file);
    return std::count(more.begin(), more.end(), '\n');
  }());
}

TEST(Callbacks, CsvLoggerHasColumnsForLaterValidation) {
  const std::string file = folder() + "/later.csv";
  model().fit(x(), y(),
              {.epochs = 2,
               .verbose = 0,
               .callbacks = {keras::callbacks::CSVLogger(file, {.separator = ";"})},
               .validation_data = {x(), y()},
               .validation_freq = 2});
  const std::string text = tf::io::file_contents(file);
  EXPECT_THAT(text, ::testing::StartsWith("epoch;loss;val_loss\n0;9.0;NA\n1;"));
  EXPECT_EQ(text.find("NA", text.find("\n1;")), text.npos);
}

// As Keras prints it: what callbacks say, and then the line of the epoch with what they added.
TEST(Callbacks, TheLineOfAnEpochComesAfterThem) {
  ::testing::internal::CaptureStdout();
  model().fit(x(), y(),
              {.epochs = 2,
               .verbose = 2,
               .callbacks = {keras::callbacks::LearningRateScheduler([](int) { return 0.25; }),
                             keras::callbacks::ModelCheckpoint(folder() + "/best.weights.h5",
                                                               {.monitor = "loss",
                                                                .verbose = 1,
                                                                .save_best_only = true,
                                                                .save_weights_only = true})}});
  EXPECT_THAT(
      ::testing::internal::GetCapturedStdout(),
      ::testing::ContainsRegex("Epoch 1: loss improved from inf to 9.00000, saving model "
                               "to [^\n]*best.weights.h5\n[^\n]*loss: 9.0000 - lr: 0.2500"));
}

TEST(Callbacks, CsvLoggerNamesAFolderThatIsNotThere) {
  const std::string at = folder();
  keras::Sequential m = model();
  expect_error<tf::errors::NotFound>(
      [&] {
        m.fit(x(), y(),
              {.verbose = 0, .callbacks = {keras::callbacks::CSVLogger(at + "/logs/run.csv")}});
      },
      "there is no folder \"" + at + "/logs\"");
}

TEST(Callbacks, CsvLoggerSaysWhenTheDiskIsFull) {
  if (!tf::io::file_exists("/dev/full")) GTEST_SKIP() << "there is no device that is always full";
  keras::Sequential m = model();
  expect_error<tf::errors::ResourceExhausted>(
      [&] {
        m.fit(x(), y(), {.verbose = 0, .callbacks = {keras::callbacks::CSVLogger("/dev/full")}});
      },
      "[CSVLogger] /dev/full cannot be written");
}

TEST(Callbacks, TerminateOnNaN) {
  keras::Sequential m = model(1e30);
  const auto h = m.fit(
      x(), y(), {.epochs = 50, .verbose = 0, .callbacks = {keras::callbacks::TerminateOnNaN()}});
  EXPECT_LT(h["loss"].size(), 10u);
}

TEST(Callbacks, ModelCheckpointSavesTheBest) {
  const std::string at = folder();
  keras::Sequential m = model(0.1);
  m.fit(x(), y(),
        {.epochs = 3,
         .verbose = 0,
         .callbacks = {keras::callbacks::ModelCheckpoint(at + "/w.{epoch:02d}-{loss:.1f}.h5")}});
  EXPECT_THAT(tf::io::list_folder(at),
              ::testing::ElementsAre("w.01-9.0.h5", "w.02-5.8.h5", "w.03-3.7.h5"));
  EXPECT_EQ(keras::models::load_model(at + "/w.03-3.7.h5").get_weights()[0].item<float>(),
            m.get_weights()[0].item<float>());
  // A model that gets worse: the first epoch stays the best.
  keras::Sequential worse = model(1.2);
  keras::callbacks::ModelCheckpoint best(
      at + "/best", {.monitor = "loss", .save_best_only = true, .save_weights_only = true});
  worse.fit(x(), y(), {.epochs = 3, .verbose = 0, .callbacks = {best}});
  EXPECT_EQ(best.best, 9.0);
  keras::Sequential again = model();
  again.load_weights(at + "/best");
  EXPECT_NEAR(again.get_weights()[0].item<float>(), 7.2f, 1e-5);
  RILL_SHOWS("K85");
}

TEST(Callbacks, ModelCheckpointFillsInPathsAsPythonDoes) {
  const std::string at = folder();
  keras::Sequential m = model(0.1);
  const auto fit = [&](const std::string& path, std::int64_t save_freq = 0) {
    m.fit(x(), y(),
          {.batch_size = 2,
           .epochs = 2,
           .verbose = 0,
           .callbacks = {keras::callbacks::ModelCheckpoint(
               at + path, {.save_weights_only = true, .save_freq = save_freq})}});
  };
  fit("/w.{epoch:02}.h5");
  fit("/b.{epoch}-{batch:03d}.h5", 2);
  EXPECT_THAT(tf::io::list_folder(at),
              ::testing::ElementsAre("b.1-002.h5", "b.2-002.h5", "w.01.h5", "w.02.h5"));
  expect_error<tf::errors::InvalidArgument>([&] { fit("/w.{loss:d}.h5"); },
                                            "[ModelCheckpoint] the format \"d\" of {loss:d}");
  expect_error<tf::errors::InvalidArgument>([&] { fit("/w.{val_loss:.2f}.h5"); },
                                            "there is no \"val_loss\" for {val_loss:.2f}");
}

// Keras's rules for "auto", which differ: of numbers that only fall, EarlyStopping with patience 1
// ends in the second epoch when it takes more for better, and ReduceLROnPlateau lowers the rate.
TEST(Callbacks, ModeAutoGoesByTheName) {
  struct Falls : keras::callbacks::Callback {
    explicit Falls(std::string n) : name(std::move(n)) {}
    void on_epoch_end(int epoch, const keras::Logs&) override { extra.set(name, -epoch); }
    std::string name;
  };
  const auto stops = [&](const char* monitor) {
    keras::callbacks::EarlyStopping stop({.monitor = monitor, .patience = 1});
    model().fit(x(), y(), {.epochs = 3, .verbose = 0, .callbacks = {Falls(monitor), stop}});
    return stop.stopped_epoch == 1;
  };
  const auto lowers = [&](const char* monitor) {
    keras::Sequential m = model(0.1);
    m.fit(x(), y(),
          {.epochs = 2,
           .verbose = 0,
           .callbacks = {Falls(monitor), keras::callbacks::ReduceLROnPlateau(
                                             {.monitor = monitor, .patience = 1})}});
    return m.optimizer().learning_rate() < 0.05;
  };
  const auto saves_once = [&](const char* monitor) {
    const std::string at = folder();
    model().fit(x(), y(),
                {.epochs = 2,
                 .verbose = 0,
                 .callbacks = {Falls(monitor), keras::callbacks::ModelCheckpoint(
                                                   at + "/{epoch}.h5",
                                                   {.monitor = monitor, .save_best_only = true})}});
    return tf::io::list_folder(at).size() == 1;
  };
  const struct {
    const char* monitor;
    bool stopping, reducing, saving;  // whether more is better, by Keras 2.15
  } rows[] = {{"val_acc", true, true, true},      {"val_accuracy", true, true, true},
              {"acc_top5", false, true, true},    {"out_accuracy_1", false, true, true},
              {"val_auc", true, false, false},    {"val_AUC", false, false, false},
              {"fmeasure_1", false, false, true}, {"val_fmeasure", false, false, false},
              {"val_loss", false, false, false}};
  for (const auto& r : rows) {
    EXPECT_EQ(stops(r.monitor), r.stopping) << r.monitor;
    EXPECT_EQ(lowers(r.monitor), r.reducing) << r.monitor;
    EXPECT_EQ(saves_once(r.monitor), r.saving) << r.monitor;
  }
}

// Training that breaks off continues where it was, to the same numbers.
TEST(Callbacks, BackupAndRestore) {
  const std::string at = folder();
  const auto adam = [] {
    keras::Sequential m(
        {keras::layers::Dense(1, {.kernel_initializer = "zeros", .input_shape = {1}})});
    m.compile({.optimizer = keras::optimizers::Adam(0.3), .loss = "mse"});
    return m;
  };
  keras::Sequential whole = adam();
  whole.fit(x(), y(), {.epochs = 6, .verbose = 0});
  struct Crash : keras::callbacks::Callback {
    void on_epoch_begin(int epoch, const keras::Logs&) override {
      if (epoch == 4) throw std::runtime_error("power cut");
    }
  };
  keras::Sequential broken = adam();
  EXPECT_THROW(broken.fit(x(), y(),
                          {.epochs = 6,
                           .verbose = 0,
                           .callbacks = {keras::callbacks::BackupAndRestore(at), Crash()}}),
               std::runtime_error);
  keras::Sequential restarted = adam();
  keras::callbacks::BackupAndRestore backup(at);
  const auto h = restarted.fit(x(), y(), {.epochs = 6, .verbose = 0, .callbacks = {backup}});
  EXPECT_EQ(backup.restored_epoch, 3);
  EXPECT_EQ(h.epoch, (std::vector<int>{4, 5}));
  EXPECT_EQ(restarted.get_weights()[0].item<float>(), whole.get_weights()[0].item<float>());
  EXPECT_TRUE(tf::io::list_folder(at).empty());
}

// In the middle of an epoch, with all that draws, planned and eagerly.
TEST(Callbacks, BackupInTheMiddleOfAnEpoch) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly);
    const std::string at = folder();
    const auto make = [&] {
      keras::Sequential m({keras::layers::Dense(4, {.input_shape = {1}}),
                           keras::layers::Dropout(0.5), keras::layers::Dense(1)});
      m.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}, .run_eagerly = eagerly});
      return m;
    };
    struct CrashAt : keras::callbacks::Callback {
      explicit CrashAt(int n) : left(n) {}
      void on_train_batch_end(std::int64_t, const keras::Logs&) override {
        if (--left == 0) throw std::runtime_error("power cut");
      }
      int left;
    };
    const tf::Tensor in = tf::reshape(tf::range(20.f), {20, 1}) / 10.f;
    const auto fit = [&](keras::Sequential& m, std::vector<keras::CallbackRef> callbacks) {
      return m.fit(in, 2 * in,
                   {.batch_size = 4, .epochs = 4, .verbose = 0, .callbacks = std::move(callbacks)});
    };
    tf::random::set_seed(7);
    keras::Sequential whole = make();
    const auto expected = fit(whole, {});
    tf::random::set_seed(7);
    keras::Sequential broken = make();
    // 2 batches of the third epoch are saved, and one more is done.
    EXPECT_THROW(
        fit(broken, {keras::callbacks::BackupAndRestore(at, {.save_freq = 2}), CrashAt(13)}),
        std::runtime_error);
    tf::random::set_seed(1000);  // the seed too comes from the backup
    keras::Sequential restarted = make();
    keras::callbacks::BackupAndRestore backup(at, {.save_freq = 2});
    const auto h = fit(restarted, {backup});
    EXPECT_EQ(backup.restored_epoch, 1);
    EXPECT_EQ(backup.restored_step, 2);
    EXPECT_EQ(h.epoch, (std::vector<int>{2, 3}));
    for (const char* name : {"loss", "mae"})
      for (int i : {0, 1})
        EXPECT_EQ(h[name][static_cast<std::size_t>(i)],
                  expected[name][static_cast<std::size_t>(i) + 2])
            << name;
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(restarted.get_weights()[i].to_vector<float>(),
                whole.get_weights()[i].to_vector<float>());
  }
  EXPECT_THROW(keras::callbacks::BackupAndRestore("x", {.save_freq = -1}),
               tf::errors::InvalidArgument);
}

// One line an epoch, with the numbers of the whole.
TEST(Callbacks, ProgbarLoggerShowsAnEpochOnce) {
  ::testing::internal::CaptureStdout();
  model().fit(x(), y(),
              {.batch_size = 2,
               .epochs = 2,
               .verbose = 0,
               .callbacks = {keras::callbacks::ProgbarLogger()}});
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              ::testing::MatchesRegex("Epoch 1/2\n2/2 [^\n]* - loss: [0-9.]+\n"
                                      "Epoch 2/2\n2/2 [^\n]* - loss: [0-9.]+\n"));
}

// Batches are told to all callbacks as soon as one wants them.
TEST(Callbacks, TensorBoardOfEpochsStandsBesideOneOfBatches) {
  const std::string logs = folder();
  int batches = 0;
  model().fit(
      x(), y(),
      {.batch_size = 2,
       .epochs = 2,
       .verbose = 0,
       .callbacks = {keras::callbacks::TensorBoard({.log_dir = logs}),
                     keras::callbacks::LambdaCallback(
                         {.on_batch_end = [&](std::int64_t, const keras::Logs&) { ++batches; }})}});
  EXPECT_EQ(batches, 4);
  for (const std::string& f : tf::io::list_folder(logs + "/train"))
    for (const auto& e : tf::summary::summary_iterator(logs + "/train/" + f))
      for (const auto& v : e.values) EXPECT_FALSE(v.tag.starts_with("batch_")) << v.tag;
}

TEST(Callbacks, ModelCheckpointWritesForTheKerasAskedFor) {
  const std::string at = folder();
  for (const int version : {2, 3}) {
    const std::string path = at + "/" + std::to_string(version) + ".keras";
    model().fit(
        x(), y(),
        {.verbose = 0,
         .callbacks = {keras::callbacks::ModelCheckpoint(path, {.keras_version = version})}});
    const std::string metadata = tf::io::ZipReader::open(path).read("metadata.json");
    EXPECT_EQ(metadata.find("\"keras_version\": \"2.") != metadata.npos, version == 2) << metadata;
  }
}

// As Keras: it says so, and goes by the name of the number.
TEST(Callbacks, AnUnknownModeIsAuto) {
  const keras::callbacks::EarlyStopping stop({.monitor = "accuracy", .mode = "minn"});
  EXPECT_EQ(keras::callbacks::Improvement("EarlyStopping", "minn", true, 0).better(2, 1), true);
  EXPECT_EQ(keras::callbacks::Improvement("EarlyStopping", "minn", false, 0).better(1, 2), true);
}

TEST(Callbacks, TensorBoardWritesWhatItReadsBack) {
  const std::string logs = folder();
  keras::Sequential m = model();
  const auto h =
      m.fit(x(), y(),
            {.batch_size = 2,
             .epochs = 3,
             .verbose = 0,
             .callbacks = {keras::callbacks::TensorBoard({.log_dir = logs, .update_freq = 1})},
             .validation_data = {x(), y()}});
  using Points = std::vector<std::pair<std::int64_t, float>>;
  const auto tags = [&](const std::string& part) {
    std::map<std::string, Points> found;
    for (const std::string& f : tf::io::list_folder(logs + "/" + part))
      for (const auto& e : tf::summary::summary_iterator(logs + "/" + part + "/" + f))
        for (const auto& v : e.values) found[v.tag].emplace_back(e.step, v.tensor.item<float>());
    return found;
  };
  const auto points = [](const std::vector<double>& numbers) {
    Points out;
    for (double n : numbers) out.emplace_back(out.size(), static_cast<float>(n));
    return out;
  };
  auto train = tags("train"), validation = tags("validation");
  EXPECT_EQ(train["epoch_loss"], points(h["loss"]));
  EXPECT_EQ(train["epoch_learning_rate"], points({0.1, 0.1, 0.1}));
  EXPECT_EQ(validation["epoch_loss"], points(h["val_loss"]));
  ASSERT_EQ(train["batch_loss"].size(), 6u);
  EXPECT_EQ(train["batch_loss"][0], std::pair(std::int64_t{0}, 9.f));
  // Of the last batch it is the mean of the epoch so far, as Keras gives it to callbacks.
  EXPECT_EQ(train["batch_loss"][5], std::pair(std::int64_t{5}, static_cast<float>(h["loss"][2])));
  RILL_SHOWS("K88", "V20");
}

}  // namespace
