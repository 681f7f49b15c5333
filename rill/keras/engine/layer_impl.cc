#include "rill/keras/engine/layer_impl.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_set>

#include "rill/base/check.h"
#include "rill/keras/engine/call_state_impl.h"
#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/engine/weight_source.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

bool counts_as_weighted(const LayerImpl& layer) {
  if (!layer.weights(LayerImpl::Which::all).empty()) return true;
  const auto* files = dynamic_cast<const LayerFiles*>(&layer);
  return (files && files->not_in_hdf5()) ||
         std::any_of(layer.children.begin(), layer.children.end(),
                     [](const Ref<LayerImpl>& c) { return counts_as_weighted(*c); });
}

void retain(LayerImpl* l) noexcept { l->refs.retain(); }
void release(LayerImpl* l) noexcept {
  if (l->refs.release()) delete l;
}

// ---- names
namespace {

std::mutex names_mutex;
std::map<std::string, int, std::less<>>& name_counts() {
  static auto* counts = new std::map<std::string, int, std::less<>>;
  return *counts;
}

}  // namespace

static std::string numbered(std::string_view base, int n) {
  return n == 0 ? std::string(base) : format("{}_{}", base, n);
}
std::string unique_layer_name(std::string_view base) {
  const std::lock_guard lock(names_mutex);
  return numbered(base, name_counts()[std::string(base)]++);
}
// The last automatic name that was given is free again; any other stays taken.
static void give_back_name(std::string_view base, const std::string& name) {
  const std::lock_guard lock(names_mutex);
  if (const auto at = name_counts().find(base); at != name_counts().end() && at->second > 0)
    if (numbered(base, at->second - 1) == name) --at->second;
}
void backend::clear_session() {
  const std::lock_guard lock(names_mutex);
  name_counts().clear();
}

void LayerImpl::name_by_class(const std::string& own) {
  if (automatic_name) {
    give_back_name(is_model() && class_name_ == "Functional" ? "model" : snake_case(class_name_),
                   name_);
    name_.clear();
  }
  if (!of_library || !is_model()) class_name_ = own;
  if (name_.empty()) name_ = unique_layer_name(snake_case(own));
}

// ---- construction
LayerImpl::LayerImpl(std::string_view class_name, LayerOptions o)
    : trainable(o.trainable),
      policy(o.dtype.defined() ? o.dtype : mixed_precision::global_policy()),
      of_library(!class_name.empty()),
      automatic_name(of_library && o.name.empty()),
      class_name_(class_name),
      name_(std::move(o.name)) {
  first_weights = std::move(o.weights);
  if (automatic_name) name_ = unique_layer_name(snake_case(class_name));
  if (o.batch_input_shape.has_rank()) {
    batch_input_shape = o.batch_input_shape;
  } else if (o.input_shape.has_rank()) {
    batch_input_shape = TensorShape::scalar();
    batch_input_shape.push_back(-1);
    for (int i = 0; i < o.input_shape.rank(); ++i)
      batch_input_shape.push_back(o.input_shape.dim(i));
  }
}
LayerImpl::~LayerImpl() = default;

// ---- what trains
TrainableAsked::TrainableAsked() : before_(std::exchange(call_state().trainable_asked, this)) {}
TrainableAsked::~TrainableAsked() {
  call_state().trainable_asked = before_;
  // The scope around it notes it too: its graph contains this one.
  if (before_) before_->asked.insert(before_->asked.end(), asked.begin(), asked.end());
}

// ---- behaviour
void LayerImpl::build(const std::vector<TensorShape>&) {}
Tensor LayerImpl::call(const Tensor&, const CallContext&) {
  RILL_FAIL(unimplemented,
            "[{}] the class {} has no call: override Tensor call(const Tensor& x, const "
            "keras::CallContext&), or call_nest for several inputs",
            name(), class_name());
}
Nest LayerImpl::call_nest(const Nest& inputs, const CallContext& context) {
  RILL_CHECK(inputs.is_tensor() || inputs.size() == 1, invalid_argument,
             "[{}] a {} takes one tensor; got {} of them", name(), class_name(), inputs.size());
  return call(inputs.flatten().at(0), context);
}
Tensor LayerImpl::compute_mask(const Nest&, const Tensor& mask) {
  return supports_masking ? mask : Tensor();
}
void LayerImpl::add_config(Config&) const {}
void LayerImpl::reset_states() {
  for (const Ref<LayerImpl>& c : children) c->reset_states();
}

