#include "rill/graph/ir/named.h"

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/ir/graph.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"

namespace rill {
namespace {

// The graph that is being built, if `t` is a tensor of it.
Graph* own_graph(const Tensor& t) {
  if (!t.defined() || !t.is_symbolic() || t.impl()->symbol->own_executor()) return nullptr;
  Graph* g = TracingScope::current();
  return g && symbol_of(t).graph.get() == g ? g : nullptr;
}

// Whether the expression just made this node: it is the newest, and nobody else
// has a handle of it. (A tape may; then the first must do.)
bool just_made(const Graph& g, const Tensor& t) {
  const Node& n = *symbol_of(t).at.node;
  return &n == g.nodes().back().get() && (call_context().recorder || t.impl()->refs.unique());
}

// What of a node's name the expression made up: "add_1", or "loss_2" of
// "loss_2/Reshape", within the scopes of this thread.
std::string made_up_name(const Node& n) {
  const std::string scope = join_scope("");
  if (!n.name.starts_with(scope)) return {};
  return n.name.substr(0, n.name.find('/', scope.size()));
}

// Gives the node of `t` the name, or says that an Identity must have it.
bool rename(std::string_view name, const Tensor& t) {
  Graph* g = own_graph(t);
  if (!g || !just_made(*g, t)) return false;
  const std::string old = made_up_name(*symbol_of(t).at.node);
  if (old.empty()) return false;
  g->rename(old, join_scope(name));
  return true;
}

Tensor identity_named(std::string_view name, const Tensor& t) {
  Graph* g = own_graph(t);
  if (!g) return t;
  const Tensor copy = identity(t);
  g->rename(made_up_name(*symbol_of(copy).at.node), join_scope(name));
  return copy;
}

}  // namespace

Tensor named(std::string_view name, Tensor&& made) {
  if (!made.defined() || !made.is_symbolic()) return std::move(made);
  return rename(name, made) ? std::move(made) : identity_named(name, made);
}
Tensor named(std::string_view name, const Tensor& t) {
  if (!t.defined() || !t.is_symbolic()) return t;
  return identity_named(name, t);
}
std::vector<Tensor> named(std::string_view name, std::vector<Tensor>&& made) {
  // One op with many results, or one of several that share its scope.
  if (made.empty() || !made.back().is_symbolic() || rename(name, made.back()))
    return std::move(made);
  for (Tensor& t : made) t = identity_named(name, t);
  return std::move(made);
}

}  // namespace rill
