#include "rill/keras/layers/parts.h"

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras {

namespace {

struct CustomScaleFields {
  using Options = layers::CustomScaleLayerOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("scale", o.scale);
  }
};
class CustomScaleImpl : public LayerImpl {
 public:
  explicit CustomScaleImpl(const layers::CustomScaleLayerOptions& o)
      : LayerImpl("CustomScaleLayer", common(o)), o_(o) {}
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    const std::vector<Tensor> in = inputs.flatten();
    RILL_CHECK(in.size() == 2, invalid_argument,
               "[{}] a CustomScaleLayer should be called on 2 inputs, as layer({{x, branch}}); got "
               "{}",
               name(), in.size());
    return in[0] + in[1] * o_.scale;
  }
  void add_config(Config& c) const override { write_fields<CustomScaleFields>(o_, c); }

 private:
  layers::CustomScaleLayerOptions o_;
};

struct LayerScaleFields {
  using Options = layers::LayerScaleOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("init_values", o.init_values);
    f.required("projection_dim", o.projection_dim);
  }
};
class LayerScaleImpl : public LayerImpl {
 public:
  explicit LayerScaleImpl(const layers::LayerScaleOptions& o)
      : LayerImpl("LayerScale", common(o)), o_(o) {
    RILL_CHECK(o_.projection_dim > 0, invalid_argument,
               "[LayerScale] projection_dim is {}; expected the size of the input's last axis",
               o_.projection_dim);
  }
  void build(const std::vector<TensorShape>&) override {
    gamma_ = add_weight("gamma", {o_.projection_dim},
                        {.initializer = initializers::Constant(o_.init_values)});
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x * in_compute_dtype(gamma_); }
  void add_config(Config& c) const override { write_fields<LayerScaleFields>(o_, c); }

 private:
  layers::LayerScaleOptions o_;
  Variable gamma_;
};

struct StochasticDepthFields {
  using Options = layers::StochasticDepthOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("drop_path_rate", o.drop_path_rate);
  }
};
class StochasticDepthImpl : public LayerImpl {
 public:
  explicit StochasticDepthImpl(const layers::StochasticDepthOptions& o)
      : LayerImpl("StochasticDepth", common(o)), o_(o) {
    RILL_CHECK(o_.drop_path_rate >= 0 && o_.drop_path_rate <= 1, invalid_argument,
               "[StochasticDepth] drop_path_rate is {}; expected a probability, from 0 to 1",
               o_.drop_path_rate);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || o_.drop_path_rate == 0) return x;
    if (o_.drop_path_rate == 1) return zeros_like(x);
    const double keep = 1 - o_.drop_path_rate;
    std::vector<Tensor> sizes{shape(x)[0]};
    for (int i = 1; i < x.ndim(); ++i) sizes.push_back(constant(1));
    const Tensor kept = floor(keep + random::uniform(stack(sizes), 0.0, 1.0, {.dtype = x.dtype()}));
    return x / keep * kept;
  }
  void add_config(Config& c) const override { write_fields<StochasticDepthFields>(o_, c); }

 private:
  layers::StochasticDepthOptions o_;
};

// Keras 2 registered the first, as a user's class is.
const RegisterFields<CustomScaleFields, layers::CustomScaleLayer> custom_scale(
    "CustomScaleLayer", "Custom>CustomScaleLayer");
const RegisterFields<LayerScaleFields, layers::LayerScale> layer_scale("LayerScale");
const RegisterFields<StochasticDepthFields, layers::StochasticDepth> stochastic_depth(
    "StochasticDepth");

}  // namespace

namespace layers {

CustomScaleLayer::CustomScaleLayer(CustomScaleLayerOptions o)
    : Layer(this, new CustomScaleImpl(o)) {}
CustomScaleLayer::CustomScaleLayer(double scale, CustomScaleLayerOptions o)
    : CustomScaleLayer((o.scale = scale, std::move(o))) {}
LayerScale::LayerScale(LayerScaleOptions o) : Layer(this, new LayerScaleImpl(o)) {}
LayerScale::LayerScale(double init_values, std::int64_t projection_dim, LayerScaleOptions o)
    : LayerScale((o.init_values = init_values, o.projection_dim = projection_dim, std::move(o))) {}
StochasticDepth::StochasticDepth(StochasticDepthOptions o)
    : Layer(this, new StochasticDepthImpl(o)) {}
StochasticDepth::StochasticDepth(double drop_path_rate, StochasticDepthOptions o)
    : StochasticDepth((o.drop_path_rate = drop_path_rate, std::move(o))) {}

}  // namespace layers
}  // namespace rill::keras
