// Calls become what they call, so that the other passes see through them.
#include "rill/graph/function/graph_function.h"
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

bool is_call(const Node& n) { return n.op->calls == Calls::function; }

std::string inline_calls(Graph& graph) {
  int count = 0;
  // A body may call others: again until none is left.
  for (int depth = 0; depth < 100; ++depth) {
    std::vector<Node*> calls;
    for (const auto& n : graph.nodes())
      if (is_call(*n)) calls.push_back(n.get());
    if (calls.empty()) break;
    std::vector<Node*> order;
    std::vector<Node*> old;
    for (const auto& n : graph.nodes()) old.push_back(n.get());
    for (Node* n : old) {
      if (!is_call(*n)) {
        order.push_back(n);
        continue;
      }
      ++count;
      const Graph& body = *function_of(n->reader().attr("f").as_function()).graph;
      std::vector<Node*> copy(body.nodes().size());
      std::vector<Endpoint> given(body.nodes().size());
      for (std::size_t i = 0; i < body.args.size(); ++i)
        given[static_cast<std::size_t>(body.args[i]->id)] = n->inputs[i];
      auto here = [&](Endpoint e) {
        const auto id = static_cast<std::size_t>(e.node->id);
        return given[id].node ? given[id] : Endpoint{copy[id], e.index};
      };
      for (const auto& b : body.nodes()) {
        if (given[static_cast<std::size_t>(b->id)].node || is_argument(*b)) continue;
        std::vector<Endpoint> inputs;
        for (Endpoint e : b->inputs) inputs.push_back(here(e));
        Node& c =
            graph.add(*b->op, n->name + "/" + b->name, std::move(inputs), b->attrs, b->outputs);
        c.device = b->device.empty() ? n->device : b->device;
        c.file = b->file;
        c.line = b->line;
        c.lifted = b->lifted;
        copy[static_cast<std::size_t>(b->id)] = &c;
        order.push_back(&c);
      }
      for (std::size_t i = 0; i < body.results.size(); ++i)
        replace_uses(graph, {n, static_cast<int>(i)}, here(body.results[i]));
      order.push_back(n);  // nothing uses it now
      n->lifted = true;
      n->inputs.clear();
    }
    graph.reorder(order);
    std::vector<char> keep(graph.nodes().size(), 1);
    for (Node* n : calls) {
      keep[static_cast<std::size_t>(n->id)] = 0;
      for (const auto& m : graph.nodes()) std::erase(m->control_inputs, n);
    }
    graph.retain_nodes(keep);
  }
  return count ? format("{} calls inlined", count) : "";
}
const PassRegistration registered_inline_calls(10, "inline_calls", "Calls become what they call.",
                                               inline_calls);

std::string prune_pass(Graph& graph) {
  const int gone = prune(graph);
  return gone ? format("{} nodes that nothing needs are gone", gone) : "";
}
const PassRegistration pruning(20, "prune", "What nothing needs goes.", prune_pass);

}  // namespace
}  // namespace rill
