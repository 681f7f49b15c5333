#include "rill/graph/name_scope.h"

#include "rill/graph/graph.h"

namespace rill {
namespace {

std::string& prefix() {
  static thread_local std::string p;
  return p;
}

}  // namespace

// In a graph a scope that is opened a second time is another one: "hidden_1/".
name_scope::name_scope(std::string_view name) : outer_(prefix()) {
  Graph* g = TracingScope::current();
  name_ = g ? g->unique_name(outer_ + std::string(name)) + "/" : outer_ + std::string(name) + "/";
  prefix() = name_;
}
name_scope::~name_scope() { prefix() = outer_; }

std::string join_scope(std::string_view name) { return prefix() + std::string(name); }

NameScopeReset::NameScopeReset() : outer_(std::exchange(prefix(), {})) {}
NameScopeReset::~NameScopeReset() { prefix() = outer_; }

}  // namespace rill
