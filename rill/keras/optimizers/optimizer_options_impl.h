#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rill/keras/optimizers/keras_optimizer_impl.h"

// Options of optimizers from and to configurations. Beside the options of each stands a function
// own_fields(options, f), which calls f("beta_1", options.beta_1) for its own arguments, in Keras's
// order.
namespace rill::keras::optimizers {

template <class T>
Config argument(const T& value) {
  return value;
}
inline Config argument(const std::optional<double>& value) {
  return value ? Config(*value) : Config();
}
inline Config argument(const std::vector<std::string>& list) { return Config::list_of(list); }

template <class T>
void read_argument(const Config& c, const char* key, T& value) {
  value = c.get(key, value);
}
inline void read_argument(const Config& c, const char* key, std::optional<double>& value) {
  if (!c.contains(key)) return;
  value = {};
  if (!c[key].is_null()) value = c[key].as_double();
}
inline void read_argument(const Config& c, const char* key, std::vector<std::string>& list) {
  if (!c.contains(key)) return;
  list.clear();
  for (const Config& item : c[key].items()) list.push_back(item.as_string());
}

template <class O>
KerasSetup setup(const char* class_name, const O& options) {
  O o = options;
  KerasSetup s{class_name,
               o.name,
               o.lr ? *o.lr : o.learning_rate,
               o.weight_decay,
               o.clipnorm,
               o.clipvalue,
               o.global_clipnorm,
               o.use_ema,
               o.ema_momentum,
               o.ema_overwrite_frequency,
               o.gradient_accumulation_steps,
               o.decay,
               Config::dict()};
  own_fields(o, [&](const char* key, const auto& value) { s.own.set(key, argument(value)); });
  return s;
}
template <class O>
O options_of(const Config& c) {
  O o;
  o.name = c.get("name", o.name.c_str());
  if (!c.get("learning_rate").is_null())
    o.learning_rate = LearningRate::from_config(c["learning_rate"]);
  const auto optional = [&](const char* key, auto& field) {
    if (!c.contains(key)) return;
    field = {};
    if (!c[key].is_null()) field = c[key].as_double();
  };
  optional("weight_decay", o.weight_decay);
  optional("clipnorm", o.clipnorm);
  optional("clipvalue", o.clipvalue);
  optional("global_clipnorm", o.global_clipnorm);
  o.use_ema = c.get("use_ema", false);
  o.ema_momentum = c.get("ema_momentum", o.ema_momentum);
  if (!c.get("ema_overwrite_frequency").is_null())
    o.ema_overwrite_frequency = static_cast<int>(c["ema_overwrite_frequency"].as_int());
  if (!c.get("gradient_accumulation_steps").is_null())
    o.gradient_accumulation_steps = c["gradient_accumulation_steps"].as_int();
  o.decay = c.get("decay", 0.0);
  own_fields(o, [&](const char* key, auto& value) { read_argument(c, key, value); });
  return o;
}

template <class O, class Options>
Optimizer made(const Config& c) {
  return O(options_of<Options>(c));
}

// The user's class of that name, made of the configuration; none when there is none.
std::optional<Optimizer> users_optimizer(std::string_view name, const Config& config);
std::vector<std::string> users_optimizer_names();

// Those of Keras 3, from their configurations.
Optimizer lamb_of(const Config& config);
Optimizer muon_of(const Config& config);

}  // namespace rill::keras::optimizers
