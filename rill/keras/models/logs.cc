#include "rill/keras/models/logs.h"

#include <ostream>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/array_format.h"

namespace rill::keras {

double Logs::operator[](std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [key, value] : v_) {
    if (key == name) return value;
    names.push_back(key);
  }
  RILL_FAIL(not_found, "[logs] there is no \"{}\".{}", name, did_you_mean(name, names));
}
double Logs::operator[](int i) const {
  RILL_CHECK(i >= 0 && i < static_cast<int>(v_.size()), out_of_range, "[logs] number {} of {}", i,
             v_.size());
  return v_[static_cast<std::size_t>(i)].second;
}
bool Logs::contains(std::string_view name) const {
  for (const auto& [key, value] : v_)
    if (key == name) return true;
  return false;
}
void Logs::set(std::string_view name, double value) {
  for (auto& [key, old] : v_)
    if (key == name) {
      old = value;
      return;
    }
  v_.emplace_back(name, value);
}
std::vector<double> Logs::values() const {
  std::vector<double> list;
  for (const auto& [key, value] : v_) list.push_back(value);
  return list;
}
std::vector<std::string> Logs::keys() const {
  std::vector<std::string> list;
  for (const auto& [key, value] : v_) list.push_back(key);
  return list;
}
void Logs::require(std::size_t n) const {
  RILL_CHECK(v_.size() == n, invalid_argument, "[logs] there are {} numbers; asked for {}",
             v_.size(), n);
}
std::ostream& operator<<(std::ostream& os, const Logs& logs) {
  os << '[';
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double v = logs.items()[i].second;
    os << (i ? ", " : "") << scalar_str({float64, {}, &v});
  }
  return os << ']';
}

}  // namespace rill::keras
