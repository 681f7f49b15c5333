#include "rill/keras/layer.h"

#include <algorithm>
#include <cstring>
#include <typeinfo>
#include <utility>

#include "rill/base/check.h"
#include "rill/graph/graph.h"
#include "rill/graph/name_scope.h"
#include "rill/keras/call_site_impl.h"
#include "rill/keras/class_name_impl.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/name_stack_impl.h"
#include "rill/keras/running_call_impl.h"
#include "rill/keras/symbolic_impl.h"
#include "rill/keras/weight_source.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

// ---- the handle
Layer::Layer() : impl_(new LayerImpl("")) {}
Layer::Layer(LayerOptions options) : impl_(new LayerImpl("", std::move(options))) {}
Layer::Layer(Ref<LayerImpl> impl) : impl_(std::move(impl)) {}
Layer::Layer(LayerImpl* impl) : impl_(impl) {}
Layer::~Layer() = default;
Layer::Layer(const Layer&) = default;
// A handle that was moved from stays one on its layer, as names do in Python.
Layer::Layer(Layer&& o) noexcept : impl_(o.impl_), bound_(o.bound_) {}
Layer& Layer::operator=(const Layer&) = default;
Layer& Layer::operator=(Layer&& o) noexcept { return *this = std::as_const(o); }

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

namespace {
Tensor only_result(const Layer& layer, const Nest& out) {
  RILL_CHECK(out.is_tensor(), invalid_argument,
             "[{}] the {} gives {} results, {}; a call of it gives one tensor. Call "
             "layer.apply(x), whose Nest holds them all",
             layer.name(), layer.class_name(), out.flatten().size(), out.to_string());
  return out.as_tensor();
}
}  // namespace
Tensor Layer::operator()(const Operand& x, CallOptions options) const {
  return only_result(*this, apply(Nest(to_tensor(x)), std::move(options)));
}
Tensor Layer::operator()(std::initializer_list<Tensor> xs, CallOptions options) const {
  return only_result(*this, apply(Nest(std::vector<Tensor>(xs)), std::move(options)));
}
Nest Layer::apply(const Nest& inputs, CallOptions options) const {
  return CallMachinery::apply(*this, inputs, std::move(options));
}

void Layer::build(const TensorShape& input_shape) {
  if (!impl_->building) CallMachinery::build_by_hand(*this, {input_shape});
}
void Layer::build_all(const std::vector<TensorShape>& shapes) {
  if (!impl_->building && !CallMachinery::is_users_class(*this))
    return CallMachinery::build_by_hand(*this, shapes);
  impl_->build(shapes);
  build(shapes.empty() ? TensorShape() : shapes[0]);
}
namespace {

// The call of a user's class that runs, and what its base gave in it. A class that derives from
// one of the library may leave the call to that, which then gives any structure.
class UsersCall {
 public:
  explicit UsersCall(const LayerImpl& layer) : layer_(layer), before_(std::exchange(now_, this)) {}
  ~UsersCall() { now_ = before_; }
  UsersCall(const UsersCall&) = delete;
  static UsersCall* of(const LayerImpl& layer) {
    return now_ && &now_->layer_ == &layer ? now_ : nullptr;
  }
  // That is what the base gave.
  bool is_from_base(const Nest& out) const {
    const std::vector<Tensor> a = out.flatten(), b = from_base.flatten();
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Tensor& x, const Tensor& y) { return x.impl() == y.impl(); });
  }
  Nest from_base;  // empty: it was not asked

 private:
  static thread_local UsersCall* now_;
  const LayerImpl& layer_;
  UsersCall* before_;
};
thread_local UsersCall* UsersCall::now_ = nullptr;

}  // namespace

Tensor Layer::call(const Tensor& x, const CallContext& context) {
  const Nest out = impl_->call_nest(x, context);
  UsersCall* const users = UsersCall::of(*impl_);
  if (users) users->from_base = out;
  RILL_CHECK(out.is_tensor() || users, invalid_argument,
             "[{}] call: the class {} gives {} results; use call_nest", name(), class_name(),
             out.flatten().size());
  return out.is_tensor() ? out.as_tensor() : out.flatten().at(0);
}
Nest Layer::call_nest(const Nest& inputs, const CallContext& context) {
  UsersCall* const users = UsersCall::of(*impl_);
  if (inputs.is_tensor() && CallMachinery::is_users_class(*this)) {
    const Tensor y = call(inputs.as_tensor(), context);
    if (!users) return y;
    const Nest& from_base = users->from_base;
    if (from_base.is_tensor() || from_base.size() == 0) return y;
    RILL_CHECK(y.impl() == from_base.flatten().at(0).impl(), invalid_argument,
               "[{}] call: the class that {} derives from gives {} results, of which call has but "
               "the first; override call_nest instead",
               name(), class_name_of(typeid(*this)), from_base.flatten().size());
    return from_base;
  }
  const Nest out = impl_->call_nest(inputs, context);  // or an error that says what to override
  if (users) users->from_base = out;
  return out;
}
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
      CallMachinery::build(*other, {input_shape});
    }
    return other->compute_output_shape(input_shape);
  } catch (const errors::Error&) {
    return {};  // the layer itself says what is wrong
  }
}

}  // namespace

