#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/regularization.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

struct DropoutFields {
  using Options = layers::DropoutOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("rate", o.rate);
    f("noise_shape", o.noise_shape);
    f("seed", o.seed, NullBelow<0>());
  }
};

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
  void add_config(Config& c) const override { write_fields<DropoutFields>(o_, c); }

 private:
  layers::DropoutOptions o_;
};

const RegisterFields<DropoutFields, layers::Dropout> registered_dropout("Dropout");

}  // namespace

layers::Dropout::Dropout(DropoutOptions o) : Layer(this, new DropoutLayer(std::move(o))) {}
layers::Dropout::Dropout(double rate, DropoutOptions o) : Dropout((o.rate = rate, std::move(o))) {}

}  // namespace rill::keras
