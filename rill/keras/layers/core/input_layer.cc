#include "rill/base/check.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/input_layer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

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

int last_open_axis(const TensorShape& shape) {
  for (int i = shape.rank() - 1; i > 0; --i)
    if (shape.dim(i) < 0) return i;
  return 0;
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
       .name = c.get("name", ""),
       .sparse = c.get("sparse", false),
       .ragged = c.get("ragged", false)});
});
const RegisterChangeForKeras3 input_for_keras3("InputLayer", [](Config& c) {
  if (c.contains("batch_input_shape")) c.set("batch_shape", Config(c["batch_input_shape"]));
});

}  // namespace

InputLayerImpl::InputLayerImpl(const layers::InputLayerOptions& o)
    : LayerImpl("InputLayer", {.batch_input_shape = with_batch(o.input_shape, o.batch_size),
                               // Numbered from 1: "input_1".
                               .name = o.name.empty() ? next_input_name() : o.name,
                               .dtype = o.dtype.defined() ? o.dtype : backend::floatx()}),
      sparse_(o.sparse),
      ragged_(o.ragged) {
  RILL_CHECK(!sparse_ || !ragged_, invalid_argument,
             "[Input] an input is sparse or ragged; got both");
  RILL_CHECK(!ragged_ || last_open_axis(batch_input_shape) > 0, invalid_argument,
             "[Input] the ragged input has shape {}; expected None where rows differ, as {{None}}",
             o.input_shape);
  built = true;
  autocast = false;
}
std::string InputLayerImpl::next_input_name() {
  std::string n = unique_layer_name("input");
  return n == "input" ? unique_layer_name("input") : n;
}
Nest InputLayerImpl::argument(Graph& g) const {
  const DType dtype = policy.variable_dtype();
  const TensorShape& shape = batch_input_shape;
  const auto made = [&](DType of, const Dims& sizes) {  // -1: any
    return g.tensor({&g.add_argument("x", of, TensorShape(sizes)), 0});
  };
  if (sparse_)
    return Nest(SparseTensor(made(int64, {-1, shape.rank()}), made(dtype, {-1}),
                             with_sizes(made(int64, {shape.rank()}), shape)));
  if (!ragged_) return Nest(made(dtype, shape.dims()));
  const int ragged = last_open_axis(shape);
  std::vector<Tensor> splits;
  for (int i = 0; i < ragged; ++i) {
    const std::int64_t rows = i == 0 ? shape.dim(0) : -1;
    splits.push_back(made(int64, {rows < 0 ? -1 : rows + 1}));
  }
  Dims values{-1};
  for (int i = ragged + 1; i < shape.rank(); ++i) values.push_back(shape.dim(i));
  return Nest(RaggedTensor::from_nested_row_splits(made(dtype, values), splits, false));
}
Nest InputLayerImpl::symbol() {
  if (inbound.empty()) {
    auto* n = new KerasNode;
    n->layer = share(*this);
    {
      const Ref<Graph> g(new Graph(name()));
      const TracingScope tracing(*g);
      n->specs = specs_of(argument(*g), &n->outputs);
    }
    inbound.push_back(n);
    return symbolic_outputs(Ref<KerasNode>(n));
  }
  retain(inbound[0]);
  return symbolic_outputs(Ref<KerasNode>(inbound[0]));
}
Config InputLayerImpl::config() const {
  return Config::dict({{"batch_input_shape", batch_input_shape},
                       {"dtype", policy.name()},
                       {"sparse", sparse_},
                       {"ragged", ragged_},
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

namespace {
template <class Options>
Nest symbol_of(const TensorShape& shape, Options o, bool sparse, bool ragged) {
  const Ref<LayerImpl> layer(
      new InputLayerImpl({.input_shape = shape.has_rank() ? shape : TensorShape::scalar(),
                          .batch_size = o.batch_size,
                          .dtype = o.dtype,
                          .name = std::move(o.name),
                          .sparse = sparse,
                          .ragged = ragged}));
  return static_cast<InputLayerImpl&>(*layer).symbol();
}
}  // namespace

SaidTrue::SaidTrue(bool yes) {
  RILL_CHECK(yes, invalid_argument,
             "[Input] .ragged or .sparse is false; leave it out for a dense input");
}
Tensor Input(const TensorShape& shape, InputOptions o) {
  return symbol_of(shape, std::move(o), false, false).as_tensor();
}
RaggedTensor Input(const TensorShape& shape, RaggedInputOptions o) {
  return symbol_of(shape, std::move(o), false, true).as_ragged();
}
SparseTensor Input(const TensorShape& shape, SparseInputOptions o) {
  return symbol_of(shape, std::move(o), true, false).as_sparse();
}

}  // namespace rill::keras
