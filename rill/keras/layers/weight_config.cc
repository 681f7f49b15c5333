#include "rill/base/check.h"
#include "rill/keras/initializers/registered_impl.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

Config serialize(const Initializer& i) {
  if (!i.defined()) return {};
  RILL_CHECK(!i.class_name().empty(), failed_precondition,
             "[initializer] a user-defined function has no name that a file could hold; use one of "
             "keras::initializers");
  if (i.is_users()) return users_record(i.class_name(), i.get_config());
  return Config::dict({{"class_name", i.class_name()}, {"config", i.get_config()}});
}

Initializer deserialize_initializer(const Config& c, const Initializer& otherwise) {
  if (c.is_null()) return otherwise;
  if (c.is_text()) return initializers::get(c.as_string());
  const std::string& name = class_of_record(c);
  const Config& o = c.get("config");
  if (!o.is_dict()) return initializers::get(name);
  const std::int64_t seed = o.get("seed", std::int64_t{-1});
  if (name == "Constant")
    return initializers::Constant(o.contains("value") ? o["value"].as_double() : 0.0);
  if (name == "RandomUniform")
    return initializers::RandomUniform(o.get("minval", -0.05), o.get("maxval", 0.05), seed);
  if (name == "RandomNormal")
    return initializers::RandomNormal(o.get("mean", 0.0), o.get("stddev", 0.05), seed);
  if (name == "TruncatedNormal")
    return initializers::TruncatedNormal(o.get("mean", 0.0), o.get("stddev", 0.05), seed);
  if (name == "VarianceScaling")
    return initializers::VarianceScaling({.scale = o.get("scale", 1.0),
                                          .mode = o.get("mode", "fan_in"),
                                          .distribution = o.get("distribution", "truncated_normal"),
                                          .seed = seed});
  if (name == "Orthogonal")
    return initializers::Orthogonal({.gain = o.get("gain", 1.0), .seed = seed});
  if (name == "Identity") return initializers::Identity(o.get("gain", 1.0));
  if (name == "GlorotUniform") return initializers::GlorotUniform(seed);
  if (name == "GlorotNormal") return initializers::GlorotNormal(seed);
  if (name == "HeUniform") return initializers::HeUniform(seed);
  if (name == "HeNormal") return initializers::HeNormal(seed);
  if (name == "LecunUniform") return initializers::LecunUniform(seed);
  if (name == "LecunNormal") return initializers::LecunNormal(seed);
  if (Initializer own = registered_initializer(name, o); own.defined()) return own;
  try {
    return initializers::get(name);
  } catch (errors::Error& e) {
    e.add_context("Register a user-defined class first: " + registering_call(name));
    throw;
  }
}

}  // namespace rill::keras
