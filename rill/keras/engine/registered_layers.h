#pragma once
#include <functional>
#include <string_view>
#include <typeinfo>

#include "rill/keras/engine/layer.h"

namespace rill RILL_API {
namespace keras {

// Which classes files may name. A file never brings code along: what it names must be here.
using LayerFactory = std::function<LayerRef(const Config&)>;

// Of the library: `const RegisterLayer registered("Dense", [](const Config& c) { ... });`
struct RegisterLayer {
  RegisterLayer(const char* class_name, LayerFactory factory);
  // A user's class.
  RegisterLayer(std::string_view registered_name, const std::type_info& type, LayerFactory factory);
};

namespace layers {

// {"class_name": "Dense", "config": {...}}.
Config serialize(const Layer& layer);
// The layer that it describes. NotFound, with the nearest name, for a class that is not known.
LayerRef deserialize(const Config& config);
LayerRef from_config(std::string_view class_name, const Config& config);

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
