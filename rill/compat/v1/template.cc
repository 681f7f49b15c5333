#include "rill/compat/v1/template.h"

#include <exception>
#include <optional>

#include "rill/compat/v1/variable_store_impl.h"

namespace rill::compat::v1 {

// Store and scope are those of the first call: within another template, or under a default store,
// the variables belong to that one too.
class TemplateImpl : public TrackableNode {
 public:
  explicit TemplateImpl(std::string_view given) : name(given) {}

  void begin() {
    if (store) return;
    scope.emplace(variable_scope("", {.default_name = name}).scope());
    store = VariableStoreImpl::current();
    if (!store) store = Ref<VariableStoreImpl>(new VariableStoreImpl({.reuse = false}));
  }
  std::string prefix() const { return scope ? scope->name() + "/" : name + "/"; }
  std::vector<Variable> variables(bool (*wanted)(const Variable&)) const {
    if (!store) return {};
    return store->variables(
        [&](const Variable& v) { return v.name().starts_with(prefix()) && wanted(v); });
  }

  const std::string name;
  std::optional<VariableScope> scope;  // since the first call
  Ref<VariableStoreImpl> store;
  bool called = false;
};
void retain(TemplateImpl* t) noexcept { t->refs.retain(); }
void release(TemplateImpl* t) noexcept {
  if (t->refs.release()) delete t;
}

TemplateBase::TemplateBase(std::string_view name) : impl_(new TemplateImpl(name)) {}

std::string TemplateBase::name() const { return impl_->name; }
std::string TemplateBase::variable_scope_name() const {
  return impl_->scope ? impl_->scope->name() : impl_->name;
}
std::vector<Variable> TemplateBase::variables() const {
  return impl_->variables([](const Variable&) { return true; });
}
std::vector<Variable> TemplateBase::trainable_variables() const {
  return impl_->variables([](const Variable& v) { return v.trainable(); });
}
std::vector<Variable> TemplateBase::non_trainable_variables() const {
  return impl_->variables([](const Variable& v) { return !v.trainable(); });
}
std::vector<Tensor> TemplateBase::regularization_losses() const {
  return impl_->store ? impl_->store->regularization_losses(impl_->prefix())
                      : std::vector<Tensor>();
}
Ref<TrackableNode> TemplateBase::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}

struct TemplateBase::Call::State {
  explicit State(TemplateImpl& t)
      : owner(t),
        exceptions(std::uncaught_exceptions()),
        store(VariableStore(t.store).as_default()),
        scope(*t.scope, {.reuse = t.called}) {}
  TemplateImpl& owner;
  int exceptions;
  VariableStore::Scope store;
  variable_scope scope;
};

TemplateBase::Call::Call(const TemplateBase& t) {
  t.impl_->begin();
  state_ = std::make_unique<State>(*t.impl_);
}

TemplateBase::Call::~Call() {
  TemplateImpl& t = state_->owner;
  const bool failed = std::uncaught_exceptions() > state_->exceptions;
  if (failed && !t.called) t.store->forget(t.prefix());
  if (failed || t.called) return;
  t.called = true;
  // A checkpoint knows them by the names of the template's own.
  t.store->track_in(t, t.prefix());
}

}  // namespace rill::compat::v1
