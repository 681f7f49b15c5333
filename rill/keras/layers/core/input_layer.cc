#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/input_layer_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

TensorShape with_batch(const TensorShape& shape, std::int64_t batch) {
  RILL_CHECK(shape.has_rank(), invalid_argument,
             "[Input] the shape is not given; expected that of one sample, as {{32}}, or {{}} for "
             "scalars");
  TensorShape s = TensorShape::scalar();
  s.push_back(batch);
  for (int i = 0; i < shape.rank(); ++i) s.push_back(shape.dim(i));
  return s;
}

const RegisterLayer registered_input_layer("InputLayer", [](const Config& c) -> LayerRef {
  // Keras 2 says batch_input_shape, Keras 3 batch_shape.
  const TensorShape batched =
      c.get(c.contains("batch_shape") ? "batch_shape" : "batch_input_shape").as_shape();
  RILL_CHECK(batched.has_rank() && batched.rank() > 0, invalid_argument,
             "[InputLayer] the configuration has no shape");
  TensorShape one = TensorShape::scalar();
  for (int i = 1; i < batched.rank(); ++i) one.push_back(batched.dim(i));
  const Config& dtype = c.get("dtype");
  return layers::InputLayer(
      {.input_shape = one,
       .batch_size = batched.dim(0),
       .dtype = dtype.is_text() ? DType::from_name(dtype.as_string()) : float32,
       .name = c.get("name", "")});
});
const RegisterChangeForKeras3 input_for_keras3("InputLayer", [](Config& c) {
  if (c.contains("batch_input_shape")) c.set("batch_shape", Config(c["batch_input_shape"]));
});

}  // namespace

InputLayerImpl::InputLayerImpl(const layers::InputLayerOptions& o)
    : LayerImpl("InputLayer", {.batch_input_shape = with_batch(o.input_shape, o.batch_size),
                               // Numbered from 1: "input_1".
                               .name = o.name.empty() ? next_input_name() : o.name,
                               .dtype = o.dtype.defined() ? o.dtype : backend::floatx()}) {
  built = true;
  autocast = false;
}
std::string InputLayerImpl::next_input_name() {
  std::string n = unique_layer_name("input");
  return n == "input" ? unique_layer_name("input") : n;
}
Tensor InputLayerImpl::symbol() {
  if (inbound.empty()) {
    auto* n = new KerasNode;
    n->layer = share(*this);
    n->specs = {{policy.variable_dtype(), batch_input_shape}};
    n->outputs = Nest(constant(0));
    inbound.push_back(n);
    return symbolic_outputs(Ref<KerasNode>(n)).as_tensor();
  }
  retain(inbound[0]);
  return symbolic_outputs(Ref<KerasNode>(inbound[0])).as_tensor();
}
Config InputLayerImpl::config() const {
  return Config::dict({{"batch_input_shape", batch_input_shape},
                       {"dtype", policy.name()},
                       {"sparse", false},
                       {"ragged", false},
                       {"name", name()}});
}
void InputLayerImpl::add_config(Config& c) const { c = config(); }

layers::InputLayer::InputLayer(InputLayerOptions o) : Layer(this, new InputLayerImpl(o)) {}

LayerRef::LayerRef(const Tensor& input) {
  const KerasSymbol* s = keras_symbol(input);
  RILL_CHECK(s && s->node->is_input(), invalid_argument,
             "[Sequential] got a tensor; expected a layer, or what keras::Input gives");
  layer_ = std::make_shared<LayerHandle>(share(*s->node->layer));
}

Tensor Input(const TensorShape& shape, InputOptions o) {
  const Ref<LayerImpl> layer(
      new InputLayerImpl({.input_shape = shape.has_rank() ? shape : TensorShape::scalar(),
                          .batch_size = o.batch_size,
                          .dtype = o.dtype,
                          .name = std::move(o.name)}));
  return static_cast<InputLayerImpl&>(*layer).symbol();
}

}  // namespace rill::keras
