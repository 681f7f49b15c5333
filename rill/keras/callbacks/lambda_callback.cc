#include <iostream>

#include "rill/keras/callbacks/callbacks.h"

namespace rill::keras::callbacks {

void LambdaCallback::on_train_begin(const Logs& logs) {
  if (o_.on_train_begin) o_.on_train_begin(logs);
}
void LambdaCallback::on_train_end(const Logs& logs) {
  if (o_.on_train_end) o_.on_train_end(logs);
}
void LambdaCallback::on_epoch_begin(int epoch, const Logs& logs) {
  if (o_.on_epoch_begin) o_.on_epoch_begin(epoch, logs);
}
void LambdaCallback::on_epoch_end(int epoch, const Logs& logs) {
  if (o_.on_epoch_end) o_.on_epoch_end(epoch, logs);
}
void LambdaCallback::on_train_batch_begin(std::int64_t batch, const Logs& logs) {
  if (o_.on_batch_begin) o_.on_batch_begin(batch, logs);
}
void LambdaCallback::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  if (o_.on_batch_end) o_.on_batch_end(batch, logs);
}

void LambdaCallback::on_test_begin(const Logs& logs) {
  if (o_.on_test_begin) o_.on_test_begin(logs);
}
void LambdaCallback::on_test_end(const Logs& logs) {
  if (o_.on_test_end) o_.on_test_end(logs);
}
void LambdaCallback::on_test_batch_begin(std::int64_t batch, const Logs& logs) {
  if (o_.on_test_batch_begin) o_.on_test_batch_begin(batch, logs);
}
void LambdaCallback::on_test_batch_end(std::int64_t batch, const Logs& logs) {
  if (o_.on_test_batch_end) o_.on_test_batch_end(batch, logs);
}
void LambdaCallback::on_predict_begin(const Logs& logs) {
  if (o_.on_predict_begin) o_.on_predict_begin(logs);
}
void LambdaCallback::on_predict_end(const Logs& logs) {
  if (o_.on_predict_end) o_.on_predict_end(logs);
}
void LambdaCallback::on_predict_batch_begin(std::int64_t batch, const Logs& logs) {
  if (o_.on_predict_batch_begin) o_.on_predict_batch_begin(batch, logs);
}
void LambdaCallback::on_predict_batch_end(std::int64_t batch, const Logs& logs) {
  if (o_.on_predict_batch_end) o_.on_predict_batch_end(batch, logs);
}
bool LambdaCallback::wants_batches() const {
  return o_.on_batch_begin || o_.on_batch_end || o_.on_test_batch_begin || o_.on_test_batch_end ||
         o_.on_predict_batch_begin || o_.on_predict_batch_end;
}

void ProgbarLogger::on_epoch_begin(int epoch, const Logs&) {
  std::cout << "Epoch " << epoch + 1 << '/' << params.epochs << '\n';
  bar_.emplace(params.steps);
  seen_ = 0;
}
void ProgbarLogger::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  seen_ = batch + 1;
  if (bar_ && seen_ != params.steps) bar_->update(seen_, logs);
}
void ProgbarLogger::on_epoch_end(int, const Logs& logs) {
  if (bar_) bar_->update(seen_, logs, true);
}

}  // namespace rill::keras::callbacks
