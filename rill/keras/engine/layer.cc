#include "rill/keras/engine/layer.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/engine/weight_source.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

// ---- the handle
Layer::Layer() : impl_(new LayerImpl("")) {}
Layer::Layer(LayerOptions options) : impl_(new LayerImpl("", std::move(options))) {}
Layer::Layer(Ref<LayerImpl> impl) : impl_(std::move(impl)), handle_(true) {
  object_ = impl_->users.held.lock();
}
Layer::Layer(LayerImpl* impl, const std::type_info& type, const std::type_info& base,
             layer_copies::CopyHandle copy)
    : impl_(impl) {
  impl_->copy_handle = copy;
  impl_->library_class = &type;
  impl_->library_base = &base;
}
Layer::~Layer() { LayerObjects::forget_live(*this); }
Layer::Layer(const Layer& o)
    : std::enable_shared_from_this<Layer>(),
      impl_(o.impl_),
      object_(o.object_),
      handle_(o.handle_),
      bound_(o.bound_) {
  LayerObjects::note_copied(o, *this);
}
// A handle that was moved from stays one on its layer, as names do in Python.
Layer::Layer(Layer&& o) noexcept : Layer(std::as_const(o)) { LayerObjects::note_moved(o, *this); }
Layer& Layer::operator=(const Layer& o) {
  if (this == &o) return *this;
  LayerObjects::forget_live(*this);
  impl_ = o.impl_;
  object_ = o.object_;
  handle_ = o.handle_;
  bound_ = o.bound_;
  LayerObjects::note_copied(o, *this);
  return *this;
}
Layer& Layer::operator=(Layer&& o) noexcept {
  *this = std::as_const(o);
  LayerObjects::note_moved(o, *this);
  return *this;
}

LayerOptions LayerOptions::from_config(const Config& c) {
  LayerOptions o;
  if (c.contains("batch_input_shape")) o.batch_input_shape = c["batch_input_shape"].as_shape();
  o.name = c.get("name", "");
  o.trainable = c.get("trainable", true);
  const Config& dtype = c.get("dtype");
  if (dtype.is_text()) o.dtype = DTypePolicy(dtype.as_string());
  if (dtype.is_dict()) o.dtype = DTypePolicy(dtype["config"]["name"].as_string());
  return o;
}

Tensor result_of(const Layer& layer, const Nest& out) {
  if (out.is_tensor()) return out.as_tensor();
  return make_several(out, format("the layer \"{}\" ({})", layer.name(), layer.class_name()));
}
Tensor Layer::operator()(const Operand& x, CallOptions options) const {
  return result_of(*this, apply(Nest(to_tensor(x)), std::move(options)));
}
Tensor Layer::operator()(std::initializer_list<Tensor> xs, CallOptions options) const {
  return result_of(*this, apply(Nest(std::vector<Tensor>(xs)), std::move(options)));
}
Nest Layer::apply(const Nest& inputs, CallOptions options) const {
  return LayerCalls::apply(*this, inputs, std::move(options));
}

void Layer::build(const TensorShape& input_shape) {
  if (Layer* object = LayerObjects::other_object(*this)) return object->build(input_shape);
  if (!impl_->build_under_way) LayerCalls::build_by_hand(*this, {input_shape});
}
void Layer::build_all(const std::vector<TensorShape>& shapes) {
  if (Layer* object = LayerObjects::other_object(*this)) return object->build_all(shapes);
  if (!impl_->build_under_way && !LayerObjects::is_users_class(*this))
    return LayerCalls::build_by_hand(*this, shapes);
  impl_->build(shapes);
  build(shapes.empty() ? TensorShape() : shapes[0]);
}
std::string Layer::run_time_class() const { return {}; }

namespace {

// Weights of which only dtype and shape are asked for.
class WeightsWithoutValues : public WeightSource {
  Variable weight(std::string_view, const TensorShape& shape, const AddWeightOptions& o) override {
    return Variable::uninitialized(o.dtype, shape, {.trainable = o.trainable});
  }
};

// What a layer of the library that is not built would give: found from another one of its
// configuration, so that it stays free for any input. Unknown where that cannot be made.
TensorShape output_shape_before_build(const Layer& layer, const TensorShape& input_shape) {
  if (layer.impl().is_model()) return layer.impl().output_shape_of_layers(input_shape);
  try {
    const WeightsWithoutValues none;
    const LayerRef other = layers::deserialize(layers::serialize(layer));
    {
      const EagerScope eager;
      LayerCalls::build(*other, {input_shape});
    }
    return other->compute_output_shape(input_shape);
  } catch (const errors::Error&) {
    return {};  // the layer itself says what is wrong
  }
}

}  // namespace

