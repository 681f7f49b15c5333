#include "rill/compat/v1/variable_scope.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "rill/base/check.h"
#include "rill/compat/v1/call_state_impl.h"
#include "rill/compat/v1/variable_store_impl.h"
#include "rill/core/resource.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::compat::v1 {
namespace {

using State = VariableScope::State;

// Scopes that are opened without a store.
struct Loose {
  std::mutex mutex;
  ScopeCounts counts;
};
Loose& loose() {
  static Loose counts;
  return counts;
}

template <class F>
auto with_counts(F f) {
  const Ref<VariableStoreImpl> store = VariableStoreImpl::current();
  std::lock_guard lock(store ? store->mutex : loose().mutex);
  return f(store ? store->counts : loose().counts);
}

std::string joined(const std::string& scope, std::string_view name) {
  return scope.empty() ? std::string(name) : scope + "/" + std::string(name);
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

Variable make_variable(const std::string& name, const TensorShape& shape, DType dtype,
                       const VariableInitializer& init, const GetVariableOptions& o,
                       const keras::Constraint& constraint) {
  Tensor value = init.value();
  if (value.defined()) {
    RILL_CHECK(!shape.has_rank(), invalid_argument,
               "[get_variable] {}: the initializer is a tensor of shape {}, so that no shape is "
               "given beside it",
               name, value.shape());
    RILL_CHECK(!o.dtype.defined() || o.dtype == value.dtype(), invalid_argument,
               "[get_variable] {}: the initializer is a tensor of {}, and dtype says {}", name,
               value.dtype(), o.dtype);
  } else {
    RILL_CHECK(shape.is_fully_defined(), invalid_argument,
               "[get_variable] {} is new: its shape must be given, with all its sizes; got {}",
               name, shape);
    if (init.defined())
      value = init.initializer()(shape, dtype);
    else if (dtype.is_floating())
      value = keras::Initializer("glorot_uniform")(shape, dtype);
    else
      value = zeros(shape, dtype);
    RILL_CHECK(value.shape() == shape, invalid_argument,
               "[get_variable] {}: the initializer gave shape {}; expected {}", name, value.shape(),
               shape);
  }
  VariableConstraint projection;
  if (constraint.defined()) projection = constraint;
  return Variable(value, {.trainable = o.trainable, .name = name, .constraint = projection});
}

void track_variable(TrackableNode& node, const std::string& name, const Variable& v) {
  VariableCell* const cell = &variable_cell(v.handle());
  retain(cell);
  node.track(name, Ref<TrackableNode>(cell));
}

}  // namespace

// ---- counts
std::string ScopeCounts::unique(const std::string& name) const {
  if (!opened_.contains(name)) return name;
  int i = 1;
  while (opened_.contains(name + "_" + std::to_string(i))) ++i;
  return name + "_" + std::to_string(i);
}

void ScopeCounts::close_within(const std::string& name) {
  std::erase_if(opened_, [&](const auto& e) { return e.first.starts_with(name + "/"); });
}

// ---- the store
void retain(VariableStoreImpl* s) noexcept { s->refs.retain(); }
void release(VariableStoreImpl* s) noexcept {
  if (s->refs.release()) delete s;
}

VariableStoreImpl::VariableStoreImpl(VariableStoreOptions o)
    : root(std::make_shared<VariableScope::State>(VariableScope::State{.reuse = o.reuse})) {}

Ref<VariableStoreImpl> VariableStoreImpl::current() { return ScopedCallState::now().store; }

std::optional<Variable> VariableStoreImpl::find(const std::string& name) const {
  std::lock_guard lock(mutex);
  for (const Entry& e : entries_)
    if (e.name == name) return e.variable;
  return {};
}

Variable VariableStoreImpl::get(const std::string& name, const TensorShape& shape, DType dtype,
                                Reuse reuse, const keras::Regularizer& regularizer,
                                const std::function<Variable()>& make) {
  if (const std::optional<Variable> v = find(name)) {
    RILL_CHECK(reuse.yes() || reuse.automatic(), invalid_argument,
               "[get_variable] {}:0 already exists! To share it, open its scope with reuse = true "
               "or AUTO_REUSE",
               name);
    RILL_CHECK(shape.is_compatible_with(v->shape()), invalid_argument,
               "[get_variable] {}:0 is shared, but has shape {}; asked for was {}", name,
               v->shape(), shape);
    RILL_CHECK(!dtype.defined() || dtype == v->dtype(), invalid_argument,
               "[get_variable] {}:0 is shared, but has dtype {}; asked for was {}", name,
               v->dtype(), dtype);
    return *v;
  }
  RILL_CHECK(!reuse.yes(), invalid_argument,
             "[get_variable] {}:0 does not exist, or was not made by get_variable; a scope with "
             "reuse = true only finds variables, one with AUTO_REUSE makes them, too",
             name);
  const Variable v = make();  // runs the user's initializer: not under the lock
  std::lock_guard lock(mutex);
  for (const Entry& e : entries_)
    if (e.name == name) return e.variable;  // another thread was first
  entries_.push_back({name, v, regularizer});
  track_variable(*this, name, v);
  return v;
}

std::vector<Variable> VariableStoreImpl::variables(
    const std::function<bool(const Variable&)>& wanted) const {
  std::lock_guard lock(mutex);
  std::vector<Variable> out;
  for (const Entry& e : entries_)
    if (wanted(e.variable)) out.push_back(e.variable);
  std::sort(out.begin(), out.end(),
            [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  return out;
}

void VariableStoreImpl::forget(const std::string& prefix) {
  std::lock_guard lock(mutex);
  std::erase_if(entries_, [&](const Entry& e) { return e.name.starts_with(prefix); });
  std::erase_if(activity_losses_, [&](const auto& l) { return l.first.starts_with(prefix); });
}

void VariableStoreImpl::track_in(TrackableNode& node, const std::string& prefix) const {
  std::lock_guard lock(mutex);
  for (const Entry& e : entries_)
    if (e.name.starts_with(prefix)) track_variable(node, e.name.substr(prefix.size()), e.variable);
}

void VariableStoreImpl::set_activity_losses(const std::string& layer, std::vector<Tensor> losses) {
  std::lock_guard lock(mutex);
  if (losses.empty())
    activity_losses_.erase(layer);
  else
    activity_losses_[layer] = std::move(losses);
}

std::vector<Tensor> VariableStoreImpl::regularization_losses(const std::string& prefix) const {
  std::vector<Entry> entries;
  std::vector<Tensor> of_results;
  {
    std::lock_guard lock(mutex);
    entries = entries_;
    for (const auto& [layer, losses] : activity_losses_)
      if (layer.starts_with(prefix))
        of_results.insert(of_results.end(), losses.begin(), losses.end());
  }
  std::vector<Tensor> out;
  for (const Entry& e : entries)
    if (e.regularizer.defined() && e.name.starts_with(prefix))
      out.push_back(e.regularizer(e.variable));
  out.insert(out.end(), of_results.begin(), of_results.end());
  return out;
}

VariableStore::VariableStore(VariableStoreOptions options)
    : impl_(new VariableStoreImpl(options)) {}

struct VariableStore::Scope::Entered : ScopedCallState {};
VariableStore::Scope::Scope(const Ref<VariableStoreImpl>& store)
    : entered_(std::make_unique<Entered>()) {
  (*entered_)->store = store;
}
VariableStore::Scope::~Scope() = default;
VariableStore::Scope VariableStore::as_default() const { return Scope(impl_); }

std::vector<Variable> VariableStore::variables() const {
  return impl_->variables([](const Variable&) { return true; });
}
std::vector<Variable> VariableStore::trainable_variables() const {
  return impl_->variables([](const Variable& v) { return v.trainable(); });
}
std::vector<Variable> VariableStore::non_trainable_variables() const {
  return impl_->variables([](const Variable& v) { return !v.trainable(); });
}
std::vector<Tensor> VariableStore::regularization_losses() const {
  return impl_->regularization_losses();
}
Ref<TrackableNode> VariableStore::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}

// ---- scopes
std::string VariableScope::name() const { return state_->name; }
Reuse VariableScope::reuse() const { return state_->reuse; }
void VariableScope::reuse_variables() const { state_->reuse = true; }

VariableScope get_variable_scope() {
  const CallState& now = ScopedCallState::now();
  if (now.scope) return VariableScope(now.scope);
  if (now.store) return VariableScope(now.store->root);
  static thread_local const auto outside = std::make_shared<State>();
  return VariableScope(outside);
}

struct variable_scope::Entered {
  Entered(std::shared_ptr<State> s, const std::string& op_scope) : state(std::move(s)) {
    if (!op_scope.empty()) names.emplace(op_scope);
    entered->scope = state;
    with_counts([&](ScopeCounts& c) { c.open(state->name); });
  }
  ~Entered() {
    with_counts([&](ScopeCounts& c) { c.close_within(state->name); });
  }
  std::shared_ptr<State> state;
  ScopedCallState entered;
  std::optional<name_scope> names;  // none for a scope without its own name
};

namespace {

std::shared_ptr<State> state_within(const State& outer, std::string name,
                                    const VariableScopeOptions& o) {
  return std::make_shared<State>(
      State{.name = std::move(name),
            .reuse = o.reuse.within(outer.reuse),
            .initializer = o.initializer.defined() ? o.initializer : outer.initializer,
            .regularizer = o.regularizer.defined() ? o.regularizer : outer.regularizer,
            .constraint = o.constraint.defined() ? o.constraint : outer.constraint,
            .dtype = o.dtype.defined() ? o.dtype : outer.dtype});
}

}  // namespace

variable_scope::variable_scope(std::string_view name, VariableScopeOptions o) {
  const State& outer = *get_variable_scope().state();
  std::string full;
  if (!name.empty() || o.default_name.empty()) {
    full = joined(outer.name, name);
  } else {
    RILL_CHECK(!o.reuse.yes(), invalid_argument,
               "[variable_scope] reuse = true needs a name: default_name \"{}\" would become a new "
               "scope",
               o.default_name);
    const std::string wanted = joined(outer.name, o.default_name);
    full = with_counts([&](const ScopeCounts& c) { return c.unique(wanted); });
  }
  const std::string op_scope =
      name.empty() && !o.default_name.empty() ? last_part(full) : std::string(name);
  entered_ = std::make_unique<Entered>(state_within(outer, full, o), op_scope);
}

variable_scope::variable_scope(const VariableScope& scope, VariableScopeOptions o)
    : entered_(std::make_unique<Entered>(state_within(*scope.state(), scope.name(), o),
                                         last_part(scope.name()))) {}

variable_scope::~variable_scope() = default;

VariableScope variable_scope::scope() const { return VariableScope(entered_->state); }

// ---- variables
Variable get_variable(std::string_view name, const TensorShape& shape,
                      const GetVariableOptions& o) {
  RILL_CHECK(!name.empty(), invalid_argument, "[get_variable] a variable needs a name");
  const State& scope = *get_variable_scope().state();
  const std::string full = joined(scope.name, name);
  const VariableInitializer& init = o.initializer.defined() ? o.initializer : scope.initializer;
  const DType asked = o.dtype.defined() ? o.dtype : scope.dtype;
  const auto make = [&] {
    return make_variable(full, shape, asked.defined() ? asked : float32, init, o,
                         o.constraint.defined() ? o.constraint : scope.constraint);
  };
  const keras::Regularizer& regularizer =
      o.regularizer.defined() ? o.regularizer : scope.regularizer;
  if (const Ref<VariableStoreImpl> store = VariableStoreImpl::current())
    return store->get(full, shape, asked, scope.reuse.within(store->root->reuse), regularizer,
                      make);
  RILL_CHECK(!scope.reuse.yes(), invalid_argument,
             "[get_variable] {}:0 does not exist: without a default VariableStore nothing keeps "
             "variables to share. Write auto scope = store.as_default()",
             full);
  return make();
}

namespace losses {

std::vector<Tensor> get_regularization_losses() {
  const Ref<VariableStoreImpl> store = VariableStoreImpl::current();
  return store ? store->regularization_losses() : std::vector<Tensor>{};
}
Tensor get_regularization_loss() {
  const std::vector<Tensor> all = get_regularization_losses();
  return all.empty() ? constant(0.f) : add_n(all);
}

}  // namespace losses

}  // namespace rill::compat::v1
