#include <algorithm>

#include "rill/base/check.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/input_layer_impl.h"
#include "rill/keras/models/model_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

SequentialImpl::SequentialImpl(std::string name)
    : ModelImpl("Sequential", {.name = std::move(name)}) {
  autocast = false;
}

SequentialImpl::~SequentialImpl() {
  for (const LayerRef& l : layers_) std::erase(l->impl().stacks, this);
}

static bool contains(const LayerImpl& l, const LayerImpl& wanted) {
  return &l == &wanted || std::any_of(l.children.begin(), l.children.end(),
                                      [&](const auto& c) { return contains(*c, wanted); });
}

void SequentialImpl::add(LayerRef layer) {
  LayerObjects::introduce(*layer);  // names are given in the order of the stack
  RILL_CHECK(!contains(layer->impl(), *this), invalid_argument,
             "[{}] add: {} is the model itself, or holds it; a model cannot be a layer of itself",
             name(), layer->name());
  for (const LayerRef& l : layers_)
    RILL_CHECK(l->name() != layer->name() || &l->impl() == &layer->impl(), invalid_argument,
               "[{}] all layers added to a Sequential model should have unique names; \"{}\" is "
               "already the name of a layer in this model. Give one of them another name",
               name(), layer->name());
  if (auto* input = dynamic_cast<InputLayerImpl*>(&layer->impl())) {
    RILL_CHECK(layers_.empty() && !input_layer_.defined(), invalid_argument,
               "[{}] an InputLayer must come first", name());
    input_layer_ = layer;
    known_input_shape_ = input->batch_input_shape;
    input_dtype_ = input->policy.variable_dtype();
    return;
  }
  const Ref<LayerImpl> impl = LayerObjects::impl_of(*layer);
  const Known before{known_input_shape_, input_dtype_, built, built_for};
  // A first layer that knows its input makes the model known; so does a model.
  if (layers_.empty() && !input_layer_.defined() && impl->batch_input_shape.has_rank()) {
    known_input_shape_ = impl->batch_input_shape;
    input_dtype_ = impl->policy.compute_dtype();
  } else if (layers_.empty() && !input_layer_.defined() && impl->is_model()) {
    if (const auto in = static_cast<ModelImpl&>(*impl).inputs(); in.size() == 1) {
      known_input_shape_ = in[0].shape();
      input_dtype_ = in[0].dtype();
    }
  }
  layers_.push_back(std::move(layer));
  forget_drawing();
  built = false;
  try {
    // Weights that are made now are known by "layer_with_weights-N" first, as in Keras's files.
    if (known_input_shape_.has_rank()) {
      build_for(known_input_shape_, input_dtype_);
    } else if (before.built && !built_for.empty()) {
      build_for(built_for[0], input_dtype_);
    }
  } catch (...) {
    layers_.pop_back();
    known_input_shape_ = before.input_shape;
    input_dtype_ = before.input_dtype;
    built = before.built;
    built_for = before.built_for;
    throw;
  }
  impl->stacks.push_back(this);
  track_layer(format("layer-{}", layers_.size() - 1), impl);
}

// What was made of the layers that there were: symbolic tensors, and planned steps.
void SequentialImpl::forget_drawing() {
  inputs_.clear(), outputs_.clear();
  for (Trainer* t : {trainer.get(), predictor.get()})
    if (t) forget_functions(*t);
}

void SequentialImpl::pop() {
  RILL_CHECK(!layers_.empty(), failed_precondition, "[{}] there are no layers in the model to pop",
             name());
  const Ref<LayerImpl> gone = LayerObjects::impl_of(*layers_.back());
  layers_.pop_back();
  const bool still_there = std::any_of(layers_.begin(), layers_.end(),
                                       [&](const LayerRef& l) { return &l->impl() == gone.get(); });
  if (!still_there) std::erase(children, gone);
  if (const auto at = std::find(gone->stacks.begin(), gone->stacks.end(), this);
      at != gone->stacks.end())
    gone->stacks.erase(at);
  // Its names in checkpoints, the last of both kinds, go with it.
  untrack(format("layer-{}", layers_.size()));
  untrack(format("layer_with_weights-{}",
                 std::count_if(layers_.begin(), layers_.end(),
                               [](const LayerRef& l) { return counts_as_weighted(l->impl()); })));
  forget_drawing();
  if (!layers_.empty()) return;
  // Nothing says any more what the model takes.
  known_input_shape_ = TensorShape();
  input_dtype_ = DType();
  input_layer_ = LayerRef();
  built = false;
  built_for.clear();
}

const InputLayerImpl* SequentialImpl::given_input() const {
  return input_layer_.defined() ? static_cast<const InputLayerImpl*>(&input_layer_->impl())
                                : nullptr;
}

