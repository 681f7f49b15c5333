#include "rill/keras/engine/registered_layers.h"

#include <map>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

namespace {

ClassRegistry<LayerFactory>& known() {
  static auto* k = new ClassRegistry<LayerFactory>;
  return *k;
}

}  // namespace

RegisterLayer::RegisterLayer(std::string_view name, const std::type_info& type, LayerFactory f) {
  known().add(name, type, std::move(f));
}
RegisterLayer::RegisterLayer(const char* class_name, LayerFactory f) {
  known().add(class_name, std::move(f));
}

std::vector<std::string> registered_layer_names() { return known().names(); }
bool is_library_layer(std::string_view class_name) { return known().of_library(class_name); }

std::string users_class_name(const LayerImpl& l) {
  return l.users.type && !l.users.class_at_run_time ? class_name_of(*l.users.type) : l.class_name();
}
std::string registered_class(const LayerImpl& l) {
  if (!l.users.type) return {};
  return l.users.class_at_run_time ? known().whole_name(l.class_name())
                                   : known().name_of(*l.users.type, {});
}

Config layers::serialize(const Layer& layer) {
  std::string name = layer.class_name();
  if (std::string own = registered_class(layer.impl()); !own.empty()) name = std::move(own);
  if (name == "CustomScaleLayer") name = "Custom>CustomScaleLayer";  // as Keras 2 registered it
  return Config::dict({{"class_name", name}, {"config", layer.get_config()}});
}

// ---- Keras 3
namespace {

std::map<std::string, ChangeForKeras3, std::less<>>& changes_for_keras3() {
  static auto* all = new std::map<std::string, ChangeForKeras3, std::less<>>;
  return *all;
}

}  // namespace

RegisterChangeForKeras3::RegisterChangeForKeras3(std::string_view class_name,
                                                 ChangeForKeras3 change) {
  changes_for_keras3().emplace(class_name, change);
}
void change_for_keras3(std::string_view class_name, Config& config) {
  const auto& all = changes_for_keras3();
  if (const auto at = all.find(class_name); at != all.end()) at->second(config);
}
void drop_for_keras3(Config& c, const char* key, const Config& nothing) {
  RILL_CHECK(
      !c.contains(key) || c[key] == nothing || c[key].is_null(), unimplemented,
      "[save] layer \"{}\" has {} = {}, which Keras 3 does not know; save with keras_version "
      "= 2",
      c.get("name", ""), key, c[key].to_json().substr(0, 60));
  c.erase(key);
}
void refuse_argument(const Config& config, const char* key) {
  const Config& value = config.get(key);
  RILL_CHECK(value.is_null() || value == Config(false), unimplemented,
             "[from_config] the layer has {} = {}, which Rill's layers do not have", key,
             value.to_json().substr(0, 100));
}

LayerRef layers::from_config(std::string_view class_name, const Config& config) {
  const LayerFactory f = known().find(class_name);
  RILL_CHECK(f, not_found,
             "[from_config] unknown layer class \"{}\".{} Register a user-defined class "
             "first: {}",
             class_name, did_you_mean(class_name, registered_layer_names()),
             registering_call(class_name));
  try {
    if (!config.is_dict()) return f(config);
    // Any layer of Keras 3 may have these.
    refuse_argument(config, "quantization_config");
    LayerRef layer = f(config);
    if (!layer->impl().lora && layer->impl().of_library) refuse_argument(config, "lora_rank");
    return layer;
  } catch (errors::Error& e) {
    e.add_context(format("in the configuration of a {}", class_name));
    throw;
  }
}

LayerRef layers::deserialize(const Config& c) {
  return from_config(class_of_record(c), c["config"]);
}

}  // namespace rill::keras
