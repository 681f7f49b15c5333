// The updates that one step of an optimizer makes become one: a network has many small
// variables, and each by itself keeps one thread busy for less than a step of a plan costs.
#include <algorithm>
#include <map>
#include <set>

#include "rill/core/resource.h"
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

// A merged update holds the locks of all its variables at once. Thread sanitizers follow 64
// locks of a thread and no more.
constexpr std::size_t kMostVariables = 60;
// Of fewer there is nothing to gain.
constexpr std::size_t kFewestUpdates = 4;

// Updates that wait to be made together, where the last of them stands.
struct Batch {
  std::vector<Node*> members;
  std::set<const Resource*> variables;
};

// The variables that a node is given. `known`: whether it is known which they are.
std::set<const Resource*> variables_of(const Node& n, bool* known) {
  std::set<const Resource*> out;
  *known = true;
  for (Endpoint e : n.inputs) {
    if (info(e).dtype != resource_dtype()) continue;
    *known = *known && e.node->handle && out.insert(e.node->handle.get()).second;
  }
  return out;
}

// Updates run where their variables are. A device has its own way to do much at once: it
// records the step.
bool on_host(const Node& n) {
  for (Endpoint e : n.inputs) {
    if (info(e).dtype != resource_dtype()) continue;
    if (e.node->handle->resource_kind != Resource::Kind::variable) return false;
    const Device* device = static_cast<VariableCell&>(*e.node->handle).device();
    if (device && !device->is_host()) return false;
  }
  return true;
}

// Whether a node changes or reads nothing but the variables that it is given.
bool touches_variables_alone(const Node& n) {
  const VariableUse use = n.op->variable;
  return use == VariableUse::update || use == VariableUse::read || use == VariableUse::assign;
}

// The batches, each closed before a node that could tell whether its updates are made.
std::vector<Batch> find_batches(const Graph& graph) {
  std::vector<Batch> closed, open;
  auto close_if = [&](auto condition) {
    auto from = std::stable_partition(open.begin(), open.end(),
                                      [&](const Batch& b) { return !condition(b); });
    std::move(from, open.end(), std::back_inserter(closed));
    open.erase(from, open.end());
  };
  for (const auto& n : graph.nodes()) {
    if (!n->control_inputs.empty()) {
      close_if([](const Batch&) { return true; });
      continue;
    }
    if (!n->op->stateful || is_argument(*n)) continue;
    bool known = false;
    const std::set<const Resource*> variables = variables_of(*n, &known);
    if (!known || !touches_variables_alone(*n)) {
      close_if([](const Batch&) { return true; });
      continue;
    }
    close_if([&](const Batch& b) {
      return std::ranges::any_of(variables, [&](auto* v) { return b.variables.contains(v); });
    });
    if (!n->op->many_updates(DeviceType::cpu) || n->lifted || !on_host(*n)) continue;
    auto batch = std::ranges::find_if(open, [&](const Batch& b) {
      const Node& m = *b.members[0];
      return m.op == n->op && m.device == n->device && same_attrs(m, *n) &&
             info(m.inputs.back()).dtype == info(n->inputs.back()).dtype &&
             b.variables.size() + variables.size() <= kMostVariables;
    });
    if (batch == open.end()) batch = open.insert(open.end(), Batch{});
    batch->members.push_back(n.get());
    batch->variables.insert(variables.begin(), variables.end());
  }
  close_if([](const Batch&) { return true; });
  std::erase_if(closed, [](const Batch& b) { return b.members.size() < kFewestUpdates; });
  return closed;
}

std::string merge_updates(Graph& graph) {
  static const Op& apply_many = find_op("_ApplyMany");
  const std::vector<Batch> batches = find_batches(graph);
  if (batches.empty()) return "";
  std::map<const Node*, Node*> merged;
  for (const Batch& b : batches) {
    Node& last = *b.members.back();
    std::vector<Endpoint> inputs;
    for (const Node* m : b.members) inputs.insert(inputs.end(), m->inputs.begin(), m->inputs.end());
    AttrStorage attrs = last.attrs;
    attrs.set("update", last.op->name);
    attrs.set("T", info(last.inputs.back()).dtype);
    Node& all = graph.add(apply_many, last.name + "/many", std::move(inputs), std::move(attrs), {});
    all.file = last.file;
    all.line = last.line;
    all.device = last.device;
    move_before(graph, all, last);
    for (const Node* m : b.members) merged[m] = &all;
  }
  for (const auto& n : graph.nodes())
    for (Node*& c : n->control_inputs)
      if (auto it = merged.find(c); it != merged.end()) c = it->second;
  std::vector<char> keep(graph.nodes().size(), 1);
  for (const auto& [member, all] : merged) keep[static_cast<std::size_t>(member->id)] = 0;
  graph.retain_nodes(keep);
  return format("{} updates of variables in {}", merged.size(), batches.size());
}
const PassRegistration registered_merge_updates(
    80, "merge_updates", "The updates of one step of an optimizer are made in one loop.",
    merge_updates);

}  // namespace
}  // namespace rill
