#include <cmath>
#include <iostream>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/base/nearest.h"
#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/models/model.h"

// Callbacks that save the model.
namespace rill::keras::callbacks {

namespace {

// "weights.{epoch:02d}-{val_loss:.2f}" with the numbers in it. NotFound for an unknown name.
std::string filled_in(const std::string& path, int epoch, const Logs& logs) {
  std::string out;
  for (std::size_t i = 0; i < path.size();) {
    const std::size_t end = path[i] == '{' ? path.find('}', i) : path.npos;
    if (end == path.npos) {
      out += path[i++];
      continue;
    }
    const std::string field = path.substr(i + 1, end - i - 1);
    const std::size_t colon = field.find(':');
    const std::string name = field.substr(0, colon),
                      spec = colon == field.npos ? "" : field.substr(colon + 1);
    // The width and precision of a number, nothing else.
    RILL_CHECK(
        spec.find_first_not_of("0123456789.dfeg") == spec.npos && spec.size() < 8, invalid_argument,
        "[ModelCheckpoint] \"{}\" in the path {}; expected a form such as 02d or .2f", spec, path);
    char text[64];
    if (name == "epoch") {
      const std::string form = "%" + (spec.empty() ? std::string("d") : spec);
      std::snprintf(text, sizeof text, form.c_str(), epoch + 1);
    } else {
      const std::string form = "%" + (spec.empty() ? std::string("g") : spec);
      std::snprintf(text, sizeof text, form.c_str(), logs[name]);
    }
    out += text;
    i = end + 1;
  }
  return out;
}

}  // namespace

ModelCheckpoint::ModelCheckpoint(std::string filepath, ModelCheckpointOptions o)
    : filepath_(std::move(filepath)),
      o_(std::move(o)),
      improvement_("ModelCheckpoint", o_.monitor, o_.mode, 0) {
  best = o_.initial_value_threshold.value_or(improvement_.worst());
}
void ModelCheckpoint::on_train_begin(const Logs&) { batches_ = 0; }
void ModelCheckpoint::on_epoch_begin(int epoch, const Logs&) { epoch_ = epoch; }
void ModelCheckpoint::on_epoch_end(int epoch, const Logs& logs) {
  if (o_.save_freq == 0) save(epoch, logs);
}
void ModelCheckpoint::on_train_batch_end(std::int64_t, const Logs& logs) {
  if (o_.save_freq > 0 && ++batches_ % o_.save_freq == 0) save(epoch_, logs);
}

void ModelCheckpoint::save(int epoch, const Logs& logs) {
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
    best = now;
  }
  const std::string path = filled_in(filepath_, epoch, logs);
  io::create_folders(io::folder_of(path));
  if (o_.verbose > 0) std::cout << format("\nEpoch {}: saving model to {}\n", epoch + 1, path);
  if (o_.save_weights_only)
    model->save_weights(path);
  else
    model->save(path);
}

}  // namespace rill::keras::callbacks
