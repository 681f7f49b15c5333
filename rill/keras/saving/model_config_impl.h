#pragma once
#include "rill/keras/models/model_impl.h"

namespace rill::keras {

inline constexpr const char* kKerasVersion = "2.15.0";

// {"class_name": .., "config": ..} of a stack or a graph of layers. Unimplemented for a class of
// one's own.
Config model_record(const Model& model);
// The same with "module" and "registered_name" at every layer, as .keras archives have them.
Config with_modules(const Config& record);

}  // namespace rill::keras
