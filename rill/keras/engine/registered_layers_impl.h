#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/keras/config.h"
#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

// Every name that a file may give to a layer, sorted: those of the library and of users.
std::vector<std::string> registered_layer_names();
// Whether the library has a layer or model of that name, and no user's class goes by it.
bool is_library_layer(std::string_view class_name);
// The name of a user-defined class: that in C++, or the one it has at run time.
std::string users_class_name(const LayerImpl& layer);
// The name under which the user-defined class of a layer is registered; empty: it is not, or the
// layer is one of the library.
std::string registered_class(const LayerImpl& layer);

// ---- what a layer needs specially for Keras 3
// Makes a configuration in the form of Keras 2 one of Keras 3.
using ChangeForKeras3 = void (*)(Config& config);
struct RegisterChangeForKeras3 {
  RegisterChangeForKeras3(std::string_view class_name, ChangeForKeras3 change);
};
void change_for_keras3(std::string_view class_name, Config& config);
// Leaves out an argument that Keras 3 does not have. Unimplemented for a value that says something.
void drop_for_keras3(Config& config, const char* key, const Config& nothing);
// Unimplemented where a configuration has an argument, of Keras 3, that is not off.
void refuse_argument(const Config& config, const char* key);

}  // namespace rill::keras