void SequentialImpl::build_for(const TensorShape& shape, DType dtype) {
  const EagerScope eager;
  const NameStackReset names;
  const Ref<Graph> g(new Graph(name()));
  const TracingScope tracing(*g);
  TensorShape any_batch = shape;
  if (any_batch.rank() > 0 && !input_layer_.defined()) any_batch.set_dim(0, -1);
  const InputLayerImpl* input = given_input();
  Nest x = input && (input->is_ragged() || input->is_sparse())
               ? input->argument(*g)
               : Nest(g->tensor(
                     {&g->add_argument("x", dtype.defined() ? dtype : float32, any_batch), 0}));
  {
    CallResultsScope aside(*this);
    if (!layers_.empty())
      aside.add(layers_.back()->impl());  // no child yet, where it is being added
    for (const LayerRef& l : layers_) x = l->apply(x);
  }
  // Edges as Keras names them: every layer, and those with weights again, counted apart.
  int with_weights = 0;
  for (const LayerRef& l : layers_)
    if (counts_as_weighted(l->impl()))
      track_layer(format("layer_with_weights-{}", with_weights++), share(l->impl()));
  built = true;
  built_for = {shape};
  if (!input_dtype_.defined()) input_dtype_ = dtype;
}

void SequentialImpl::build(const std::vector<TensorShape>& shapes) {
  if (shapes.size() == 1 && shapes[0].has_rank() && !built)
    build_for(shapes[0], input_dtype_.defined() ? input_dtype_ : policy.compute_dtype());
}

// To a Reshape in front only the number of elements of a sample matters, as programs of TensorFlow
// 1 rely on; Keras 2.15 refuses it.
bool SequentialImpl::reshapes(const TensorShape& given) const {
  const auto elements = [](const TensorShape& s) {
    std::int64_t n = 1;
    for (int i = 1; i < s.rank(); ++i) n = s.dim(i) < 0 || n < 0 ? -1 : n * s.dim(i);
    return n;
  };
  return !layers_.empty() && layers_[0]->class_name() == "Reshape" && given.has_rank() &&
         elements(given) == elements(known_input_shape_);
}

Nest SequentialImpl::call_nest(const Nest& inputs, const CallContext&) {
  Nest x = inputs;
  // What a first call has built is no promise: another one may have other sizes.
  if (x.is_tensor() && known_input_shape_.has_rank() && !reshapes(x.as_tensor().shape()))
    check_input_shape(name(), 0, x.as_tensor().shape(), known_input_shape_);
  if (const TensorShape* want = known_input_shape_.has_rank() ? &known_input_shape_
                                : built_for.empty()           ? nullptr
                                                              : &built_for[0];
      want && x.is_tensor())
    x = fit_last_axis(x.as_tensor(), *want);
  for (const LayerRef& l : layers_) x = l->apply(x);
  if (x.is_tensor() && x.as_tensor().impl()->mask)
    last_mask_ = Tensor(x.as_tensor().impl()->mask);
  else
    last_mask_ = {};
  return x;
}
TensorShape SequentialImpl::output_shape_of_layers(const TensorShape& input_shape) const {
  TensorShape shape = input_shape;
  for (const LayerRef& l : layers_) shape = l->compute_output_shape(shape);
  return shape;
}
Tensor SequentialImpl::compute_mask(const Nest&, const Tensor&) {
  return std::exchange(last_mask_, Tensor());
}

// The symbolic tensors that Keras would have made when it built the model.
void SequentialImpl::draw() {
  if (!inputs_.empty()) return;
  const TensorShape shape = known_input_shape_.has_rank() ? known_input_shape_
                            : built_for.empty()           ? TensorShape()
                                                          : built_for[0];
  if (!shape.has_rank() || shape.rank() == 0) return;
  if (!input_layer_.defined()) {
    TensorShape one = TensorShape::scalar();
    for (int i = 1; i < shape.rank(); ++i) one.push_back(shape.dim(i));
    const std::string input_name = layers_.empty() ? "" : layers_[0]->name() + "_input";
    input_layer_ = layers::InputLayer(
        {.input_shape = one,
         .batch_size = known_input_shape_.has_rank() ? known_input_shape_.dim(0) : -1,
         .dtype = input_dtype_,
         .name = input_name});
  }
  const CallResultsScope aside(*this);
  const Nest in = static_cast<InputLayerImpl&>(input_layer_->impl()).symbol();
  Nest x = in;
  for (const LayerRef& l : layers_) x = l->apply(x);
  inputs_ = in.flatten();
  outputs_ = x.flatten();
}
std::vector<Tensor> SequentialImpl::inputs() {
  draw();
  return inputs_;
}
std::vector<Tensor> SequentialImpl::outputs() {
  draw();
  return outputs_;
}

void SequentialImpl::add_config(Config& c) const {
  Config list = Config::list();
  const TensorShape& shape = known_input_shape_.has_rank() ? known_input_shape_
                             : built_for.empty()           ? known_input_shape_
                                                           : built_for[0];
  TensorShape batch = shape;
  if (batch.has_rank() && batch.rank() > 0) {
    if (!known_input_shape_.has_rank()) batch.set_dim(0, -1);
    Config input =
        Config::dict({{"batch_input_shape", batch},
                      {"dtype", input_dtype_.defined() ? input_dtype_.name() : "float32"},
                      {"sparse", given_input() && given_input()->is_sparse()},
                      {"ragged", given_input() && given_input()->is_ragged()}});
    input.set("name", input_layer_.defined() ? input_layer_->name()
                      : layers_.empty()      ? name() + "_input"
                                             : layers_[0]->name() + "_input");
    list.push_back(Config::dict({{"class_name", "InputLayer"}, {"config", input}}));
  }
  for (const LayerRef& l : layers_) list.push_back(layers::serialize(*l));
  c = Config::dict({{"name", name()}, {"layers", list}});
}

}  // namespace rill::keras
