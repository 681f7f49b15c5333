#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

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
  // By its name, or, of a user's class, by the name without the package; empty when unknown.
  Factory find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = factories_.find(name); at != factories_.end()) return at->second;
    for (const auto& [known, f] : factories_)
      if (known.ends_with(">" + std::string(name))) return f;
    return {};
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

// The call that makes a class known, for errors: of "Custom>Scale" it is
// keras::utils::register_keras_serializable<Scale>("Scale", "Custom").
std::string registering_call(std::string_view class_name);

}  // namespace rill::keras
