#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rill/core/tensor.h"
#include "rill/keras/models/callback.h"
#include "rill/keras/utils/progbar.h"
#include "rill/summary/summary.h"

// The callbacks of Keras.
namespace rill RILL_API {
namespace train {
class CheckpointManager;
}
namespace keras {
namespace callbacks {

// Whether a number got better: larger or smaller, as the mode "max" or "min" says; with "auto",
// and with any other after a warning, the callback goes by the number's name.
class Improvement {
 public:
  Improvement(const char* who, std::string_view mode, bool auto_is_max, double min_delta);
  bool better(double now, double before) const;
  double worst() const;

 private:
  bool larger_;
  double min_delta_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  // less is not an improvement
  int patience = 0;      // epochs without improvement until training stops
  int verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};  // what must be beaten at all
  bool restore_best_weights = false;
  int start_from_epoch = 0;
};
// Ends training when a number has stopped getting better.
class EarlyStopping : public Callback {
 public:
  EarlyStopping();
  explicit EarlyStopping(EarlyStoppingOptions options);
  template <StringLike S>
  explicit EarlyStopping(const S& monitor, EarlyStoppingOptions options = {})
      : EarlyStopping((options.monitor = std::string_view(monitor), std::move(options))) {}
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  bool wants_batches() const override { return false; }
  int stopped_epoch = 0;  // 0: it ran to its end
  int best_epoch = 0;
  double best = 0;

 private:
  EarlyStoppingOptions o_;
  Improvement improvement_;
  int wait_ = 0;
  std::vector<Tensor> best_weights_;
};

struct LearningRateSchedulerOptions {
  int verbose = 0;
};
// The learning rate of each epoch: schedule(epoch), or schedule(epoch, current rate).
class LearningRateScheduler : public Callback {
 public:
  template <class F>
  explicit LearningRateScheduler(F schedule, LearningRateSchedulerOptions options = {})
      : verbose_(options.verbose) {
    if constexpr (std::is_invocable_r_v<double, F&, int, double>)
      schedule_ = std::move(schedule);
    else
      schedule_ = [schedule = std::move(schedule)](int epoch, double) mutable -> double {
        return schedule(epoch);
      };
  }
  void on_epoch_begin(int epoch, const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  bool wants_batches() const override { return false; }

 private:
  std::function<double(int, double)> schedule_;
  int verbose_;
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int cooldown = 0;
  double min_lr = 0;
};
// Multiplies the learning rate by a factor when a number has stopped getting better.
class ReduceLROnPlateau : public Callback {
 public:
  ReduceLROnPlateau();
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options);
  template <StringLike S>
  explicit ReduceLROnPlateau(const S& monitor, ReduceLROnPlateauOptions options = {})
      : ReduceLROnPlateau((options.monitor = std::string_view(monitor), std::move(options))) {}
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  bool wants_batches() const override { return false; }

 private:
  ReduceLROnPlateauOptions o_;
  Improvement improvement_;
  double best_ = 0;
  int wait_ = 0, cooldown_ = 0;
};

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;  // go on with a file that is there
};
// A line of numbers an epoch.
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::string filename, CSVLoggerOptions options = {});
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  bool wants_batches() const override { return false; }

 private:
  std::string filename_;
  CSVLoggerOptions o_;
  std::vector<std::string> keys_;
  bool has_header_ = false;
};

// Ends training when the loss of a batch is not finite.
class TerminateOnNaN : public Callback {
 public:
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
};

