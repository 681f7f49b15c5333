#pragma once
#include <string>
#include <string_view>

#include "rill/keras/models/model.h"

// Models from files and configurations of Keras 2 and Keras 3. Nothing that a file holds is run:
// it names layers that the program has. User-defined classes must be registered first, by
// keras::utils::register_keras_serializable.
namespace rill RILL_API {
namespace keras {
namespace models {

// The model that a configuration describes, freshly initialised. NotFound for a class that is not
// known; InvalidArgument, with the place, for what makes no sense.
Model model_from_config(const Config& config);
Model model_from_json(std::string_view text);
inline Model from_json(std::string_view text) { return model_from_json(text); }
Model model_from_yaml(std::string_view text);
inline Model from_yaml(std::string_view text) { return model_from_yaml(text); }

// One of the same layers and names with its own weights, freshly initialised; not compiled.
Model clone_model(const Model& model);

struct LoadModelOptions {
  bool compile = true;  // as the saved model was, with the state of its optimizer
};
// What Model::save wrote, of Rill or Keras: a .keras archive or HDF5, recognised by content.
// DataLoss for damaged files; Unimplemented for SavedModel folders.
Model load_model(const std::string& path, LoadModelOptions options = {});
inline void save_model(const Model& model, const std::string& path, SaveOptions options = {}) {
  model.save(path, std::move(options));
}

}  // namespace models
}  // namespace keras
}  // namespace RILL_API
