#pragma once
#include "rill/keras/models/model_impl.h"

namespace rill::keras {

inline constexpr const char *kKerasVersion = "2.15.0", *kKeras3Version = "3.0.0";

// {"class_name": .., "config": ..} of a stack, a graph of layers, or a registered class.
// Unimplemented for any other user-defined class.
Config model_record(const Model& model);
// The model of a record that Keras 2 or 3 wrote, which behaves so.
Model model_of_record(const Config& record, int keras);
// 3 for "3.4.1", else 2.
int keras_of_version(std::string_view version);
// The record of a model as Keras 3 writes it. Unimplemented, by name, for what Keras 3 has no form.
Config keras3_record(const Config& record);
// The same with "module" and "registered_name" at every layer, as .keras archives have them.
Config with_modules(const Config& record);

}  // namespace rill::keras