struct LambdaCallbackOptions {
  std::function<void(int, const Logs&)> on_epoch_begin = {}, on_epoch_end = {};
  std::function<void(std::int64_t, const Logs&)> on_batch_begin = {}, on_batch_end = {};
  std::function<void(const Logs&)> on_train_begin = {}, on_train_end = {};
  std::function<void(const Logs&)> on_test_begin = {}, on_test_end = {}, on_predict_begin = {},
                                   on_predict_end = {};
  std::function<void(std::int64_t, const Logs&)> on_test_batch_begin = {}, on_test_batch_end = {},
                                                 on_predict_batch_begin = {},
                                                 on_predict_batch_end = {};
};
// Hooks as functions.
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions options) : o_(std::move(options)) {}
  void on_train_begin(const Logs& logs) override;
  void on_train_end(const Logs& logs) override;
  void on_epoch_begin(int epoch, const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  void on_train_batch_begin(std::int64_t batch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_test_begin(const Logs& logs) override;
  void on_test_end(const Logs& logs) override;
  void on_test_batch_begin(std::int64_t batch, const Logs& logs) override;
  void on_test_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_predict_begin(const Logs& logs) override;
  void on_predict_end(const Logs& logs) override;
  void on_predict_batch_begin(std::int64_t batch, const Logs& logs) override;
  void on_predict_batch_end(std::int64_t batch, const Logs& logs) override;
  bool wants_batches() const override;

 private:
  LambdaCallbackOptions o_;
};

// The progress bar as a callback, for a fit with verbose 0.
class ProgbarLogger : public Callback {
 public:
  void on_epoch_begin(int epoch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;

 private:
  std::optional<utils::Progbar> bar_;
  std::int64_t seen_ = 0;
};

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";
  // 0: at the end of an epoch; n: after every n batches.
  std::int64_t save_freq = 0;
  std::optional<double> initial_value_threshold = {};  // what "best" must beat at first
  int keras_version = 0;  // the Keras that is to read the model, as in Model::save
};
// Saves the model, or its weights, while it is trained. The path may name the epoch and numbers
// of it, as Python's str.format fills them in: "weights.{epoch:02d}-{val_loss:.2f}.h5". Where it
// saves after batches, {batch} is the count of them in the epoch.
class ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(std::string filepath, ModelCheckpointOptions options = {});
  void on_train_begin(const Logs& logs) override;
  void on_epoch_begin(int epoch, const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  bool wants_batches() const override { return o_.save_freq > 0; }
  double best = 0;

 private:
  void save(int epoch, std::optional<std::int64_t> batch, const Logs& logs);
  std::string filepath_;
  ModelCheckpointOptions o_;
  Improvement improvement_;
  int epoch_ = 0;
  std::int64_t batches_ = 0;
};

struct BackupAndRestoreOptions {
  // 0: at the end of each epoch; n: also after every n batches.
  std::int64_t save_freq = 0;
  bool delete_checkpoint = true;  // when training ends
};
// Makes training survive a crash: keeps model, optimizer, epoch and batch, the place in the data
// and the random streams in a folder. A fit that finds them there continues from them, and ends
// with the same weights as one that was never stopped, if the program is the same. The state of
// other callbacks is not kept.
class BackupAndRestore : public Callback {
 public:
  explicit BackupAndRestore(std::string backup_dir, BackupAndRestoreOptions options = {});
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_train_end(const Logs& logs) override;
  bool wants_batches() const override { return o_.save_freq > 0; }
  // Where fit went on: the last epoch that was complete, -1 when none was or no backup was
  // found, and the batches that were done of the next.
  int restored_epoch = -1;
  std::int64_t restored_step = 0;

 private:
  std::string folder_;
  BackupAndRestoreOptions o_;
  std::shared_ptr<train::CheckpointManager> manager_;  // of the fit that runs
  std::int64_t batches_ = 0;
};

// "epoch" (0): once an epoch; "batch" (1), or n: the batches too, every n of them.
class UpdateFreq {
 public:
  UpdateFreq(int n) : n_(n) {}
  template <StringLike S>
  UpdateFreq(const S& text) : n_(parse(std::string_view(text))) {}
  operator int() const { return n_; }

 private:
  static int parse(std::string_view text);
  int n_;
};
struct TensorBoardOptions {
  std::string log_dir = "logs";
  bool write_graph = false;  // accepted; no graph is written
  UpdateFreq update_freq = "epoch";
  bool write_steps_per_second = false;
};
// Writes the numbers of epochs, and of batches if asked, for TensorBoard: those of training into
// log_dir/train, those of validation into log_dir/validation.
class TensorBoard : public Callback {
 public:
  TensorBoard();
  explicit TensorBoard(TensorBoardOptions options);
  template <StringLike S>
  explicit TensorBoard(const S& log_dir, TensorBoardOptions options = {})
      : TensorBoard(
            (options.log_dir = std::string(std::string_view(log_dir)), std::move(options))) {}
  void on_train_begin(const Logs& logs) override;
  void on_train_end(const Logs& logs) override;
  void on_epoch_begin(int epoch, const Logs& logs) override;
  void on_epoch_end(int epoch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  bool wants_batches() const override { return o_.update_freq > 0; }

 private:
  TensorBoardOptions o_;
  summary::SummaryWriter train_, validation_;
  std::int64_t steps_ = 0, steps_before_ = 0;
  double epoch_start_ = 0;
};

}  // namespace callbacks
}  // namespace keras
}  // namespace RILL_API
