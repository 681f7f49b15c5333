#pragma once
#include "rill/keras/engine/layer.h"

// Configurations of what layers have in common.
namespace rill::keras {

// {"class_name": "GlorotUniform", "config": {"seed": null}}; null for none.
Config serialize(const Initializer& initializer);
// `otherwise` where there is none.
Initializer deserialize_initializer(const Config& config, const Initializer& otherwise);

// An options struct with its common fields filled.
template <class O>
O from_common(const Config& c) {
  LayerOptions l = LayerOptions::from_config(c);
  O o;
  o.batch_input_shape = l.batch_input_shape;
  o.name = std::move(l.name);
  o.dtype = l.dtype;
  o.trainable = l.trainable;
  return o;
}

}  // namespace rill::keras
