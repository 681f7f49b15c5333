#include "rill/keras/saving/model_config_impl.h"

#include "rill/base/check.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/saving/saving.h"

namespace rill::keras {

Config model_record(const Model& model) {
  RILL_CHECK(has_graph(model.model_impl()), unimplemented,
             "[{}] the class {} computes by its own call, which a configuration cannot hold; only "
             "Sequential models and those made of inputs and outputs have one. Save its weights "
             "with save_weights, or a tf::train::Checkpoint",
             model.name(), model.class_name());
  return Config::dict({{"class_name", model.class_name()}, {"config", model.get_config()}});
}

Config with_modules(const Config& record) {
  std::string name = record["class_name"].as_string();
  Config config = record["config"], module = "keras.layers", registered;
  if (name == "Sequential" || name == "Functional") {
    Config layers = Config::list();
    for (const Config& l : config["layers"].items()) layers.push_back(with_modules(l));
    config.set("layers", layers);
    // Keras 3 has no module where Keras 2 keeps Functional; both know keras.Model.
    module = "keras";
    if (name == "Functional") name = "Model";
  } else if (name == "TFOpLambda" || name == "SlicingOpLambda") {
    module = "keras.src.layers.core.tf_op_layer";
    registered = name;
  } else if (const auto at = name.find('>'); at != name.npos) {
    module = Config();
    registered = name;
    name = name.substr(at + 1);
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
  Config record = model_record(model);
  Config modules = with_modules(record);
  record.set("config", modules["config"]);
  record.set("keras_version", kKerasVersion);
  record.set("backend", "tensorflow");
  return record;
}

}  // namespace

std::string Model::to_json(int indent) const { return full_record(*this).to_json(indent); }
std::string Model::to_yaml() const { return full_record(*this).to_yaml(); }

Model models::model_from_config(const Config& c) {
  RILL_CHECK(c.is_dict() && c.contains("class_name") && c.contains("config"), invalid_argument,
             "[model_from_config] got {}; expected a dict with \"class_name\" and \"config\", as "
             "to_json writes it",
             c.to_json().substr(0, 100));
  const LayerRef layer = layers::deserialize(c);
  const Ref<LayerImpl> impl = CallMachinery::impl_of(*layer);
  RILL_CHECK(impl->is_model(), invalid_argument,
             "[model_from_config] the configuration is that of a {}; expected a model. "
             "keras::layers::deserialize makes layers",
             impl->class_name());
  RILL_CHECK(has_graph(static_cast<ModelImpl&>(*impl)), unimplemented,
             "[model_from_config] the class {} computes by its own call: make the object and load "
             "its weights with load_weights",
             impl->class_name());
  return ModelHandle(impl);
}
Model models::clone_model(const Model& model) { return model_from_config(model_record(model)); }
Model models::model_from_json(std::string_view text) {
  return model_from_config(Config::from_json(text));
}
Model models::model_from_yaml(std::string_view text) {
  return model_from_config(Config::from_yaml(text));
}

}  // namespace rill::keras
