#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/weight_config_impl.h"

namespace rill::keras {

namespace {

class ActivationLayer : public LayerImpl {
 public:
  ActivationLayer(keras::Activation activation, const layers::ActivationOptions& o)
      : LayerImpl("Activation", common(o)), activation_(std::move(activation)) {
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override { return activation_(x); }
  void add_config(Config& c) const override { c.set("activation", activation_.serialize()); }

 private:
  keras::Activation activation_;
};

const RegisterLayer registered_activation("Activation", [](const Config& c) -> LayerRef {
  return layers::Activation(keras::Activation::deserialize(c["activation"]),
                            from_common<layers::ActivationOptions>(c));
});

}  // namespace

layers::Activation::Activation(keras::Activation activation, ActivationOptions o)
    : Layer(this, new ActivationLayer(std::move(activation), o)) {}

}  // namespace rill::keras
