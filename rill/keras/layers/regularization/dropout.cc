#include "rill/base/check.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/regularization.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

class DropoutLayer : public LayerImpl {
 public:
  explicit DropoutLayer(layers::DropoutOptions o)
      : LayerImpl("Dropout", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.rate >= 0 && o_.rate <= 1, invalid_argument,
               "[Dropout] rate is {}; expected the share to drop, from 0 to 1", o_.rate);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || o_.rate == 0) return x;
    if (o_.rate == 1) return zeros_like(x);
    return nn::dropout(x, o_.rate, {.noise_shape = o_.noise_shape, .seed = o_.seed});
  }
  void add_config(Config& c) const override {
    c.set("rate", o_.rate);
    c.set("noise_shape", o_.noise_shape);
    c.set("seed", o_.seed < 0 ? Config() : Config(o_.seed));
  }

 private:
  layers::DropoutOptions o_;
};

const RegisterLayer registered_dropout("Dropout", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::DropoutOptions>(c);
  o.rate = c["rate"].as_double();
  o.noise_shape = c.get("noise_shape").as_shape();
  o.seed = c.get("seed", std::int64_t{-1});
  return layers::Dropout(std::move(o));
});

}  // namespace

layers::Dropout::Dropout(DropoutOptions o) : Layer(this, new DropoutLayer(std::move(o))) {}
layers::Dropout::Dropout(double rate, DropoutOptions o) : Dropout((o.rate = rate, std::move(o))) {}

}  // namespace rill::keras
