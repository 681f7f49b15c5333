// What a user-defined model class is made of when a file names it.
#include "rill/keras/saving/registration.h"
#include "rill/base/check.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

std::string registered_name(const std::type_info& type, std::string_view a, std::string_view b) {
  const std::string own = class_name_of(type);
  RILL_CHECK((a == own) != (b == own), invalid_argument,
             "[register_keras_serializable] got \"{}\" and \"{}\" for the class {}; expected its "
             "name as one of them, or write {{.package = \"{}\", .name = \"{}\"}}",
             a, b, own, a, b);
  const bool name_first = a == own;
  return format("{}>{}", name_first ? b : a, name_first ? a : b);
}

utils::custom_object_scope::custom_object_scope()
    : around_(std::exchange(RegistrationUndo::current(), &undo_)) {}
utils::custom_object_scope::~custom_object_scope() {
  RegistrationUndo::current() = around_;
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
}

GraphOfConfig graph_from_config(const Config& config) {
  const LayerRef model = layers::from_config("Functional", config);
  const auto& graph = static_cast<const FunctionalImpl&>(model->impl());
  return {graph.input_nest(), graph.output_nest()};
}

void stack_from_config(Sequential& model, const Config& config) {
  if (!model.layers().empty()) return;
  for (const Config& l : config["layers"].items()) model.add(layers::deserialize(l));
}

void finish_from_config(Layer& model, const Config& config) {
  if (const std::string name = config.get("name", ""); !name.empty()) {
    LayerObjects::introduce(model);  // gives the automatic name back
    model.impl().set_name(name);
  }
  if (!config.get("trainable", true)) model.set_trainable(false);
}

}  // namespace rill::keras
