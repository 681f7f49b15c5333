// A GraphDef that was read, and functions cut out of it.
#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/graph/function/function_impl.h"
#include "rill/graph/graph_def/graph_def_impl.h"

namespace rill {

class ImportedGraphImpl {
 public:
  GraphDefContents contents;
  RefCount refs;
};
void retain(ImportedGraphImpl* g) noexcept { g->refs.retain(); }
void release(ImportedGraphImpl* g) noexcept {
  if (g->refs.release()) delete g;
}

ImportedGraph import_graph_def(std::string_view bytes, const GraphDefImportOptions& options) {
  proto::GraphDef def = parse_graph_def(bytes);
  raise_control_flow(&def);
  Ref<ImportedGraphImpl> impl(new ImportedGraphImpl);
  impl->contents = read_graph_def(def, options);
  return ImportedGraph(std::move(impl));
}

std::vector<std::string> ImportedGraph::node_names() const {
  std::vector<std::string> out;
  for (const auto& n : impl_->contents.graph->nodes()) out.push_back(n->name);
  return out;
}
std::vector<TensorSpec> ImportedGraph::placeholders() const {
  std::vector<TensorSpec> out;
  for (const auto& n : impl_->contents.graph->nodes())
    if (is_argument(*n) && !n->handle)
      out.emplace_back(n->outputs[0].shape, n->outputs[0].dtype, n->name);
  return out;
}
std::vector<std::string> ImportedGraph::function_names() const {
  std::vector<std::string> out;
  for (const auto& [name, f] : impl_->contents.functions) out.push_back(name);
  return out;
}
std::vector<Variable> ImportedGraph::variables() const {
  std::vector<Variable> out;
  for (const Capture& c : impl_->contents.graph->captures)
    out.push_back(Variable::of_handle(c.outer));
  return out;
}

namespace {

// A body as what a program calls: one tensor for each argument, a tuple of results,
// or the only one.
ConcreteFunction concrete(Ref<GraphFunction> body, std::size_t tensor_args) {
  Ref<ConcreteFunctionImpl> c(new ConcreteFunctionImpl);
  for (std::size_t i = 0; i < tensor_args; ++i) {
    const ValueInfo& v = body->graph->args[i]->outputs[0];
    CallSignature::Item item;
    item.kind = detail::Argument::Kind::tensor;
    item.specs.emplace_back(v.shape, v.dtype, body->graph->args[i]->name);
    c->signature.items.push_back(std::move(item));
  }
  for (std::size_t i = 0; i < body->num_results(); ++i)
    c->result_index.push_back(static_cast<int>(i));
  c->structure =
      body->num_results() == 1 ? Nest(Tensor()) : Nest(std::vector<Tensor>(body->num_results()));
  c->tensor_args = tensor_args;
  c->captured = body->captured_values();
  c->body = std::move(body);
  return ConcreteFunction(std::move(c));
}

// "split:1" as an output of a node of the graph.
Endpoint find_tensor(const Graph& g, const std::string& name) {
  const auto colon = name.rfind(':');
  const std::string node = name.substr(0, colon);
  Node* n = g.find(node);
  if (!n) {
    std::vector<std::string> known;
    for (const auto& k : g.nodes()) known.push_back(k->name);
    RILL_FAIL(not_found, "[function] the graph has no node \"{}\".{}", node,
              did_you_mean(node, known));
  }
  std::size_t index = 0;
  if (colon != std::string::npos) {
    const std::string digits = name.substr(colon + 1);
    RILL_CHECK(!digits.empty() && digits.size() < 9 &&
                   digits.find_first_not_of("0123456789") == std::string::npos,
               invalid_argument,
               "[function] \"{}\" is not a name of a tensor; expected \"node\" or \"node:1\"",
               name);
    index = std::stoul(digits);
  }
  RILL_CHECK(index < n->outputs.size(), invalid_argument,
             "[function] node \"{}\" ({}) has {} outputs; there is no \"{}\"", node, n->op->name,
             n->outputs.size(), name);
  return {n, static_cast<int>(index)};
}

}  // namespace

ConcreteFunction ImportedGraph::function(const std::vector<std::string>& inputs,
                                         const std::vector<std::string>& outputs) const {
  const Graph& from = *impl_->contents.graph;
  std::vector<Endpoint> fed, wanted;
  for (const std::string& name : inputs) fed.push_back(find_tensor(from, name));
  std::vector<const Node*> targets;  // nodes without results, which run for their effects
  for (const std::string& name : outputs) {
    const Node* n = from.find(name);
    if (n && n->outputs.empty())
      targets.push_back(n);
    else
      wanted.push_back(find_tensor(from, name));
  }
  auto place = [&](Endpoint e) {
    return static_cast<std::size_t>(std::find(fed.begin(), fed.end(), e) - fed.begin());
  };
  // Nodes come after what they use, so one walk from the end finds all.
  std::vector<char> needed(from.nodes().size(), 0);
  auto need = [&](Endpoint e) {
    if (place(e) == fed.size()) needed[static_cast<std::size_t>(e.node->id)] = 1;
  };
  for (Endpoint e : wanted) need(e);
  for (const Node* n : targets) needed[static_cast<std::size_t>(n->id)] = 1;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (Endpoint e : from.nodes()[i]->inputs) need(e);
    for (const Node* c : from.nodes()[i]->control_inputs)
      if (!is_argument(*c)) needed[static_cast<std::size_t>(c->id)] = 1;
  }
  Ref<Graph> to(new Graph("imported"));
  for (std::size_t i = 0; i < fed.size(); ++i) {
    RILL_CHECK(place(fed[i]) == i, invalid_argument, "[function] input \"{}\" is there twice",
               inputs[i]);
    const std::string wanted_name =
        fed[i].index == 0 ? fed[i].node->name : format("{}_{}", fed[i].node->name, fed[i].index);
    to->add_argument(wanted_name, info(fed[i]).dtype, info(fed[i]).shape);
  }
  std::vector<Node*> made(from.nodes().size());
  auto at = [&](Endpoint e) {
    const std::size_t i = place(e);
    return i < fed.size() ? Endpoint{to->args[i], 0}
                          : Endpoint{made[static_cast<std::size_t>(e.node->id)], e.index};
  };
  for (const auto& n : from.nodes()) {
    const auto id = static_cast<std::size_t>(n->id);
    if (!needed[id]) continue;
    const auto capture = std::find_if(from.captures.begin(), from.captures.end(),
                                      [&](const Capture& c) { return c.arg == n.get(); });
    if (capture != from.captures.end()) {
      made[id] = to->endpoint(capture->outer).node;
      continue;
    }
    RILL_CHECK(!is_argument(*n) || place({n.get(), 0}) < fed.size(), invalid_argument,
               "[function] the outputs need placeholder \"{}\" ({} {}), which is not among the "
               "inputs",
               n->name, n->outputs[0].dtype, n->outputs[0].shape);
    std::vector<Endpoint> in;
    for (Endpoint e : n->inputs) in.push_back(at(e));
    Node& copy = to->add(*n->op, n->name, std::move(in), n->attrs, n->outputs);
    copy.device = n->device;
    for (const Node* c : n->control_inputs)
      if (Node* m = made[static_cast<std::size_t>(c->id)]) copy.control_inputs.push_back(m);
    made[id] = &copy;
  }
  for (Endpoint e : wanted) to->results.push_back(at(e));
  return concrete(finish_function(std::move(to)), fed.size());
}

ConcreteFunction ImportedGraph::library_function(std::string_view name) const {
  const auto it = impl_->contents.functions.find(name);
  RILL_CHECK(it != impl_->contents.functions.end(), not_found,
             "[library_function] the library has no function \"{}\".{}", name,
             did_you_mean(name, function_names()));
  return concrete(it->second, it->second->num_inputs());
}

}  // namespace rill
