#include <iostream>

#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/callbacks/path_fields_impl.h"
#include "rill/keras/models/model.h"

// Callbacks that save the model.
namespace rill::keras::callbacks {

namespace {

// More is better, as Keras has it here; EarlyStopping goes by other names.
bool auto_is_max(std::string_view monitor) {
  return monitor.find("acc") != monitor.npos || monitor.starts_with("fmeasure");
}

}  // namespace

ModelCheckpoint::ModelCheckpoint(std::string filepath, ModelCheckpointOptions o)
    : filepath_(std::move(filepath)),
      o_(std::move(o)),
      improvement_("ModelCheckpoint", o_.mode, auto_is_max(o_.monitor), 0) {
  best = o_.initial_value_threshold.value_or(improvement_.worst());
}
void ModelCheckpoint::on_train_begin(const Logs&) { batches_ = 0; }
void ModelCheckpoint::on_epoch_begin(int epoch, const Logs&) { epoch_ = epoch; }
void ModelCheckpoint::on_epoch_end(int epoch, const Logs& logs) {
  if (o_.save_freq == 0) save(epoch, {}, logs);
}
void ModelCheckpoint::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  if (o_.save_freq > 0 && ++batches_ % o_.save_freq == 0) save(epoch_, batch, logs);
}

void ModelCheckpoint::save(int epoch, std::optional<std::int64_t> batch, const Logs& logs) {
  std::string why;
  if (o_.save_best_only) {
    if (!logs.contains(o_.monitor)) {
      RILL_LOG(warning,
               "[ModelCheckpoint] there is no \"{}\" to tell the best by; nothing is saved",
               o_.monitor);
      return;
    }
    const double now = logs[o_.monitor];
    if (!improvement_.better(now, best)) {
      if (o_.verbose > 0)
        std::cout << format("\nEpoch {}: {} did not improve from {:.5f}\n", epoch + 1, o_.monitor,
                            best);
      return;
    }
    why = format("{} improved from {:.5f} to {:.5f}, ", o_.monitor, best, now);
    best = now;
  }
  PathFields fields{{"epoch", std::int64_t{epoch} + 1}};
  if (batch) fields.emplace_back("batch", *batch + 1);
  for (const auto& [name, value] : logs.items()) fields.emplace_back(name, value);
  const std::string path = filled_in("ModelCheckpoint", filepath_, fields);
  io::create_folders(io::folder_of(path));
  if (o_.verbose > 0)
    std::cout << format("\nEpoch {}: {}saving model to {}\n", epoch + 1, why, path);
  if (o_.save_weights_only)
    model->save_weights(path);
  else
    model->save(path, {.keras_version = o_.keras_version});
}

}  // namespace rill::keras::callbacks
