#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/keras/registry/registered_functions.h"

// Losses and metrics that are users' functions, as register_keras_serializable made them known.
namespace rill::keras {

// "package>name", or empty for one that is not known.
std::string registered_function_name(const LossFunction& function);
// By the whole name or by that without the package; empty when it is not known.
LossFunction registered_function(std::string_view name);
std::vector<std::string> registered_function_names();

}  // namespace rill::keras
