#include "rill/keras/saving/model_config_impl.h"

#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/keras/saving/saving.h"

namespace rill::keras {

Config model_record(const Model& model) {
  const std::string name = model.name();
  const std::string registered = registered_class(model.impl());
  RILL_CHECK(
      has_graph(model.model_impl()) || !registered.empty(), unimplemented,
      "[{}] the class {} computes by its own call, which a configuration cannot hold. Register "
      "the class with {}, or save its weights with save_weights or a "
      "tf::train::Checkpoint",
      name, model.class_name(), registering_call(model.class_name()));
  Config record =
      Config::dict({{"class_name", registered.empty() ? model.class_name() : registered},
                    {"config", model.get_config()}});
  // A reader makes the weights by a call of this shape.
  if (const std::vector<TensorShape>& shapes = model.impl().built_for;
      !has_graph(model.model_impl()) && shapes.size() == 1) {
    TensorShape shape = shapes[0];
    if (shape.rank() > 0) shape.set_dim(0, -1);
    record.set("build_config", Config::dict({{"input_shape", shape}}));
  }
  return record;
}

// Where Keras defines a layer that only its applications use; null for any other.
static const char* module_of_part(std::string_view name) {
  if (name == "CustomScaleLayer") return "keras.src.applications.inception_resnet_v2";
  if (name == "LayerScale" || name == "StochasticDepth") return "keras.src.applications.convnext";
  return nullptr;
}

Config with_modules(const Config& record) {
  std::string name = record["class_name"].as_string();
  Config config = record["config"], module = "keras.layers", registered;
  const bool is_model = config.is_dict() && config.get("layers").is_list();
  if (is_model) {
    Config layers = Config::list();
    for (const Config& l : config["layers"].items()) layers.push_back(with_modules(l));
    config.set("layers", layers);
  }
  if (name == "Sequential" || name == "Functional") {
    // Keras 3 has no module where Keras 2 keeps Functional; both know keras.Model.
    module = "keras";
    if (name == "Functional") name = "Model";
  } else if (name == "GroupedQueryAttention") {
    name = "GroupQueryAttention";
  } else if (name == "TFOpLambda" || name == "SlicingOpLambda") {
    module = "keras.src.layers.core.tf_op_layer";
    registered = name;
  } else if (const char* place = module_of_part(name)) {
    module = place;
    registered = name;
  } else if (const auto at = name.find('>'); at != name.npos) {
    module = Config();
    registered = name;
    name = name.substr(at + 1);
  } else if (!is_library_layer(name)) {
    module = Config();
    registered = name;
  }
  Config out = Config::dict({{"module", module},
                             {"class_name", name},
                             {"config", config},
                             {"registered_name", registered}});
  for (const std::string& key : record.keys())
    if (key != "class_name" && key != "config") out.set(key, record[key]);
  return out;
}

namespace {

// What to_json and to_yaml write.
Config full_record(const Model& model) {
  const bool keras3 = model.impl().behaves_as == 3;
  Config record = keras3 ? keras3_record(model_record(model)) : model_record(model);
  const Config modules = with_modules(record);
  if (keras3)
    record = modules;
  else
    record.set("config", modules["config"]);
  record.set("keras_version", keras3 ? kKeras3Version : kKerasVersion);
  record.set("backend", "tensorflow");
  return record;
}

// Keras 3 describes calls and policies of dtypes by records.
bool is_of_keras3(const Config& record) {
  if (record.get("keras_version").is_text())
    return keras_of_version(record["keras_version"].as_string()) == 3;
  const Config& config = record.get("config");
  if (!config.is_dict()) return false;
  if (config.get("dtype").is_dict() && config["dtype"].get("class_name").is_text() &&
      config["dtype"]["class_name"].as_string().ends_with("DTypePolicy"))
    return true;
  for (const Config& call : record.get("inbound_nodes").items())
    if (call.is_dict() && call.contains("args")) return true;
  for (const Config& layer : config.get("layers").items())
    if (layer.is_dict() && is_of_keras3(layer)) return true;
  return false;
}

}  // namespace

int keras_of_version(std::string_view version) {
  return version.starts_with("1.") || version.starts_with("2.") || version.empty() ? 2 : 3;
}

std::string Model::to_json(int indent) const { return full_record(*this).to_json(indent); }
std::string Model::to_yaml() const { return full_record(*this).to_yaml(); }

Model models::model_from_config(const Config& c) {
  return model_of_record(c, c.is_dict() && is_of_keras3(c) ? 3 : 2);
}
Model model_of_record(const Config& c, int keras) {
  const BehaviourScope behaviour(keras);
  RILL_CHECK(c.is_dict() && c.contains("class_name") && c.contains("config"), invalid_argument,
             "[model_from_config] got {}; expected a dict with \"class_name\" and \"config\", as "
             "to_json writes it",
             c.to_json().substr(0, 100));
  const LayerRef layer = layers::deserialize(c);
  LayerObjects::introduce(*layer);
  const Ref<LayerImpl> impl = LayerObjects::impl_of(*layer);
  RILL_CHECK(impl->is_model(), invalid_argument,
             "[model_from_config] the configuration is that of a {}; expected a model. "
             "keras::layers::deserialize makes layers",
             impl->class_name());
  ModelHandle model(impl);
  const Config& build = c.get("build_config");
  if (!model.built() && build.is_dict() && build.get("input_shape").is_list())
    model.build_model(build["input_shape"].as_shape());
  return model;
}
Model models::clone_model(const Model& model) {
  return model_of_record(model_record(model), model.impl().behaves_as);
}
Model models::model_from_json(std::string_view text) {
  return model_from_config(Config::from_json(text));
}
Model models::model_from_yaml(std::string_view text) {
  return model_from_config(Config::from_yaml(text));
}

}  // namespace rill::keras