TensorShape Layer::compute_output_shape(const TensorShape& input_shape) {
  if (!impl_->built && impl_->of_library && !CallMachinery::is_users_class(*this))
    if (TensorShape s = output_shape_before_build(*this, input_shape); s.has_rank()) return s;
  Ref<Graph> g(new Graph("compute_output_shape"));
  const TracingScope scope(*g);
  const CallResultsAside aside(*impl_);
  const Tensor x =
      g->tensor({&g->add_argument("x", impl_->policy.compute_dtype(), input_shape), 0});
  return CallMachinery::run(*this, x, {}).flatten().at(0).shape();
}
Tensor Layer::compute_mask(const Nest& inputs, const Tensor& mask) {
  return impl_->compute_mask(inputs, mask);
}
Config Layer::get_config() const {
  CallMachinery::ensure_name(*this);
  // What a file would hold of it is the graph of layers, and that is not what it computes.
  RILL_CHECK(!impl_->other_call || !impl_->is_model(), unimplemented,
             "[{}] the class {} is made of inputs and outputs or a stack of layers, but computes "
             "by its own call, which a configuration cannot hold. Save its weights with "
             "save_weights, or a tf::train::Checkpoint",
             impl_->name(), class_name_of(*impl_->users_class()));
  Config c = Config::dict({{"name", impl_->name()}, {"trainable", impl_->trainable}});
  c.set("dtype", impl_->policy.name());
  if (impl_->batch_input_shape.has_rank()) c.set("batch_input_shape", impl_->batch_input_shape);
  impl_->add_config(c);
  return c;
}

std::string Layer::name() const {
  CallMachinery::ensure_name(*this);
  return impl_->name();
}
std::string Layer::class_name() const {
  CallMachinery::ensure_name(*this);
  return impl_->class_name();
}
bool Layer::built() const { return impl_->built; }
bool Layer::trainable() const { return impl_->trains_in_call(); }
void Layer::set_trainable(bool yes) { impl_->set_trainable(yes); }
DType Layer::dtype() const { return impl_->policy.variable_dtype(); }
DType Layer::compute_dtype() const { return impl_->policy.compute_dtype(); }
bool Layer::stateful() const { return impl_->stateful; }
void Layer::reset_states() { impl_->reset_states(); }

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
  if (!l.building) return false;
  for (std::size_t i = 0; i < l.edges_by_hand; ++i)
    if (l.edges()[i].name == name) return true;
  return false;
}
[[noreturn]] void fail_name_taken(const Layer& layer, std::string_view name) {
  RILL_FAIL(invalid_argument,
            "[{}] track: another member is already known as \"{}\"; files could hold only one of "
            "them. Give each its own name",
            layer.name(), name);
}
}  // namespace

