#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/graph/ir/graph.h"

// Passes over the graph of a function before it is planned: each makes the graph do
// the same with less. One a file; each registers itself with a name, by which it can
// be switched off, and its place in the order.
namespace rill {

// What a pass did: a line of explain().
struct PassReport {
  std::string pass;
  int nodes_before = 0, nodes_after = 0;
  std::string what;  // "3 calls inlined"; empty: nothing
};

// Changes the graph; returns what it did, empty when nothing.
using PassFn = std::string (*)(Graph& graph);

struct Pass {
  int order;  // passes run in this order; see optimize.cc
  const char* name;
  const char* doc;
  PassFn run;
  bool exact;  // results keep their bits
};
struct PassRegistration {
  PassRegistration(int order, const char* name, const char* doc, PassFn run, bool exact = true);
};
const std::vector<Pass>& all_passes();

// Runs the passes that are on.
std::vector<PassReport> optimize(Graph& graph);

// ---- what passes share

// A copy of a graph with the same names, arguments and results.
Ref<Graph> clone(const Graph& graph);
// Every use of `from`, results included, becomes one of `to`.
void replace_uses(Graph& graph, Endpoint from, Endpoint to);
// The users of each output: [node id][output] -> users (a node that uses it twice comes
// twice); results count as a use by nobody (null).
std::vector<std::vector<std::vector<Node*>>> users_of(const Graph& graph);
// Whether two nodes have the same attributes.
bool same_attrs(const Node& a, const Node& b);
// Removes nodes that nothing needs.
int prune(Graph& graph);
// Moves `node`, which was added at the end, to just before `before`.
void move_before(Graph& graph, Node& node, const Node& before);

}  // namespace rill
