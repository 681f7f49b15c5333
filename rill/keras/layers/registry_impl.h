#pragma once
#include <string>
#include <vector>

namespace rill::keras {

// Every name that a file may give to a layer, sorted: those of the library and of users.
std::vector<std::string> registered_layer_names();

}  // namespace rill::keras