void Layer::track(std::string_view name, Layer& layer) {
  if (impl_->rebinding)
    if (auto* known = dynamic_cast<LayerImpl*>(impl_->child(name))) {
      layer.impl_ = share(*known);  // the member of a copy becomes what the first one made
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
      if (impl_->rebinding || made_by_hand(*impl_, name)) v = w.variable;
      if (w.variable.id() != v.id()) fail_name_taken(*this, name);
      return;
    }
  if (impl_->child(name)) fail_name_taken(*this, name);
  impl_->own.push_back({std::string(name), v, v.trainable()});
  impl_->track_variable(name, v);
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
  if (before && impl_->rebinding) {  // members of a copy become what the first one made
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
  CallMachinery::ensure_name(*this);
  return impl_->add_weight(name, shape, std::move(o));
}
void Layer::add_loss(const Tensor& loss) const { impl_->call_losses.push_back(loss); }
void Layer::add_metric(const Tensor& value, std::string_view name) const {
  impl_->call_metrics.push_back({std::string(name), value});
}
void Layer::set_supports_masking(bool yes) { impl_->supports_masking = yes; }

// ---- calling
bool CallMachinery::is_users_class(const Layer& layer) {
  // Everything of the library is in namespace rill; its facades have no behaviour of their own.
  const char* type = typeid(layer).name();
  return std::strncmp(type, "N4rill", 6) != 0 || std::strstr(type, "_GLOBAL__N_") != nullptr;
}

void CallMachinery::ensure_name(const Layer& layer) {
  LayerImpl& l = *layer.impl_;
  if (l.users_class()) return;
  if (const bool users = is_users_class(layer); users || !l.named() || l.class_name().empty())
    l.name_by_class(typeid(layer), users);
}

namespace {

void check_input(const LayerImpl& l, const Tensor& x, std::size_t i) {
  const InputSpec& s = l.input_spec;
  const TensorShape& shape = x.shape();
  if (!shape.has_rank() || (s.first_only && i > 0)) return;
  const int n = shape.rank();
  const auto fail = [&](const std::string& expected) {
    RILL_FAIL(invalid_argument,
              "Input {} of layer \"{}\" is incompatible with the layer: {}. Full shape received: "
              "{}",
              i, l.name(), expected, shape.to_string());
  };
  if (s.ndim >= 0 && n != s.ndim) fail(format("expected ndim={}, found ndim={}", s.ndim, n));
  if (s.max_ndim >= 0 && n > s.max_ndim)
    fail(format("expected max_ndim={}, found ndim={}", s.max_ndim, n));
  if (s.min_ndim >= 0 && n < s.min_ndim)
    fail(format("expected min_ndim={}, found ndim={}", s.min_ndim, n));
  for (const auto& [axis, size] : s.axes) {
    const int at = axis < 0 ? axis + n : axis;
    if (at < 0 || at >= n) continue;
    if (const std::int64_t got = shape.dim(at); got >= 0 && got != size)
      fail(
          format("expected axis {} of input shape to have value {}, but received input with shape "
                 "{}",
                 axis, size, shape.to_string()));
  }
}

thread_local int training_now = -1;

class TrainingScope {
 public:
  explicit TrainingScope(int training) : before_(training_now) { training_now = training; }
  ~TrainingScope() { training_now = before_; }
  TrainingScope(const TrainingScope&) = delete;

 private:
  int before_;
};

}  // namespace

void CallMachinery::build(const Layer& layer, const std::vector<TensorShape>& shapes) {
  LayerImpl& l = *layer.impl_;
  const bool first = !l.built;
  if (!first && layer.bound_) return;
  if (!first && !is_users_class(layer)) {
    layer.bound_ = true;
    return;
  }
  const EagerScope eager;  // weights have values, also when a function is being traced
  const std::size_t made = l.own.size();
  l.rebinding = !first;
  l.building = true;
  l.made_by_hand = first ? made : 0;
  l.edges_by_hand = first ? l.edges().size() : 0;
  try {
    const_cast<Layer&>(layer).build_all(first ? shapes : l.built_for);
  } catch (...) {
    l.rebinding = l.building = false;
    if (first) l.own.resize(made);
    throw;
  }
  l.rebinding = l.building = false;
  if (first) l.built_for = shapes;
  l.built = true;
  layer.bound_ = true;
}

void CallMachinery::build_by_hand(Layer& layer, const std::vector<TensorShape>& shapes) {
  LayerImpl& l = *layer.impl_;
  if (l.built) return;
  ensure_name(layer);
  RILL_CHECK(!shapes.empty() && shapes[0].has_rank(), invalid_argument,
             "[{}] build: got no shape; expected that of the input, batch first: {{None, 4}}",
             l.name());
  if (!is_users_class(layer)) {
    const NameStack names(l.name());
    return build(layer, shapes);
  }
  // A class of the user's whose own build has called this one, or that has none: what is its own
  // is made. A model makes its layers by a call.
  l.build(shapes);
  l.built = layer.bound_ = true;
  l.built_for = shapes;
  try {
    if (l.is_model()) layer.compute_output_shape(shapes[0]);
  } catch (...) {
    l.built = layer.bound_ = false;
    l.built_for.clear();
    throw;
  }
}

Nest CallMachinery::apply(const Layer& layer, const Nest& inputs, CallOptions options) {
  ensure_name(layer);
  if (!options.constants.empty() && !is_users_class(layer))
    layer.impl_->expect_constants(options.constants.size());
  // States and constants that are part of a drawing are inputs of the call: the model must give
  // them values.
  const bool drawn_constants = any_symbolic(options.constants);
  if (drawn_constants || (inputs.is_tensor() && any_symbolic(options.initial_state))) {
    std::vector<Tensor> all = inputs.flatten();
    for (Tensor& t : std::exchange(options.initial_state, {})) all.push_back(std::move(t));
    if (drawn_constants)
      for (Tensor& t : std::exchange(options.constants, {})) all.push_back(std::move(t));
    return call_symbolically(layer, Nest(std::move(all)), std::move(options));
  }
  const bool drawn = inputs.is_tensor() ? keras_symbol(inputs.as_tensor()) != nullptr
                                        : any_symbolic(inputs.flatten());
  if (drawn) return call_symbolically(layer, inputs, std::move(options));
  return run(layer, inputs, std::move(options));
}

Nest CallMachinery::call_users(Layer& layer, const Nest& inputs, const CallContext& context) {
  LayerImpl& l = *layer.impl_;
  UsersCall users(l);
  Nest out = layer.call_nest(inputs, context);
  if (l.of_library && l.is_model()) l.other_call = !users.is_from_base(out);
  return out;
}

Nest CallMachinery::run(const Layer& layer, const Nest& given, CallOptions options) {
  LayerImpl& l = *layer.impl_;
  ensure_name(layer);
  const bool outermost = NameStack::empty();
  const NameStack names(l.name());
  const CallSiteScope site;
  const bool users = is_users_class(layer);
  try {
    const RunningCall running(l, users);
    const name_scope scope(l.name());
    std::vector<Tensor> leaves = given.flatten();
    RILL_CHECK(!leaves.empty() || users, invalid_argument,
               "it is called on no tensor; expected its input");
    bool changed = false;
    CallContext context;
    context.masks.reserve(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Tensor& x = leaves[i];
      RILL_CHECK(x.defined(), invalid_argument, "input {} is undefined", i);
      check_input(l, x, i);
      context.masks.push_back(x.impl()->mask ? Tensor(x.impl()->mask) : Tensor());
      if (l.autocast && x.dtype().is_floating() && x.dtype() != l.policy.compute_dtype()) {
        x = cast(x, l.policy.compute_dtype());
        // Layers of several inputs read the mask of each.
        if (const Tensor& mask = context.masks.back(); mask.defined()) {
          retain(mask.impl());
          x.impl()->mask = Ref<TensorImpl>(mask.impl());
        }
        changed = true;
      }
    }
    if (outermost) l.clear_call_losses();
    if (!l.built || !layer.bound_) {
      std::vector<TensorShape> shapes;
      for (const Tensor& x : leaves) shapes.push_back(x.shape());
      build(layer, shapes);
    }
    for (std::size_t i = 0; i < options.masks.size() && i < leaves.size(); ++i)
      if (options.masks[i].defined()) context.masks[i] = options.masks[i];
    if (!leaves.empty()) {
      if (options.mask.defined()) context.masks[0] = options.mask;
      context.mask = context.masks[0];
    }
    context.arguments = std::move(options.arguments);
    context.initial_state = std::move(options.initial_state);
    context.constants = std::move(options.constants);
    const int training = options.training >= 0 ? options.training : training_now;
    context.training = training > 0;
    const TrainingScope in_training(training);
    const Nest inputs = changed ? given.with_leaves(leaves) : given;
    Layer& object = const_cast<Layer&>(layer);
    const Nest out =
        users ? call_users(object, inputs, context) : object.call_nest(inputs, context);
    running.check_tracked();

    if (l.activity_regularizer.defined() || !l.last_output_shape.has_rank()) {
      const std::vector<Tensor> results = out.flatten();
      if (!results.empty() && results[0].defined()) {
        l.last_output_shape = results[0].shape();
        if (l.last_output_shape.rank() > 0) l.last_output_shape.set_dim(0, -1);
      }
      if (l.activity_regularizer.defined())
        for (const Tensor& y : results) {
          // By the batch, so that the loss does not grow with it.
          const Tensor batch = cast(shape(y)[0], y.dtype());
          l.call_losses.push_back(l.activity_regularizer(y) / batch);
        }
    }
    const Tensor mask = const_cast<Layer&>(layer).compute_mask(inputs, context.mask);
    if (mask.defined()) {
      Tensor y = out.flatten().at(0);
      if (y.impl()->mask.get() != mask.impl()) {
        bool shared = false;
        for (const Tensor& x : leaves) shared = shared || x.impl() == y.impl();
        if (shared && out.is_tensor()) {
          y = identity(y);
          retain(mask.impl());
          y.impl()->mask = Ref<TensorImpl>(mask.impl());
          return y;
        }
        retain(mask.impl());
        y.impl()->mask = Ref<TensorImpl>(mask.impl());
      }
    }
    return out;
  } catch (errors::Error& e) {
    const std::string where = format("in layer \"{}\" ({})", l.name(), l.class_name());
    if (std::strstr(e.what(), where.c_str()) == nullptr) e.add_context(where);
    throw;
  }
}

}  // namespace rill::keras
