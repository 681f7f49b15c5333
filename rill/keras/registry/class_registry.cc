#include "rill/base/format.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

std::vector<std::function<void()>>*& RegistrationUndo::current() {
  static thread_local std::vector<std::function<void()>>* list = nullptr;
  return list;
}
void RegistrationUndo::note(std::function<void()> undo) {
  if (current()) current()->push_back(std::move(undo));
}

Config users_record(const std::string& name, const Config& config) {
  return Config::dict({{"module", Config()},
                       {"class_name", name.substr(name.find('>') + 1)},
                       {"config", config},
                       {"registered_name", name}});
}
const std::string& class_of_record(const Config& record) {
  const Config& registered = record.get("registered_name");
  const bool own = registered.is_text() && registered.as_string().find('>') != std::string::npos;
  return (own ? registered : record["class_name"]).as_string();
}

std::string registering_call(std::string_view class_name) {
  const std::size_t arrow = class_name.find('>');
  const std::string_view name = class_name.substr(arrow == class_name.npos ? 0 : arrow + 1);
  return arrow == class_name.npos
             ? format("keras::utils::register_keras_serializable<{}>(\"{}\")", name, name)
             : format("keras::utils::register_keras_serializable<{}>(\"{}\", \"{}\")", name,
                      class_name.substr(0, arrow), name);
}

}  // namespace rill::keras
