#include "rill/keras/models/callback.h"

#include "rill/base/check.h"
#include "rill/base/nearest.h"

namespace rill::keras {

const std::vector<double>& History::operator[](std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [key, values] : v_) {
    if (key == name) return values;
    names.push_back(key);
  }
  RILL_FAIL(not_found, "[history] there is no \"{}\".{}", name, did_you_mean(name, names));
}
bool History::contains(std::string_view name) const {
  for (const auto& [key, values] : v_)
    if (key == name) return true;
  return false;
}
void History::add(int epoch_number, const Logs& logs) {
  epoch.push_back(epoch_number);
  for (const auto& [name, value] : logs.items()) {
    std::vector<double>* list = nullptr;
    for (auto& [key, values] : v_)
      if (key == name) list = &values;
    if (!list) list = &v_.emplace_back(name, std::vector<double>()).second;
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
