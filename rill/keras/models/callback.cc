#include "rill/keras/models/callback.h"

#include "rill/base/check.h"
#include "rill/base/nearest.h"

namespace rill::keras {

const std::vector<double>& History::Values::operator[](std::string_view name) const& {
  for (const auto& [key, values] : items_)
    if (key == name) return values;
  RILL_FAIL(not_found, "[history] there is no \"{}\".{}", name, did_you_mean(name, keys()));
}
bool History::Values::contains(std::string_view name) const {
  for (const auto& [key, values] : items_)
    if (key == name) return true;
  return false;
}
std::vector<std::string> History::Values::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, values] : items_) names.push_back(key);
  return names;
}
void History::add(int epoch_number, const Logs& logs) {
  epoch.push_back(epoch_number);
  for (const auto& [name, value] : logs.items()) {
    std::vector<double>* list = nullptr;
    for (auto& [key, values] : history.items_)
      if (key == name) list = &values;
    if (!list) list = &history.items_.emplace_back(name, std::vector<double>()).second;
    list->push_back(value);
  }
}

namespace callbacks {

Callback::~Callback() = default;
void Callback::on_train_begin(const Logs&) {}
void Callback::on_train_end(const Logs&) {}
void Callback::on_epoch_begin(int, const Logs&) {}
void Callback::on_epoch_end(int, const Logs&) {}
void Callback::on_train_batch_begin(std::int64_t, const Logs&) {}
void Callback::on_train_batch_end(std::int64_t, const Logs&) {}
void Callback::on_test_begin(const Logs&) {}
void Callback::on_test_end(const Logs&) {}
void Callback::on_test_batch_begin(std::int64_t, const Logs&) {}
void Callback::on_test_batch_end(std::int64_t, const Logs&) {}
void Callback::on_predict_begin(const Logs&) {}
void Callback::on_predict_end(const Logs&) {}
void Callback::on_predict_batch_begin(std::int64_t, const Logs&) {}
void Callback::on_predict_batch_end(std::int64_t, const Logs&) {}

}  // namespace callbacks
}  // namespace rill::keras
