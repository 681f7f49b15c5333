// How a layer is built and called.
#include <algorithm>
#include <cstring>
#include <utility>

#include "rill/base/check.h"
#include "rill/core/call_context.h"
#include "rill/graph/ir/graph.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/keras/engine/call_state_impl.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/engine/running_call_impl.h"
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

// The call of a user's class that runs, and what its base gave in it. A class that derives from
// one of the library may leave the call to that, which then gives any structure.
class UsersCall {
 public:
  explicit UsersCall(const LayerImpl& layer)
      : layer_(layer), before_(std::exchange(call_state().users, this)) {}
  ~UsersCall() { call_state().users = before_; }
  UsersCall(const UsersCall&) = delete;
  static UsersCall* of(const LayerImpl& layer) {
    UsersCall* const now = call_state().users;
    return now && &now->layer_ == &layer ? now : nullptr;
  }
  // That is what the base gave.
  bool is_from_base(const Nest& out) const {
    const std::vector<Tensor> a = out.flatten(), b = from_base.flatten();
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Tensor& x, const Tensor& y) { return x.impl() == y.impl(); });
  }
  Nest from_base;  // empty: it was not asked

 private:
  const LayerImpl& layer_;
  UsersCall* before_;
};

Tensor Layer::call(const Tensor& x, const CallContext& context) {
  if (Layer* object = LayerObjects::other_object(*this)) return object->call(x, context);
  const Nest out = impl_->call_nest(x, context);
  UsersCall* const users = UsersCall::of(*impl_);
  if (users) users->from_base = out;
  RILL_CHECK(out.is_tensor() || users, invalid_argument,
             "[{}] call: the class {} gives {} results; use call_nest", name(), class_name(),
             out.flatten().size());
  return out.is_tensor() ? out.as_tensor() : out.flatten().at(0);
}
Nest Layer::call_nest(const Nest& inputs, const CallContext& context) {
  if (Layer* object = LayerObjects::other_object(*this)) return object->call_nest(inputs, context);
  UsersCall* const users = UsersCall::of(*impl_);
  if (inputs.is_tensor() && LayerObjects::is_users_class(*this)) {
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

void check_input(const LayerImpl& l, const TensorShape& shape, std::size_t i) {
  const InputSpec& s = l.input_spec;
  if (!shape.has_rank() || (s.first_only && i > 0)) return;
  const int n = shape.rank();
  const bool lacks_batch = n == std::max(s.ndim, s.min_ndim) - 1;
  const auto fail = [&](const std::string& expected) {
    RILL_FAIL(invalid_argument,
              "Input {} of layer \"{}\" is incompatible with the layer: {}. Full shape received: "
              "{}{}",
              i, l.name(), expected, shape.to_string(),
              lacks_batch ? ". Is it one sample? Samples come in batches: dataset.batch(n), or "
                            "tf::expand_dims(x, 0)"
                          : "");
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

// The shapes of the inputs; of a ragged or sparse one that of the whole.
void add_shapes(const Nest& x, std::vector<TensorShape>& shapes) {
  if (x.is_tensor() || x.is_composite())
    shapes.push_back(shape_of(x));
  else
    for (std::size_t i = 0; i < x.size(); ++i) add_shapes(x.part(i), shapes);
}

class BuildScope {
 public:
  BuildScope(LayerImpl& layer, const BuildUnderWay& now)
      : layer_(layer), before_(std::exchange(layer.build_under_way, &now)) {}
  ~BuildScope() { layer_.build_under_way = before_; }
  BuildScope(const BuildScope&) = delete;

 private:
  LayerImpl& layer_;
  const BuildUnderWay* before_;
};

}  // namespace

void LayerCalls::build(const Layer& layer, const std::vector<TensorShape>& shapes) {
  LayerImpl& l = *layer.impl_;
  const bool again = l.built;
  if (again && layer.bound_) return;
  if (again && !LayerObjects::is_users_class(layer)) {
    layer.bound_ = true;
    return;
  }
  const EagerScope eager;  // weights have values, also when a function is being traced
  const BehaviourScope behaviour(l.behaves_as);  // of the layers that it makes
  const std::size_t made = l.own.size();
  {
    const BuildUnderWay now{
        .again = again, .weights = again ? 0 : made, .edges = again ? 0 : l.edges().size()};
    const BuildScope scope(l, now);
    try {
      const_cast<Layer&>(layer).build_all(again ? l.built_for : shapes);
    } catch (...) {
      if (!again) l.own.resize(made);
      throw;
    }
  }
  if (!again) l.built_for = shapes;
  l.built = true;
  layer.bound_ = true;
  if (again || l.first_weights.empty()) return;
  try {
    layer.set_weights(l.first_weights);
  } catch (errors::Error& e) {
    e.add_context("while setting the weights given to the constructor");
    throw;
  }
  l.first_weights.clear();
}

void LayerCalls::build_by_hand(Layer& layer, const std::vector<TensorShape>& shapes) {
  LayerImpl& l = *layer.impl_;
  if (l.built) return;
  LayerObjects::introduce(layer);
  RILL_CHECK(!shapes.empty() && shapes[0].has_rank(), invalid_argument,
             "[{}] build: got no shape; expected that of the input, batch first: {{None, 4}}",
             l.name());
  if (!LayerObjects::is_users_class(layer)) {
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

Nest LayerCalls::apply(const Layer& given, const Nest& inputs, CallOptions options) {
  const Layer& layer = LayerObjects::behind(given);
  LayerObjects::introduce(layer);
  LayerObjects::note_handle(given);
  if (!options.constants.empty() && !LayerObjects::is_users_class(layer))
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

Nest LayerCalls::call_users(Layer& layer, const Nest& inputs, const CallContext& context) {
  LayerImpl& l = *layer.impl_;
  UsersCall users(l);
  Nest out = layer.call_nest(inputs, context);
  if (l.of_library && l.is_model()) l.users.own_call = !users.is_from_base(out);
  return out;
}

Nest LayerCalls::run(const Layer& of, const Nest& given, CallOptions options) {
  const Layer& layer = LayerObjects::behind(of);
  LayerImpl& l = *layer.impl_;
  LayerObjects::introduce(layer);
  const bool outermost = NameStack::empty();
  const NameStack names(l.name());
  const CallSiteScope site;
  const bool users = LayerObjects::is_users_class(layer);
  if (users) LayerObjects::note_live(layer);
  try {
    const RunningCall running(l, users);
    const name_scope scope(l.name());
    std::vector<Tensor> leaves = given.flatten();
    RILL_CHECK(!leaves.empty() || users, invalid_argument,
               "it is called on no tensor; expected its input");
    bool changed = false;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      RILL_CHECK(leaves[i].defined(), invalid_argument, "input {} is undefined", i);
    std::vector<TensorShape> shapes;
    add_shapes(given, shapes);
    for (std::size_t i = 0; i < shapes.size(); ++i) check_input(l, shapes[i], i);
    CallContext context;
    context.masks.reserve(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Tensor& x = leaves[i];
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
    if (!l.built || !layer.bound_) build(layer, shapes);
    for (std::size_t i = 0; i < options.masks.size() && i < leaves.size(); ++i)
      if (options.masks[i].defined()) context.masks[i] = options.masks[i];
    if (!leaves.empty()) {
      if (options.mask.defined()) context.masks[0] = options.mask;
      context.mask = context.masks[0];
    }
    context.arguments = std::move(options.arguments);
    context.initial_state = std::move(options.initial_state);
    context.constants = std::move(options.constants);
    const int training = options.training >= 0 ? options.training : call_state().training;
    context.training = training > 0;
    const CallStateScope in_training(&CallState::training, training);
    const Nest inputs = changed ? given.with_leaves(leaves) : given;
    Layer& object = const_cast<Layer&>(layer);
    const Nest out =
        users ? call_users(object, inputs, context) : object.call_nest(inputs, context);
    running.check_tracked();

    if (l.activity_regularizer.defined() || !l.last_output_shape.has_rank()) {
      const std::vector<Tensor> results = out.flatten();
      if (!results.empty() && results[0].defined()) {
        std::vector<TensorShape> of_results;
        add_shapes(out, of_results);
        l.last_output_shape = of_results[0];
        if (l.last_output_shape.rank() > 0) l.last_output_shape.set_dim(0, -1);
      }
      if (l.activity_regularizer.defined())
        for (const Tensor& y : results) {
          // By the batch, so that the loss does not grow with it.
          const Tensor batch = cast(shape(y)[0], y.dtype());
          l.add_call_loss(l.activity_regularizer(y) / batch);
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
