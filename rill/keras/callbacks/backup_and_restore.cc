#include "rill/base/check.h"
#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/training/progress_impl.h"
#include "rill/saving/checkpoint_manager.h"

namespace rill::keras::callbacks {

namespace {

constexpr const char* kPrefix = "backup";

// Removes what the callback writes, or only what a process left that died while it wrote.
void clear(const std::string& folder, bool unfinished_only) {
  if (!io::file_exists(folder)) return;
  for (const std::string& name : io::list_folder(folder)) {
    const bool unfinished = name.find(".tempstate") != name.npos;
    const bool ours = name == "checkpoint" || name.starts_with("checkpoint.tempstate") ||
                      name.starts_with(std::string(kPrefix) + "-");
    if (ours && (unfinished || !unfinished_only)) io::remove_file(io::join_path(folder, name));
  }
}

}  // namespace

BackupAndRestore::BackupAndRestore(std::string backup_dir, BackupAndRestoreOptions options)
    : folder_(std::move(backup_dir)), o_(options) {
  RILL_CHECK(!folder_.empty(), invalid_argument, "[BackupAndRestore] backup_dir is empty");
  RILL_CHECK(o_.save_freq >= 0, invalid_argument,
             "[BackupAndRestore] save_freq is {}; expected a number of batches, or 0 for the end "
             "of each epoch",
             o_.save_freq);
}

void BackupAndRestore::on_train_begin(const Logs&) {
  FitProgress* progress = model->model_impl().progress;
  RILL_CHECK(progress, failed_precondition,
             "[BackupAndRestore] no fit of the model is running: it works as a callback of fit");
  restored_epoch = -1;
  restored_step = batches_ = 0;
  clear(folder_, true);
  const train::Checkpoint checkpoint(
      {{"model", *model}, {"optimizer", model->optimizer()}, {"fit", *progress}});
  manager_ = std::make_shared<train::CheckpointManager>(
      checkpoint, train::CheckpointManagerOptions{
                      .directory = folder_, .max_to_keep = 1, .checkpoint_name = kPrefix});
  if (manager_->latest_checkpoint().empty()) return;
  checkpoint.restore(manager_->latest_checkpoint());
  restored_epoch = progress->epoch - 1;
  restored_step = progress->step;
}

void BackupAndRestore::on_train_batch_end(std::int64_t, const Logs&) {
  if (o_.save_freq > 0 && ++batches_ % o_.save_freq == 0) manager_->save();
}
void BackupAndRestore::on_epoch_end(int, const Logs&) {
  // What was restored for variables that the first step makes would be lost before it. The
  // backup that is there says all.
  if (model->model_impl().progress->stepped) manager_->save();
}

void BackupAndRestore::on_train_end(const Logs&) {
  manager_.reset();
  if (o_.delete_checkpoint) clear(folder_, false);
}

}  // namespace rill::keras::callbacks