void LayerImpl::expect_constants(std::size_t count) {
  RILL_FAIL(invalid_argument,
            "[{}] got {} constants; {} takes none. Layers of keras::layers::RNN around a cell of "
            "your own do",
            name(), count, class_name());
}

Tensor reshape_to(const Tensor& x, const TensorShape& to, const Tensor& like) {
  int unknown = 0;
  for (int i = 0; i < to.rank(); ++i) unknown += to.dim(i) < 0;
  if (unknown <= 1)
    return reshape(x, constant(to.as_list()));  // -1 stands for the one that is not known
  const Tensor sizes = shape(like);
  std::vector<Tensor> parts;
  for (int i = 0; i < to.rank(); ++i)
    parts.push_back(to.dim(i) < 0 ? sizes[i] : constant(static_cast<int>(to.dim(i))));
  const Tensor y = reshape(x, stack(parts));
  y.set_shape(to);
  return y;
}

// ---- weights
static Variable make_weight(const std::string& layer, std::string_view weight_name,
                            const TensorShape& shape, AddWeightOptions o) {
  if (!o.initializer.defined()) o.initializer = o.dtype.is_floating() ? "glorot_uniform" : "zeros";
  Dims begins;  // where a size is not known with none
  for (std::int64_t d : shape.dims()) begins.push_back(std::max<std::int64_t>(d, 0));
  const Tensor value = o.initializer(TensorShape(begins), o.dtype);
  RILL_CHECK(value.shape().is_compatible_with(shape), invalid_argument,
             "[{}] the initializer of weight \"{}\" gave shape {}; expected {}", layer, weight_name,
             value.shape(), shape);
  VariableOptions options{.trainable = o.trainable,
                          .name = NameStack::path_for(layer) + std::string(weight_name),
                          .shape = shape};
  if (o.constraint.defined()) options.constraint = o.constraint;
  return Variable(value, options);
}

Variable LayerImpl::add_weight(std::string_view weight_name, const TensorShape& given,
                               AddWeightOptions o) {
  const TensorShape shape = given.has_rank() ? given : TensorShape::scalar();  // {} is a scalar's
  if (const BuildUnderWay* now = build_under_way)
    for (std::size_t i = 0; i < (now->again ? own.size() : now->weights); ++i)
      if (own[i].name == weight_name && (now->again || own[i].variable.shape() == shape))
        return own[i].variable;
  // What a layer learns by adapt may grow.
  const bool grows = !o.trainable && o.initializer.defined();
  for (int i = 0; i < shape.rank(); ++i)
    RILL_CHECK(shape.dim(i) >= 0 || grows, invalid_argument,
               "[{}] weight \"{}\" would have shape {}, of which not all is known: the last axis "
               "of the input must have a size",
               name(), weight_name, shape);
  if (!o.dtype.defined()) o.dtype = policy.variable_dtype();
  WeightSource* const source = WeightSource::current();
  const Variable v =
      source ? source->weight(weight_name, shape, o) : make_weight(name(), weight_name, shape, o);
  own.push_back({std::string(weight_name), v, o.trainable, source ? Regularizer() : o.regularizer});
  track_variable(weight_name, v);
  return v;
}

Tensor LayerImpl::in_compute_dtype(const Variable& weight) const {
  const Tensor value = weight.value();
  return value.dtype() == policy.compute_dtype() || !value.dtype().is_floating()
             ? value
             : cast(value, policy.compute_dtype());
}

void LayerImpl::track_layer(std::string_view edge, const Ref<LayerImpl>& child) {
  if (std::find(children.begin(), children.end(), child) == children.end())
    children.push_back(child);
  retain(child.get());
  track(edge, Ref<TrackableNode>(child.get()));
}
void LayerImpl::track_list(std::string_view edge, const std::vector<Ref<LayerImpl>>& list,
                           const std::vector<std::string>& keys) {
  const Ref<TrackableNode> node(new LayerList);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::find(children.begin(), children.end(), list[i]) == children.end())
      children.push_back(list[i]);
    retain(list[i].get());
    node->track(keys.empty() ? std::to_string(i) : keys[i], Ref<TrackableNode>(list[i].get()));
  }
  track(edge, node);
}
void LayerImpl::track_variable(std::string_view edge, const Variable& v) {
  TrackableNode* node = v.handle().impl()->resource.get();
  rill::retain(node);
  track(edge, Ref<TrackableNode>(node));
}

