#include "rill/keras/layers/registry.h"

#include <map>
#include <mutex>
#include <typeindex>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/registry_impl.h"

namespace rill::keras {

namespace {

struct Known {
  std::mutex mutex;
  std::map<std::string, LayerFactory, std::less<>> factories;
  std::map<std::type_index, std::string> names;  // of users' classes
};
Known& known() {
  static auto* k = new Known;
  return *k;
}

}  // namespace

RegisterLayer::RegisterLayer(std::string_view name, const std::type_info& type, LayerFactory f) {
  const std::lock_guard lock(known().mutex);
  known().factories[std::string(name)] = std::move(f);
  known().names[type] = name;
}
RegisterLayer::RegisterLayer(const char* class_name, LayerFactory f) {
  const std::lock_guard lock(known().mutex);
  known().factories[class_name] = std::move(f);
}

std::vector<std::string> registered_layer_names() {
  const std::lock_guard lock(known().mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : known().factories) names.push_back(name);
  return names;
}

Config layers::serialize(const Layer& layer) {
  std::string name = layer.class_name();
  if (CallMachinery::is_users_class(layer)) {
    const std::lock_guard lock(known().mutex);
    if (const auto at = known().names.find(typeid(layer)); at != known().names.end())
      name = at->second;
  }
  return Config::dict({{"class_name", name}, {"config", layer.get_config()}});
}

namespace {

// Arguments that Keras 3 has added, which change what a layer computes. To read a file and pass
// over them would give another model.
void check_keras3_arguments(const Config& config) {
  if (!config.is_dict()) return;
  for (const char* key :
       {"quantization_config", "lora_rank", "use_gate", "sliding_window", "rms_scaling"}) {
    const Config& value = config.get(key);
    RILL_CHECK(value.is_null() || value == Config(false), unimplemented,
               "[from_config] the layer has {} = {}, which Rill's layers do not have", key,
               value.to_json().substr(0, 100));
  }
}

}  // namespace

LayerRef layers::from_config(std::string_view class_name, const Config& config) {
  LayerFactory f;
  {
    const std::lock_guard lock(known().mutex);
    auto at = known().factories.find(class_name);
    // A class of the user under its bare name.
    for (auto i = known().factories.begin();
         at == known().factories.end() && i != known().factories.end(); ++i)
      if (i->first.ends_with(">" + std::string(class_name))) at = i;
    if (at != known().factories.end()) f = at->second;
  }
  RILL_CHECK(f, not_found,
             "[from_config] unknown layer class \"{}\".{} A class of your own must be made known "
             "first: keras::utils::register_keras_serializable<{}>(\"{}\")",
             class_name, did_you_mean(class_name, registered_layer_names()), class_name,
             class_name);
  try {
    check_keras3_arguments(config);
    return f(config);
  } catch (errors::Error& e) {
    e.add_context(format("in the configuration of a {}", class_name));
    throw;
  }
}

LayerRef layers::deserialize(const Config& c) {
  const Config& registered = c.get("registered_name");
  const bool own = registered.is_text() && registered.as_string().find('>') != std::string::npos;
  return from_config(own ? registered.as_string() : c["class_name"].as_string(), c["config"]);
}

}  // namespace rill::keras
