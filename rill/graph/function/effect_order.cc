#include "rill/graph/function/effect_order_impl.h"

#include <algorithm>
#include <set>

#include "rill/graph/function/graph_function.h"

namespace rill {
namespace {

// Draws of random numbers take turns, but which comes first means nothing: other
// runtimes give each node its own stream.
bool is_random(const Node& n) { return n.op->random; }

// The variable behind a handle: the same for two arguments that name one variable.
const void* identity(Endpoint e) {
  while (e.node->is("Identity") && !e.node->inputs.empty()) e = e.node->inputs[0];
  if (e.node->handle) return e.node->handle.get();
  return &info(e);
}

// Effects of a function beyond the variables that it is given.
bool has_other_effects(const GraphFunction& f, int depth);
bool has_other_effects(const Node& n, int depth) {
  if (!n.op->stateful) return false;
  bool calls = false, other = false;
  for (const Attr& a : n.attrs.list()) {
    auto look = [&](const FunctionRef& body) {
      calls = true;
      other = other || depth > 32 || has_other_effects(function_of(body), depth + 1);
    };
    if (a.value.kind() == AttrValue::Kind::function) look(a.value.as_function());
    if (a.value.kind() == AttrValue::Kind::functions)
      for (const FunctionRef& body : a.value.as_functions()) look(body);
  }
  if (calls) return other;
  for (Endpoint e : n.inputs)
    if (info(e).dtype == resource) return false;
  return !is_random(n);
}
bool has_other_effects(const GraphFunction& f, int depth) {
  return std::ranges::any_of(f.graph->nodes(),
                             [&](const auto& n) { return has_other_effects(*n, depth); });
}

// One thing with state: a variable, or the world outside.
struct State {
  const Node* last_write = nullptr;
  std::vector<const Node*> reads;  // since then
};

}  // namespace

EffectOrder effect_order(const Graph& graph) {
  EffectOrder order;
  order.before.resize(graph.nodes().size());
  std::map<const void*, State> states;
  const void* const world = nullptr;
  std::set<const Node*> waited_for;
  for (const auto& p : graph.nodes()) {
    const Node& n = *p;
    std::vector<const Node*>& before = order.before[static_cast<std::size_t>(n.id)];
    before.assign(n.control_inputs.begin(), n.control_inputs.end());
    if (n.op->stateful && !n.lifted) {
      const bool read = n.op->only_reads();
      auto touch = [&](State& s) {
        if (s.last_write && s.last_write != &n) before.push_back(s.last_write);
        if (read) return s.reads.push_back(&n);
        for (const Node* r : s.reads)
          if (r != &n) before.push_back(r);
        s.reads.clear();
        s.last_write = &n;
      };
      for (Endpoint e : n.inputs)
        if (info(e).dtype == resource) touch(states[identity(e)]);
      if (!read && has_other_effects(n, 0)) touch(states[world]);
      if (!read && !is_random(n)) order.effects.push_back(&n);
    }
    std::erase_if(before, [&](const Node* b) {
      return is_argument(*b) ||
             std::ranges::any_of(n.inputs, [&](Endpoint e) { return e.node == b; });
    });
    std::ranges::sort(before, {}, &Node::id);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const Node* b : before) waited_for.insert(b);
    for (Endpoint e : n.inputs) waited_for.insert(e.node);
  }
  for (const Node* e : order.effects)
    if (!waited_for.contains(e)) order.last.push_back(e);
  return order;
}

}  // namespace rill
