#include "rill/compat/v1/template.h"

#include <exception>

#include "rill/compat/v1/variable_store_impl.h"

namespace rill::compat::v1 {

class TemplateImpl {
 public:
  explicit TemplateImpl(std::string_view given)
      : name(given), scope(variable_scope("", {.default_name = name}).scope()) {}

  const std::string name;
  const VariableScope scope;
  const VariableStore store{{.reuse = false}};
  bool called = false;
  RefCount refs;
};
void retain(TemplateImpl* t) noexcept { t->refs.retain(); }
void release(TemplateImpl* t) noexcept {
  if (t->refs.release()) delete t;
}

TemplateBase::TemplateBase(std::string_view name) : impl_(new TemplateImpl(name)) {}

std::string TemplateBase::name() const { return impl_->name; }
std::string TemplateBase::variable_scope_name() const { return impl_->scope.name(); }
std::vector<Variable> TemplateBase::variables() const { return impl_->store.variables(); }
std::vector<Variable> TemplateBase::trainable_variables() const {
  return impl_->store.trainable_variables();
}
std::vector<Variable> TemplateBase::non_trainable_variables() const {
  return impl_->store.non_trainable_variables();
}
std::vector<Tensor> TemplateBase::regularization_losses() const {
  return impl_->store.regularization_losses();
}
Ref<TrackableNode> TemplateBase::trackable() const { return impl_->store.trackable(); }

struct TemplateBase::Call::State {
  explicit State(TemplateImpl& t)
      : owner(t),
        exceptions(std::uncaught_exceptions()),
        store(t.store.as_default()),
        scope(t.scope, {.reuse = t.called}) {}
  TemplateImpl& owner;
  int exceptions;
  VariableStore::Scope store;
  variable_scope scope;
};

TemplateBase::Call::Call(const TemplateBase& t) : state_(std::make_unique<State>(*t.impl_)) {}

TemplateBase::Call::~Call() {
  TemplateImpl& t = state_->owner;
  const bool failed = std::uncaught_exceptions() > state_->exceptions;
  if (!failed)
    t.called = true;
  else if (!t.called)
    VariableStoreImpl::current()->clear();
}

}  // namespace rill::compat::v1
