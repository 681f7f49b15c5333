#include "rill/core/execute.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/ir/graph.h"

namespace rill {

control_dependencies::control_dependencies(const TensorList& before) {
  Graph* g = TracingScope::current();
  std::vector<Node*> nodes;
  for (const Tensor& t : before.tensors())
    if (g && t.is_symbolic()) nodes.push_back(g->endpoint(t).node);
  if (g) g->control_stack.push_back(std::move(nodes));
  graph_ = g;
}
control_dependencies::~control_dependencies() {
  if (graph_) static_cast<Graph*>(graph_)->control_stack.pop_back();
}

}  // namespace rill