void LayerImpl::collect(Which which, bool frozen, Adapted adapted,
                        std::vector<Variable>& out) const {
  frozen = frozen || !trainable;
  const auto add_own = [&](Which w) {
    for (const Weight& i : own) {
      if (adapted == Adapted::merged && lora && lora->enabled() &&
          (i.variable.id() == lora->a.id() || i.variable.id() == lora->b.id()))
        continue;
      const bool trains = i.trainable && !frozen && (!i.frozen || adapted != Adapted::apart);
      if (w == Which::all || (w == Which::trainable) == trains) out.push_back(i.variable);
    }
  };
  const auto add_children = [&](Which w) {
    for (const Ref<LayerImpl>& c : children) c->collect(w, frozen, adapted, out);
  };
  if (which != Which::all) {
    if (!is_model()) add_own(which);
    add_children(which);
    if (is_model()) add_own(which);
  } else if (is_model()) {  // layer by layer
    add_children(Which::all);
    add_own(Which::trainable), add_own(Which::non_trainable);
  } else {
    collect(Which::trainable, frozen, adapted, out);
    collect(Which::non_trainable, frozen, adapted, out);
  }
}

std::vector<Variable> LayerImpl::weights(Which which) const {
  return weights(which, which == Which::all ? Adapted::in_place : Adapted::apart);
}
std::vector<Variable> LayerImpl::weights(Which which, Adapted adapted) const {
  std::vector<Variable> found, once;
  collect(which, false, adapted, found);
  for (Variable& v : found)
    if (std::none_of(once.begin(), once.end(), [&](const Variable& o) { return o.id() == v.id(); }))
      once.push_back(std::move(v));
  return once;
}

void LayerImpl::set_trainable(bool yes) {
  trainable = yes;
  for (const Ref<LayerImpl>& c : children) c->set_trainable(yes);
}

std::vector<MetricRef> LayerImpl::tracked_metrics() const {
  std::vector<MetricRef> all;
  std::unordered_set<const LayerImpl*> seen;
  const std::function<void(const LayerImpl&)> add = [&](const LayerImpl& l) {
    if (!seen.insert(&l).second) return;
    all.insert(all.end(), l.metrics.begin(), l.metrics.end());
    for (const Ref<LayerImpl>& c : l.children) add(*c);
  };
  add(*this);
  return all;
}

namespace {
std::mutex call_results_mutex;
}
void LayerImpl::add_call_loss(const Tensor& loss) {
  const std::lock_guard lock(call_results_mutex);
  call_losses.push_back(loss);
}
void LayerImpl::add_call_metric(const Tensor& value, std::string_view metric_name) {
  const std::lock_guard lock(call_results_mutex);
  call_metrics.push_back({std::string(metric_name), value});
}
std::vector<Tensor> LayerImpl::losses() const {
  std::vector<Tensor> all;
  {
    const std::lock_guard lock(call_results_mutex);
    all = call_losses;
  }
  for (const Weight& w : own)
    if (w.regularizer.defined()) all.push_back(w.regularizer(w.variable));
  for (const Ref<LayerImpl>& c : children)
    for (Tensor& t : c->losses()) all.push_back(std::move(t));
  return all;
}

bool LayerImpl::trains_in_call() const {
  if (TrainableAsked* const who = call_state().trainable_asked)
    who->asked.push_back(const_cast<LayerImpl*>(this));
  return trainable;
}

CallResultsScope::CallResultsScope(LayerImpl& layer) { add(layer); }
CallResultsScope::~CallResultsScope() {
  for (const Ref<LayerImpl>& l : layers_) l->clear_call_losses();
  for (auto& [layer, kept] : kept_) {
    layer->call_losses = std::move(kept.losses);
    layer->call_metrics = std::move(kept.metrics);
  }
}
void CallResultsScope::add(LayerImpl& layer) {
  const auto [at, first] = kept_.try_emplace(&layer);
  if (!first) return;
  at->second = {std::exchange(layer.call_losses, {}), std::exchange(layer.call_metrics, {})};
  layers_.push_back(share(layer));
  for (const Ref<LayerImpl>& c : layer.children) add(*c);
}

void LayerImpl::clear_call_losses() {
  {
    const std::lock_guard lock(call_results_mutex);
    call_losses.clear();
    call_metrics.clear();
  }
  for (const Ref<LayerImpl>& c : children) c->clear_call_losses();
}

}  // namespace rill::keras
