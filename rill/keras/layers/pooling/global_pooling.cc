#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/pooling.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"

namespace rill::keras {

namespace {

using layers::PoolingKind;

struct GlobalPoolingFields {
  using Options = layers::GlobalPoolingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("data_format", o.data_format);
    f("keepdims", o.keepdims);
  }
};

class GlobalPoolingLayer : public LayerImpl {
 public:
  GlobalPoolingLayer(PoolingKind kind, int axes, const layers::GlobalPoolingOptions& o)
      : LayerImpl(format("Global{}Pooling{}D", kind == PoolingKind::max ? "Max" : "Average", axes),
                  common(o)),
        kind_(kind),
        o_(o),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    o_.data_format = data_format_name(channels_first_);
    input_spec.ndim = axes + 2;
    for (int i = 0; i < axes; ++i) over_.push_back(i + (channels_first_ ? 2 : 1));
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (kind_ == PoolingKind::max) return reduce_max(x, over_, {.keepdims = o_.keepdims});
    if (over_.size() == 1 && context.mask.defined()) return masked_mean(x, context.mask);
    return reduce_mean(x, over_, {.keepdims = o_.keepdims});
  }
  // The steps that each row of a ragged tensor has.
  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    if (inputs.composite_kind() != "ragged") return LayerImpl::call_nest(inputs, context);
    const RaggedTensor x = inputs.as_ragged();
    RILL_CHECK(over_.size() == 1 && !channels_first_ && x.ragged_rank() == 1, invalid_argument,
               "[{}] the input is ragged, of shape {}; expected [batch, (steps), features]", name(),
               x.shape());
    const ReduceOptions keep{.keepdims = o_.keepdims};
    const Tensor y = kind_ == PoolingKind::max ? reduce_max(x, 1, keep) : reduce_mean(x, 1, keep);
    Dims known{x.shape().dim(0)};  // a drawing has to know it
    if (o_.keepdims) known.push_back(1);
    for (int i = 2; i < x.shape().rank(); ++i) known.push_back(x.shape().dim(i));
    y.set_shape(TensorShape(known));
    return Nest(y);
  }
  // There are no steps left that a mask could speak of.
  Tensor compute_mask(const Nest&, const Tensor&) override { return {}; }
  void add_config(Config& c) const override { write_fields<GlobalPoolingFields>(o_, c); }

 private:
  Tensor masked_mean(const Tensor& x, const Tensor& mask) const {
    const Tensor counts = expand_dims(cast(mask, x.dtype()), channels_first_ ? 1 : 2);
    return reduce_sum(x * counts, over_, {.keepdims = o_.keepdims}) /
           reduce_sum(counts, over_, {.keepdims = o_.keepdims});
  }
  PoolingKind kind_;
  layers::GlobalPoolingOptions o_;
  bool channels_first_;
  std::vector<int> over_;  // axes of the image
};

template <PoolingKind kind, int axes>
using RegisterGlobal = RegisterFields<GlobalPoolingFields, layers::GlobalPooling<kind, axes>>;
const RegisterGlobal<PoolingKind::max, 1> global_max1("GlobalMaxPooling1D");
const RegisterGlobal<PoolingKind::max, 2> global_max2("GlobalMaxPooling2D");
const RegisterGlobal<PoolingKind::max, 3> global_max3("GlobalMaxPooling3D");
const RegisterGlobal<PoolingKind::average, 1> global_average1("GlobalAveragePooling1D");
const RegisterGlobal<PoolingKind::average, 2> global_average2("GlobalAveragePooling2D");
const RegisterGlobal<PoolingKind::average, 3> global_average3("GlobalAveragePooling3D");

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
