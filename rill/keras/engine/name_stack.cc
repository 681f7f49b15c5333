#include "rill/keras/engine/name_stack_impl.h"

#include "rill/keras/engine/layer_impl.h"

#include "rill/keras/engine/call_state_impl.h"

namespace rill::keras {

namespace {
std::string& name_path() { return call_state().name_path; }
}  // namespace

NameStack::NameStack(const std::string& layer) : before_(name_path().size()) {
  name_path() += layer;
  name_path() += '/';
}
NameStack::~NameStack() { name_path().resize(before_); }
NameStackReset::NameStackReset() { before_.swap(name_path()); }
NameStackReset::~NameStackReset() { before_.swap(name_path()); }
bool NameStack::empty() { return name_path().empty(); }
std::string NameStack::path_for(const std::string& layer) {
  const std::string own = layer + "/";
  // Inside the layer's own call or build the path ends with it.
  return name_path().ends_with(own) ? name_path() : name_path() + own;
}

RenamedScope::RenamedScope(LayerImpl& layer, const std::string& name)
    : layer_(layer), before_(layer.name()) {
  layer.set_name(name);
}
RenamedScope::~RenamedScope() { layer_.set_name(before_); }

}  // namespace rill::keras
