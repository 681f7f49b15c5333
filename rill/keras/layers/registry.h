#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rill/keras/layer.h"
#include "rill/keras/losses/loss.h"
#include "rill/keras/metrics/metric.h"

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

// A user's losses and metrics, for models that were compiled with them.
struct RegisterLoss {
  RegisterLoss(std::string_view registered_name, const std::type_info& type,
               std::function<LossRef(const Config&)> factory);
};
struct RegisterMetric {
  RegisterMetric(std::string_view registered_name, const std::type_info& type,
                 std::function<MetricRef(const Config&)> factory);
};

namespace utils {

// Makes a layer, loss or metric of one's own known to load_model and from_config, as
// "package>name". The class has a static from_config(const keras::Config&), or a constructor that
// takes the Config; for a loss or metric without arguments of its own one that takes nothing will
// do.
template <class C>
void register_keras_serializable(std::string_view name, std::string_view package = "Custom") {
  constexpr bool is_loss = std::is_base_of_v<Loss, C>, is_metric = std::is_base_of_v<Metric, C>;
  using Made =
      std::conditional_t<is_loss, LossRef, std::conditional_t<is_metric, MetricRef, LayerRef>>;
  using Register = std::conditional_t<is_loss, RegisterLoss,
                                      std::conditional_t<is_metric, RegisterMetric, RegisterLayer>>;
  Register(std::string(package) + ">" + std::string(name), typeid(C), [](const Config& c) -> Made {
    if constexpr (requires { C::from_config(c); })
      return Made(C::from_config(c));
    else if constexpr ((is_loss || is_metric) && !std::is_constructible_v<C, const Config&>)
      return Made(C());
    else
      return Made(C(c));
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