TensorShape Layer::compute_output_shape(const TensorShape& input_shape) {
  if (Layer* object = LayerObjects::other_object(*this))
    return object->compute_output_shape(input_shape);
  if (!impl_->built && impl_->of_library && !LayerObjects::is_users_class(*this))
    if (TensorShape s = output_shape_before_build(*this, input_shape); s.has_rank()) return s;
  Ref<Graph> g(new Graph("compute_output_shape"));
  const TracingScope scope(*g);
  const CallResultsScope aside(*impl_);
  const Tensor x =
      g->tensor({&g->add_argument("x", impl_->policy.compute_dtype(), input_shape), 0});
  return LayerCalls::run(*this, x, {}).flatten().at(0).shape();
}
Tensor Layer::compute_mask(const Nest& inputs, const Tensor& mask) {
  if (Layer* object = LayerObjects::other_object(*this)) return object->compute_mask(inputs, mask);
  return impl_->compute_mask(inputs, mask);
}
Config Layer::get_config() const {
  if (Layer* object = LayerObjects::other_object(*this)) return object->get_config();
  LayerObjects::introduce(*this);
  // What a file would hold of it is the graph of layers, and that is not what it computes.
  RILL_CHECK(!impl_->users.own_call || !impl_->is_model() || !registered_class(*impl_).empty(),
             unimplemented,
             "[{}] the class {} is made of inputs and outputs or a stack of layers, but computes "
             "by its own call, which a configuration cannot hold. Register the class with {}, or "
             "save its weights with save_weights or a tf::train::Checkpoint",
             impl_->name(), users_class_name(*impl_), registering_call(users_class_name(*impl_)));
  Config c = Config::dict({{"name", impl_->name()}, {"trainable", impl_->trainable}});
  c.set("dtype", impl_->policy.name());
  if (impl_->batch_input_shape.has_rank()) c.set("batch_input_shape", impl_->batch_input_shape);
  impl_->add_config(c);
  return c;
}

std::string Layer::name() const {
  LayerObjects::introduce(*this);
  return impl_->name();
}
std::string Layer::class_name() const {
  LayerObjects::introduce(*this);
  return impl_->class_name();
}
bool Layer::built() const { return impl_->built; }
bool Layer::trainable() const { return impl_->trains_in_call(); }
void Layer::set_trainable(bool yes) { impl_->set_trainable(yes); }
DType Layer::dtype() const { return impl_->policy.variable_dtype(); }
DType Layer::compute_dtype() const { return impl_->policy.compute_dtype(); }
bool Layer::stateful() const { return impl_->stateful; }
void Layer::reset_states() { impl_->reset_states(); }

Variable Layer::weight_named(std::string_view wanted) const {
  std::vector<std::string> names;
  for (const Variable& v : weights()) {
    const std::string full = v.name();
    std::string own = full.substr(0, full.rfind(':'));
    own = own.substr(own.rfind('/') == std::string::npos ? 0 : own.rfind('/') + 1);
    if (own == wanted) return v;
    names.push_back(std::move(own));
  }
  RILL_CHECK(built(), failed_precondition,
             "[{}] the layer has no \"{}\" before it is built. Call it on data first", name(),
             wanted);
  RILL_FAIL(not_found, "[{}] the layer has no weight \"{}\".{}", name(), wanted,
            did_you_mean(wanted, names));
}
std::vector<Variable> Layer::weights() const { return impl_->weights(LayerImpl::Which::all); }
std::vector<Variable> Layer::trainable_variables() const {
  return impl_->weights(LayerImpl::Which::trainable);
}
std::vector<Variable> Layer::non_trainable_variables() const {
  return impl_->weights(LayerImpl::Which::non_trainable);
}
std::int64_t Layer::count_params() const {
  const std::vector<Variable> all = weights();
  RILL_CHECK(impl_->built || !all.empty(), failed_precondition,
             "[{}] count_params: the layer has no weights before it is built. Call it on data, or "
             "call build",
             name());
  std::int64_t n = 0;
  for (const Variable& v : all) n += v.shape().num_elements();
  return n;
}
std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& v : weights()) values.push_back(v.value());
  return values;
}
void Layer::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Variable> all = weights();
  RILL_CHECK(values.size() == all.size(), invalid_argument,
             "[{}] set_weights: got {} values; the layer has {} weights{}", name(), values.size(),
             all.size(), impl_->built ? "" : " (it is not built yet: call it on data first)");
  std::vector<Tensor> cast_values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    RILL_CHECK(values[i].shape() == all[i].shape(), invalid_argument,
               "[{}] set_weights: value {} has shape {}; weight \"{}\" has {}", name(), i,
               values[i].shape(), all[i].name(), all[i].shape());
    cast_values.push_back(values[i].dtype() == all[i].dtype() ? values[i]
                                                              : cast(values[i], all[i].dtype()));
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].assign(cast_values[i]);
}
std::vector<Tensor> Layer::losses() const { return impl_->losses(); }
std::vector<Layer> Layer::sublayers() const {
  std::vector<Layer> list;
  for (const Ref<LayerImpl>& c : impl_->children) list.push_back(LayerHandle(c));
  return list;
}

