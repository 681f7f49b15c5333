#include "rill/graph/ir/name_scope.h"

#include "rill/core/call_context.h"
#include "rill/graph/ir/graph.h"

namespace rill {

// In a graph a scope that is opened a second time is another one: "hidden_1/".
name_scope::name_scope(std::string_view name)
    : name_(join_scope(name)), outer_(std::exchange(call_context().names, &name_)) {
  if (Graph* g = TracingScope::current()) name_ = g->unique_name(name_);
  name_ += "/";
}
name_scope::~name_scope() { call_context().names = outer_; }

std::string join_scope(std::string_view name) {
  const std::string* prefix = call_context().names;
  return prefix ? *prefix + std::string(name) : std::string(name);
}

}  // namespace rill
