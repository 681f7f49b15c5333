#include <algorithm>
#include <chrono>

#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/models/model.h"

namespace rill::keras::callbacks {

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

TensorBoard::TensorBoard() : TensorBoard(TensorBoardOptions{}) {}
TensorBoard::TensorBoard(TensorBoardOptions o) : o_(std::move(o)) {}

void TensorBoard::on_train_begin(const Logs&) {
  train_ = summary::create_file_writer(io::join_path(o_.log_dir, "train"));
  validation_ = {};  // made with the first number of it
  steps_ = 0;
}

void TensorBoard::on_epoch_begin(int, const Logs&) {
  steps_before_ = steps_;
  epoch_start_ = now();
}

void TensorBoard::on_train_batch_end(std::int64_t, const Logs& logs) {
  // Another callback that wants batches makes this one be told of them, too.
  if (steps_++ % std::max(o_.update_freq, 1) != 0 || o_.update_freq <= 0) return;
  const auto scope = train_.as_default();
  for (const auto& [name, value] : logs.items())
    summary::scalar("batch_" + name, value, {.step = steps_ - 1});
}

void TensorBoard::on_epoch_end(int epoch, const Logs& logs) {
  bool validated = false;
  {
    const auto scope = train_.as_default();
    for (const auto& [name, value] : logs.items()) {
      validated = validated || name.starts_with("val_");
      if (!name.starts_with("val_")) summary::scalar("epoch_" + name, value, {.step = epoch});
    }
    summary::scalar("epoch_learning_rate", model->optimizer().learning_rate(), {.step = epoch});
    if (o_.write_steps_per_second && o_.update_freq > 0)
      summary::scalar("epoch_steps_per_second",
                      static_cast<double>(steps_ - steps_before_) / (now() - epoch_start_),
                      {.step = epoch});
  }
  train_.flush();
  if (!validated) return;
  if (validation_.path().empty())
    validation_ = summary::create_file_writer(io::join_path(o_.log_dir, "validation"));
  const auto scope = validation_.as_default();
  for (const auto& [name, value] : logs.items())
    if (name.starts_with("val_"))
      summary::scalar("epoch_" + name.substr(4), value, {.step = epoch});
  validation_.flush();
}

void TensorBoard::on_train_end(const Logs&) {
  train_.close();
  if (!validation_.path().empty()) validation_.close();
}

}  // namespace rill::keras::callbacks
