#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rill/keras/layer.h"

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

namespace utils {

// Makes a class of one's own known to load_model and from_config, as "package>name". It has a
// static from_config(const keras::Config&), or a constructor that takes the Config.
template <class L>
void register_keras_serializable(std::string_view name, std::string_view package = "Custom") {
  RegisterLayer(std::string(package) + ">" + std::string(name), typeid(L),
                [](const Config& c) -> LayerRef {
                  if constexpr (requires { L::from_config(c); })
                    return LayerRef(L::from_config(c));
                  else
                    return LayerRef(L(c));
                });
}

}  // namespace utils

namespace layers {

// {"class_name": "Dense", "config": {...}}.
Config serialize(const Layer& layer);
// The layer that it describes. NotFound, with the nearest name, for a class that is not known.
LayerRef deserialize(const Config& config);
LayerRef from_config(std::string_view class_name, const Config& config);

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
