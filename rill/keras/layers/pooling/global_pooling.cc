#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

using layers::PoolingKind;

class GlobalPoolingLayer : public LayerImpl {
 public:
  GlobalPoolingLayer(PoolingKind kind, int axes, const layers::GlobalPoolingOptions& o)
      : LayerImpl(format("Global{}Pooling{}D", kind == PoolingKind::max ? "Max" : "Average", axes),
                  common(o)),
        kind_(kind),
        keepdims_(o.keepdims),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    input_spec.ndim = axes + 2;
    for (int i = 0; i < axes; ++i) over_.push_back(i + (channels_first_ ? 2 : 1));
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (kind_ == PoolingKind::max) return reduce_max(x, over_, {.keepdims = keepdims_});
    if (over_.size() == 1 && context.mask.defined()) return masked_mean(x, context.mask);
    return reduce_mean(x, over_, {.keepdims = keepdims_});
  }
  // There are no steps left that a mask could speak of.
  Tensor compute_mask(const Nest&, const Tensor&) override { return {}; }
  void add_config(Config& c) const override {
    c.set("data_format", data_format_name(channels_first_));
    c.set("keepdims", keepdims_);
  }

 private:
  Tensor masked_mean(const Tensor& x, const Tensor& mask) const {
    const Tensor counts = expand_dims(cast(mask, x.dtype()), channels_first_ ? 1 : 2);
    return reduce_sum(x * counts, over_, {.keepdims = keepdims_}) /
           reduce_sum(counts, over_, {.keepdims = keepdims_});
  }
  PoolingKind kind_;
  bool keepdims_, channels_first_;
  std::vector<int> over_;  // axes of the image
};

template <PoolingKind kind, int axes>
LayerRef global_from_config(const Config& c) {
  auto o = from_common<layers::GlobalPoolingOptions>(c);
  o.data_format = c.get("data_format", "channels_last");
  o.keepdims = c.get("keepdims", false);
  return layers::GlobalPooling<kind, axes>(std::move(o));
}
const RegisterLayer global_max1("GlobalMaxPooling1D", global_from_config<PoolingKind::max, 1>),
    global_max2("GlobalMaxPooling2D", global_from_config<PoolingKind::max, 2>),
    global_max3("GlobalMaxPooling3D", global_from_config<PoolingKind::max, 3>),
    global_average1("GlobalAveragePooling1D", global_from_config<PoolingKind::average, 1>),
    global_average2("GlobalAveragePooling2D", global_from_config<PoolingKind::average, 2>),
    global_average3("GlobalAveragePooling3D", global_from_config<PoolingKind::average, 3>);

}  // namespace

template <layers::PoolingKind kind, int axes>
layers::GlobalPooling<kind, axes>::GlobalPooling(GlobalPoolingOptions o)
    : Layer(this, new GlobalPoolingLayer(kind, axes, o)) {}
template class layers::GlobalPooling<PoolingKind::max, 1>;
template class layers::GlobalPooling<PoolingKind::max, 2>;
template class layers::GlobalPooling<PoolingKind::max, 3>;
template class layers::GlobalPooling<PoolingKind::average, 1>;
template class layers::GlobalPooling<PoolingKind::average, 2>;
template class layers::GlobalPooling<PoolingKind::average, 3>;

}  // namespace rill::keras