Ref<TrackableNode> Layer::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}

namespace {
// The program has run the build of its class itself, and that gave the name to a member.
bool made_by_hand(const LayerImpl& l, std::string_view name) {
  if (!l.build_under_way) return false;
  for (std::size_t i = 0; i < l.build_under_way->edges; ++i)
    if (l.edges()[i].name == name) return true;
  return false;
}
// A copy learns its members: they become what the first one made.
bool learns_members(const LayerImpl& l) { return l.build_under_way && l.build_under_way->again; }
[[noreturn]] void fail_name_taken(const Layer& layer, std::string_view name) {
  RILL_FAIL(invalid_argument,
            "[{}] track: another member is already known as \"{}\"; files could hold only one of "
            "them. Give each its own name",
            layer.name(), name);
}
}  // namespace

void Layer::track_one(std::string_view name, Layer& layer) {
  if (learns_members(*impl_))
    if (auto* known = dynamic_cast<LayerImpl*>(impl_->child(name))) {
      layer.impl_ = share(*known);
      return;
    }
  if (TrackableNode* known = impl_->child(name); known && known != layer.impl_.get()) {
    auto* made = dynamic_cast<LayerImpl*>(known);
    if (!made || !made_by_hand(*impl_, name)) fail_name_taken(*this, name);
    layer.impl_ = share(*made);
    return;
  }
  impl_->track_layer(name, layer.impl_);
}
void Layer::track(std::string_view name, Variable& v) {
  for (const Weight& w : impl_->own)
    if (w.name == name) {
      if (learns_members(*impl_) || made_by_hand(*impl_, name)) v = w.variable;
      if (w.variable.id() != v.id()) fail_name_taken(*this, name);
      return;
    }
  if (impl_->child(name)) fail_name_taken(*this, name);
  impl_->own.push_back({std::string(name), v, v.trainable()});
  impl_->track_variable(name, v);
}
void Layer::track_metric(std::string_view name, const MetricRef& metric) {
  const Ref<TrackableNode> node = metric->trackable();
  if (TrackableNode* known = impl_->child(name)) {
    if (known != node.get() && !learns_members(*impl_)) fail_name_taken(*this, name);
    return;
  }
  impl_->metrics.push_back(metric);
  impl_->track(name, node);
}
void Layer::track(std::string_view name, const std::vector<LayerRef>& list) {
  std::vector<Layer*> layers;
  for (const LayerRef& layer : list) layers.push_back(&*layer);
  track_all(name, layers, {});
}
void Layer::track_all(std::string_view name, const std::vector<Layer*>& layers,
                      const std::vector<std::string>& keys) {
  const auto key = [&](std::size_t i) { return keys.empty() ? std::to_string(i) : keys[i]; };
  auto* before = dynamic_cast<LayerList*>(impl_->child(name));
  if (!before && impl_->child(name)) fail_name_taken(*this, name);
  if (before && learns_members(*impl_)) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (auto* known = dynamic_cast<LayerImpl*>(before->child(key(i))))
        layers[i]->impl_ = share(*known);
    return;
  }
  if (before)
    for (const TrackableNode::Edge& e : before->edges())
      std::erase_if(impl_->children,
                    [&](const Ref<LayerImpl>& c) { return c.get() == e.child.get(); });
  std::vector<Ref<LayerImpl>> list;
  for (Layer* layer : layers) list.push_back(layer->impl_);
  impl_->track_list(name, list, keys);
}
Variable Layer::add_weight(std::string_view name, const TensorShape& shape,
                           const Initializer& initializer) {
  return add_weight(name, shape, AddWeightOptions{.initializer = initializer});
}
Variable Layer::add_weight(std::string_view name, const TensorShape& shape, AddWeightOptions o) {
  LayerObjects::introduce(*this);
  return impl_->add_weight(name, shape, std::move(o));
}
void Layer::add_loss(const Tensor& loss) const { impl_->add_call_loss(loss); }
void Layer::add_metric(const Tensor& value, std::string_view name) const {
  impl_->add_call_metric(value, name);
}
void Layer::set_supports_masking(bool yes) { impl_->supports_masking = yes; }

}  // namespace rill::keras
