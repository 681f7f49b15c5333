// The order of the passes, the switches, and what passes share.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/graph/ir/interpreter.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

std::vector<Pass>& registry() {
  static auto* v = new std::vector<Pass>;
  return *v;
}

struct Switches {
  std::mutex mutex;
  std::set<std::string, std::less<>> off;
  bool all_off = false;
};
Switches& switches() {
  static auto* s = new Switches;
  return *s;
}

}  // namespace

PassRegistration::PassRegistration(int order, const char* name, const char* doc, PassFn run,
                                   bool exact) {
  registry().push_back({order, name, doc, run, exact});
  std::sort(registry().begin(), registry().end(),
            [](const Pass& a, const Pass& b) { return a.order < b.order; });
}
const std::vector<Pass>& all_passes() { return registry(); }

namespace graph_passes {

std::vector<std::string> list() {
  std::vector<std::string> out;
  for (const Pass& p : all_passes()) out.emplace_back(p.name);
  return out;
}
void enable(std::string_view name, bool on) {
  const std::vector<std::string> known = list();
  RILL_CHECK(std::find(known.begin(), known.end(), name) != known.end(), not_found,
             "[graph_passes] no pass is called \"{}\".{}", name, did_you_mean(name, known));
  Switches& s = switches();
  std::lock_guard lock(s.mutex);
  if (on)
    s.off.erase(std::string(name));
  else
    s.off.insert(std::string(name));
}
void disable(std::string_view name) { enable(name, false); }
void enable_all(bool on) {
  Switches& s = switches();
  std::lock_guard lock(s.mutex);
  s.all_off = !on;
  if (on) s.off.clear();
}
bool enabled(std::string_view name) {
  Switches& s = switches();
  std::lock_guard lock(s.mutex);
  return !s.all_off && !s.off.count(name);
}

}  // namespace graph_passes

std::vector<PassReport> optimize(Graph& graph) {
  std::vector<PassReport> out;
  for (const Pass& p : all_passes()) {
    if (!graph_passes::enabled(p.name)) continue;
    PassReport r;
    r.pass = p.name;
    r.nodes_before = static_cast<int>(graph.nodes().size());
    r.what = p.run(graph);
    r.nodes_after = static_cast<int>(graph.nodes().size());
    out.push_back(std::move(r));
  }
  return out;
}

Ref<Graph> clone(const Graph& from) {
  Ref<Graph> to(new Graph(from.name, from.outer));
  std::vector<Node*> copy(from.nodes().size());
  auto at = [&](const Node* n) { return copy[static_cast<std::size_t>(n->id)]; };
  for (const auto& n : from.nodes()) {
    std::vector<Endpoint> inputs;
    for (Endpoint e : n->inputs) inputs.push_back({at(e.node), e.index});
    Node& c = to->add(*n->op, n->name, std::move(inputs), n->attrs, n->outputs);
    for (const Node* d : n->control_inputs) c.control_inputs.push_back(at(d));
    c.device = n->device;
    c.file = n->file;
    c.line = n->line;
    c.handle = n->handle;
    c.lifted = n->lifted;
    copy[static_cast<std::size_t>(n->id)] = &c;
  }
  for (const Node* a : from.args) to->args.push_back(at(a));
  for (const Capture& c : from.captures) to->captures.push_back({c.outer, at(c.arg)});
  for (Endpoint e : from.results) to->results.push_back({at(e.node), e.index});
  return to;
}

void replace_uses(Graph& graph, Endpoint from, Endpoint to) {
  for (const auto& n : graph.nodes())
    for (Endpoint& e : n->inputs)
      if (e == from) e = to;
  for (Endpoint& e : graph.results)
    if (e == from) e = to;
}

std::vector<std::vector<std::vector<Node*>>> users_of(const Graph& graph) {
  std::vector<std::vector<std::vector<Node*>>> out(graph.nodes().size());
  for (const auto& n : graph.nodes())
    out[static_cast<std::size_t>(n->id)].resize(n->outputs.size());
  auto add = [&](Endpoint e, Node* user) {
    out[static_cast<std::size_t>(e.node->id)][static_cast<std::size_t>(e.index)].push_back(user);
  };
  for (const auto& n : graph.nodes())
    for (Endpoint e : n->inputs) add(e, n.get());
  for (Endpoint e : graph.results) add(e, nullptr);
  return out;
}

int prune(Graph& graph) {
  std::vector<char> keep = needed_nodes(graph, graph.results, true);
  for (const Node* a : graph.args) keep[static_cast<std::size_t>(a->id)] = 1;
  const auto gone = std::count(keep.begin(), keep.end(), 0);
  if (gone > 0) {
    for (const auto& n : graph.nodes())
      std::erase_if(n->control_inputs,
                    [&](const Node* c) { return !keep[static_cast<std::size_t>(c->id)]; });
    graph.retain_nodes(keep);
  }
  return static_cast<int>(gone);
}

void move_before(Graph& graph, Node& node, const Node& before) {
  std::vector<Node*> order;
  for (const auto& n : graph.nodes()) {
    if (n.get() == &before) order.push_back(&node);
    if (n.get() != &node) order.push_back(n.get());
  }
  graph.reorder(order);
}

}  // namespace rill
