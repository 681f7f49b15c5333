#include <cmath>
#include <iostream>
#include <limits>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/models/model.h"

// Callbacks that watch a number.
namespace rill::keras::callbacks {

Improvement::Improvement(const char* who, std::string_view mode, bool auto_is_max, double min_delta)
    : larger_(mode == "max" || (mode != "min" && auto_is_max)), min_delta_(std::abs(min_delta)) {
  if (mode != "auto" && mode != "min" && mode != "max")
    RILL_LOG(warning,
             "[{}] mode is \"{}\"; expected \"auto\", \"min\" or \"max\". It is taken as \"auto\"",
             who, mode);
}
bool Improvement::better(double now, double before) const {
  return larger_ ? now - min_delta_ > before : now + min_delta_ < before;
}
double Improvement::worst() const {
  const double inf = std::numeric_limits<double>::infinity();
  return larger_ ? -inf : inf;
}

namespace {

// The watched number; empty, and said so, when the logs do not have it.
std::optional<double> watched(const char* who, const std::string& monitor, const Logs& logs) {
  if (logs.contains(monitor)) return logs[monitor];
  std::string names;
  for (const auto& [name, value] : logs.items()) names += (names.empty() ? "" : ", ") + name;
  RILL_LOG(warning, "[{}] there is no \"{}\" to watch; available: {}", who, monitor, names);
  return std::nullopt;
}

}  // namespace

// Keras's callbacks do not agree on which names mean that more is better.
namespace {
bool ends_like_an_accuracy(std::string_view monitor) {
  return monitor.ends_with("acc") || monitor.ends_with("accuracy") || monitor.ends_with("auc");
}
}  // namespace

EarlyStopping::EarlyStopping() : EarlyStopping(EarlyStoppingOptions{}) {}
EarlyStopping::EarlyStopping(EarlyStoppingOptions o)
    : o_(std::move(o)),
      improvement_("EarlyStopping", o_.mode, ends_like_an_accuracy(o_.monitor), o_.min_delta) {}
void EarlyStopping::on_train_begin(const Logs&) {
  wait_ = 0;
  stopped_epoch = best_epoch = 0;
  best = improvement_.worst();
  best_weights_.clear();
}
void EarlyStopping::on_epoch_end(int epoch, const Logs& logs) {
  const std::optional<double> now = watched("EarlyStopping", o_.monitor, logs);
  if (!now || epoch < o_.start_from_epoch) return;
  if (o_.restore_best_weights && best_weights_.empty()) best_weights_ = model->get_weights();
  ++wait_;
  if (improvement_.better(*now, best)) {
    best = *now;
    best_epoch = epoch;
    if (o_.restore_best_weights) best_weights_ = model->get_weights();
    if (!o_.baseline || improvement_.better(*now, *o_.baseline)) wait_ = 0;
    return;
  }
  if (wait_ < o_.patience || epoch == 0) return;
  stopped_epoch = epoch;
  model->stop_training = true;
  if (o_.restore_best_weights) model->set_weights(best_weights_);
  if (o_.verbose > 0) {
    if (o_.restore_best_weights)
      std::cout << "Restoring model weights from the end of the best epoch: " << best_epoch + 1
                << ".\n";
    std::cout << "Epoch " << epoch + 1 << ": early stopping\n";
  }
}

void LearningRateScheduler::on_epoch_begin(int epoch, const Logs&) {
  const double rate = schedule_(epoch, model->optimizer().learning_rate());
  RILL_CHECK(std::isfinite(rate), invalid_argument,
             "[LearningRateScheduler] the schedule gave {} for epoch {}; expected a finite number",
             rate, epoch);
  model->optimizer().set_learning_rate(rate);
  if (verbose_ > 0)
    std::cout << format("\nEpoch {}: LearningRateScheduler setting learning rate to {}.\n",
                        epoch + 1, rate);
}
void LearningRateScheduler::on_epoch_end(int, const Logs&) {
  extra.set("lr", model->optimizer().learning_rate());
}

ReduceLROnPlateau::ReduceLROnPlateau() : ReduceLROnPlateau(ReduceLROnPlateauOptions{}) {}
ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions o)
    : o_(std::move(o)),
      improvement_("ReduceLROnPlateau", o_.mode, o_.monitor.find("acc") != o_.monitor.npos,
                   o_.min_delta) {
  RILL_CHECK(o_.factor < 1, invalid_argument,
             "[ReduceLROnPlateau] factor is {}; expected less than 1", o_.factor);
}
void ReduceLROnPlateau::on_train_begin(const Logs&) {
  best_ = improvement_.worst();
  wait_ = cooldown_ = 0;
}
void ReduceLROnPlateau::on_epoch_end(int epoch, const Logs& logs) {
  const double rate = model->optimizer().learning_rate();
  extra.set("lr", rate);
  const std::optional<double> now = watched("ReduceLROnPlateau", o_.monitor, logs);
  if (!now) return;
  if (cooldown_ > 0) {
    --cooldown_;
    wait_ = 0;
  }
  if (improvement_.better(*now, best_)) {
    best_ = *now;
    wait_ = 0;
    return;
  }
  if (cooldown_ > 0 || ++wait_ < o_.patience || rate <= o_.min_lr) return;
  const double next = std::max(rate * o_.factor, o_.min_lr);
  model->optimizer().set_learning_rate(next);
  if (o_.verbose > 0)
    std::cout << format("\nEpoch {}: ReduceLROnPlateau reducing learning rate to {}.\n", epoch + 1,
                        next);
  cooldown_ = o_.cooldown;
  wait_ = 0;
}

void TerminateOnNaN::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  if (!logs.contains("loss") || std::isfinite(logs["loss"])) return;
  std::cout << "Batch " << batch << ": Invalid loss, terminating training\n";
  model->stop_training = true;
}

}  // namespace rill::keras::callbacks
