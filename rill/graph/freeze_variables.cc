#include <algorithm>
#include <list>

#include "rill/base/check.h"
#include "rill/graph/graph_def_impl.h"

namespace rill {
namespace {

const ValueInfo& info(Endpoint e) { return e.node->outputs[static_cast<std::size_t>(e.index)]; }

// Which input of a node is argument 0 of the functions that it calls.
std::size_t first_argument(const Op& op) {
  return op.name == "If" || op.name == "StatelessIf" || op.name == "Case" ||
                 op.name == "StatelessCase"
             ? 1
             : 0;
}

class Freezer {
 public:
  Ref<Graph> copy(const Graph& from, const std::vector<ValueInfo>& as) {
    Ref<Graph> to(new Graph(from.name));
    std::vector<Node*> made(from.nodes().size());
    auto at = [&](Endpoint e) {
      return Endpoint{made[static_cast<std::size_t>(e.node->id)], e.index};
    };
    for (const auto& n : from.nodes()) {
      Node*& out = made[static_cast<std::size_t>(n->id)];
      const auto arg = std::find(from.args.begin(), from.args.end(), n.get());
      if (arg != from.args.end()) {
        const ValueInfo& value = as[static_cast<std::size_t>(arg - from.args.begin())];
        const ValueInfo& own = value.dtype.defined() ? value : n->outputs[0];
        out = &to->add_argument(n->name, own.dtype, own.shape);
        if (!value.dtype.defined()) out->handle = n->handle;
        continue;
      }
      std::vector<Endpoint> inputs;
      bool frozen = false;
      for (Endpoint e : n->inputs) {
        inputs.push_back(at(e));
        frozen = frozen || info(e).dtype != info(inputs.back()).dtype;
      }
      out = frozen ? &without_handles(*to, *n, std::move(inputs))
                   : &to->add(*n->op, n->name, std::move(inputs), n->attrs, n->outputs);
      for (const Node* c : n->control_inputs)
        out->control_inputs.push_back(made[static_cast<std::size_t>(c->id)]);
      out->device = n->device;
      out->file = n->file, out->line = n->line;
      out->lifted = n->lifted;
    }
    to->args.clear();  // in the order of the arguments, which need not be that of the nodes
    for (const Node* a : from.args) to->args.push_back(made[static_cast<std::size_t>(a->id)]);
    for (Endpoint e : from.results) to->results.push_back(at(e));
    return to;
  }

 private:
  // A node some of whose inputs are values now that were handles.
  Node& without_handles(Graph& to, const Node& n, std::vector<Endpoint> inputs) {
    if (n.is("ReadVariableOp") || n.is("Identity")) {
      const ValueInfo value = info(inputs[0]);
      return to.add(find_op("Identity"), n.name, std::move(inputs), {}, {value});
    }
    if (n.is("ResourceGather") && n.reader().int_attr("batch_dims") == 0) {
      inputs.push_back(to.add_constant(to_tensor(Operand(0)), n.name + "/axis"));
      return to.add(find_op("GatherV2"), n.name, std::move(inputs), {}, n.outputs);
    }
    bool calls = false;
    AttrStorage attrs = n.attrs;
    std::vector<ValueInfo> as;
    for (std::size_t i = first_argument(*n.op); i < n.inputs.size(); ++i)
      as.push_back(info(n.inputs[i]).dtype == info(inputs[i]).dtype ? ValueInfo()
                                                                    : info(inputs[i]));
    std::vector<ValueInfo> outputs = n.outputs;
    auto body = [&](const FunctionRef& f) {
      calls = true;
      const Ref<GraphFunction> g = function(f, as);
      // A handle that comes back is a value that comes back.
      for (std::size_t i = 0; i < outputs.size() && i < g->num_results(); ++i)
        if (outputs[i].dtype == resource) outputs[i] = info(g->graph->results[i]);
      return as_attr(g);
    };
    for (const Attr& a : n.attrs.list()) {
      if (a.value.kind() == AttrValue::Kind::function) {
        attrs.set(a.name, body(a.value.as_function()));
      } else if (a.value.kind() == AttrValue::Kind::functions) {
        std::vector<FunctionRef> all;
        for (const FunctionRef& f : a.value.as_functions()) all.push_back(body(f));
        attrs.set(a.name, std::span<const FunctionRef>(all));
      }
    }
    RILL_CHECK(calls, failed_precondition,
               "[to_graph_def] node \"{}\" ({}) changes a variable, which freezing makes a "
               "constant; write the function with freeze = false",
               n.name, n.op->name);
    return to.add(*n.op, n.name, std::move(inputs), std::move(attrs), std::move(outputs));
  }

  Ref<GraphFunction> function(const FunctionRef& f, const std::vector<ValueInfo>& as) {
    auto same = [](const ValueInfo& a, const ValueInfo& b) {
      return a.dtype == b.dtype && a.shape == b.shape;
    };
    for (const Made& m : made_)
      if (m.from.get() == f.get() && std::ranges::equal(m.as, as, same)) return m.frozen;
    const GraphFunction& from = function_of(f);
    Ref<GraphFunction> frozen(new GraphFunction(from.name, copy(*from.graph, as)));
    made_.push_back({f, as, frozen});
    return frozen;
  }

  struct Made {
    FunctionRef from;
    std::vector<ValueInfo> as;
    Ref<GraphFunction> frozen;
  };
  std::list<Made> made_;
};

}  // namespace

Ref<Graph> freeze_variables(const Graph& graph, const std::vector<ValueInfo>& as) {
  return Freezer().copy(graph, as);
}

}  // namespace rill
