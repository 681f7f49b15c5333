#pragma once
#include <string>
#include <vector>

#include "rill/keras/layer_impl.h"

namespace rill::keras {

// Every name that a file may give to a layer, sorted: those of the library and of users.
std::vector<std::string> registered_layer_names();
// The name of a user-defined class: that in C++, or the one it has at run time.
std::string users_class_name(const LayerImpl& layer);
// The name under which the user-defined class of a layer is registered; empty: it is not, or the
// layer is one of the library.
std::string registered_class(const LayerImpl& layer);

}  // namespace rill::keras
