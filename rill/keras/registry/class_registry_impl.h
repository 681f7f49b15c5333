#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "rill/keras/config.h"

namespace rill::keras {

// What this thread makes known while one lives is forgotten when it ends; see
// utils::custom_object_scope. Null: it stays.
class RegistrationUndo {
 public:
  static void note(std::function<void()> undo);
  static std::vector<std::function<void()>>*& current();
};

// The classes of one kind (layers, losses, metrics) that files may name, and how each is made of
// its configuration. A user's class is known as "package>name".
template <class Factory>
class ClassRegistry {
 public:
  void add(std::string_view name, Factory f) {
    const std::lock_guard lock(mutex_);
    set(factories_, std::string(name), std::move(f));
  }
  void add(std::string_view name, const std::type_info& type, Factory f) {
    const std::lock_guard lock(mutex_);
    set(factories_, std::string(name), std::move(f));
    set(names_, std::type_index(type), std::string(name));
  }
  // By its name, or, of a user's class, by the name without the package; empty when unknown. What a
  // scope knows by its bare name is found by that in the package of those who give none.
  Factory find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = factories_.find(name); at != factories_.end()) return at->second;
    for (const auto& [known, f] : factories_)
      if (known.ends_with(">" + std::string(name))) return f;
    if (name.starts_with("Custom>"))
      if (const auto at = factories_.find(name.substr(7)); at != factories_.end())
        return at->second;
    return {};
  }
  // Whether there is a class of that name that is no user's.
  bool of_library(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (!factories_.contains(name)) return false;
    for (const auto& [type, known] : names_)
      if (known == name) return false;
    return true;
  }
  // The name under which a user's class is known; `otherwise` when it is not.
  std::string name_of(const std::type_info& type, std::string otherwise) const {
    const std::lock_guard lock(mutex_);
    const auto at = names_.find(type);
    return at == names_.end() ? otherwise : at->second;
  }
  // The whole name of a class that has no C++ type; empty when it is not known.
  std::string whole_name(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, f] : factories_)
      if (known.ends_with(">" + std::string(name))) return known;
    return {};
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, factory] : factories_) all.push_back(name);
    return all;
  }

 private:
  template <class Map>
  void set(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
    RegistrationUndo::note([this, &map, key, before = find_in(map, key)] {
      const std::lock_guard lock(mutex_);
      if (before)
        map.insert_or_assign(key, *before);
      else
        map.erase(key);
    });
    map.insert_or_assign(key, std::move(value));
  }
  template <class Map>
  static std::optional<typename Map::mapped_type> find_in(const Map& map,
                                                          const typename Map::key_type& key) {
    const auto at = map.find(key);
    return at == map.end() ? std::optional<typename Map::mapped_type>() : at->second;
  }
  mutable std::mutex mutex_;
  std::map<std::string, Factory, std::less<>> factories_;
  std::map<std::type_index, std::string> names_;
};

// The record of an object of a user's class, registered or not, as Keras's files hold it.
Config users_record(const std::string& name, const Config& config);
// The name of the class of a record; of a user's that under which it is registered.
const std::string& class_of_record(const Config& record);

// The call that makes a class known, for errors: of "Custom>Scale" it is
// keras::utils::register_keras_serializable<Scale>("Scale", "Custom").
std::string registering_call(std::string_view class_name);

}  // namespace rill::keras
