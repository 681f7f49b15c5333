#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/recurrent.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

class TimeDistributedLayer : public LayerImpl {
 public:
  TimeDistributedLayer(LayerRef layer, layers::TimeDistributedOptions o)
      : LayerImpl("TimeDistributed", common(o)), layer_(std::move(layer)) {
    RILL_CHECK(layer_.defined(), invalid_argument, "[TimeDistributed] got no layer");
    LayerObjects::introduce(*layer_);
    track_layer("layer", LayerObjects::impl_of(*layer_));
    if (!o.trainable) set_trainable(false);
    supports_masking = true;
    input_spec.min_ndim = 3;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    if (layer_->built()) return;
    TensorShape step = TensorShape::scalar();
    for (int i = 0; i < shapes[0].rank(); ++i)
      if (i != 1) step.push_back(shapes[0].dim(i));
    // As in Keras the weights carry the name of this layer alone: "time_distributed/kernel".
    const RenamedScope for_now(layer_->impl(), name());
    LayerCalls::build(*layer_, {step});
  }

  Tensor call(const Tensor& x, const CallContext& context) override {
    if (behaves_as == 3 && context.training && x.shape().dim(1) > 0 &&
        !layer_->non_trainable_variables().empty())
      return step_by_step(x, context);
    // The steps of all samples as one batch.
    CallOptions options{.training = context.training};
    if (context.mask.defined() && context.mask.ndim() > 2) options.mask = merged_axes(context.mask);
    return split_axes(layer_->apply(merged_axes(x), std::move(options)).as_tensor(), x);
  }
  // That of the steps, where the layer keeps or makes one; else a step counts where any of it does.
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override {
    if (behaves_as == 3) return mask;
    const Tensor& x = inputs.as_tensor();
    const Tensor inner =
        layer_->compute_mask(merged_axes(x), mask.defined() ? merged_axes(mask) : Tensor());
    if (inner.defined()) return split_axes(inner, x);
    if (!mask.defined() || mask.ndim() <= 2) return mask;
    std::vector<int> within;
    for (int i = 2; i < mask.ndim(); ++i) within.push_back(i);
    return reduce_any(mask, within);
  }
  void add_config(Config& c) const override { c.set("layer", layers::serialize(*layer_)); }

 private:
  // Keras 3 calls the layer once a step: a batch normalization moves as often.
  Tensor step_by_step(const Tensor& x, const CallContext& context) {
    const std::vector<Tensor> steps = unstack(x, 1);
    std::vector<Tensor> masks, results;
    if (context.mask.defined() && context.mask.ndim() > 2) masks = unstack(context.mask, 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CallOptions options{.training = 1};
      if (!masks.empty()) options.mask = masks[i];
      results.push_back(layer_->apply(steps[i], std::move(options)).as_tensor());
    }
    return stack(results, 1);
  }

  // [batch, time, ...] -> [batch * time, ...], where sizes may be known only at run time.
  static Tensor merged_axes(const Tensor& x) {
    const TensorShape& in = x.shape();
    TensorShape to = TensorShape::scalar();
    to.push_back(in.dim(0) >= 0 && in.dim(1) >= 0 ? in.dim(0) * in.dim(1) : -1);
    for (int i = 2; i < in.rank(); ++i) to.push_back(in.dim(i));
    bool known = true;
    for (int i = 1; i < to.rank(); ++i) known = known && to.dim(i) >= 0;
    if (known) return reshape(x, constant(to.as_list()));
    const Tensor sizes = shape(x);
    std::vector<Tensor> parts{constant(-1)};
    for (int i = 1; i < to.rank(); ++i)
      parts.push_back(to.dim(i) < 0 ? sizes[i + 1] : constant(static_cast<int>(to.dim(i))));
    const Tensor y = reshape(x, stack(parts));
    y.set_shape(to);
    return y;
  }
  // [batch * time, ...] -> [batch, time, ...], with batch and time as x has them.
  static Tensor split_axes(const Tensor& y, const Tensor& x) {
    TensorShape to = TensorShape::scalar();
    to.push_back(x.shape().dim(0)), to.push_back(x.shape().dim(1));
    for (int i = 1; i < y.ndim(); ++i) to.push_back(y.shape().dim(i));
    int unknown = 0;
    for (int i = 0; i < to.rank(); ++i) unknown += to.dim(i) < 0;
    if (unknown <= 1) return reshape(y, constant(to.as_list()));
    const Tensor first = shape(x), rest = shape(y);
    std::vector<Tensor> parts;
    for (int i = 0; i < to.rank(); ++i)
      parts.push_back(to.dim(i) >= 0 ? constant(static_cast<int>(to.dim(i)))
                      : i < 2        ? first[i]
                                     : rest[i - 1]);
    const Tensor out = reshape(y, stack(parts));
    out.set_shape(to);
    return out;
  }

  LayerRef layer_;
};

const RegisterLayer registered_time_distributed("TimeDistributed", [](const Config& c) -> LayerRef {
  return layers::TimeDistributed(layers::deserialize(c["layer"]),
                                 from_common<layers::TimeDistributedOptions>(c));
});

}  // namespace

layers::TimeDistributed::TimeDistributed(LayerRef layer, TimeDistributedOptions o)
    : Layer(this, new TimeDistributedLayer(std::move(layer), std::move(o))) {}

}  // namespace rill::keras
