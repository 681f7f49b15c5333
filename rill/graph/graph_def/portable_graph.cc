#include <algorithm>
#include <list>

#include "rill/base/check.h"
#include "rill/graph/control_flow/by_steps_impl.h"
#include "rill/graph/control_flow/gru_sequence.h"
#include "rill/graph/control_flow/lstm_sequence.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/graph_def/node_signature_impl.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

// Which input of a node is argument 0 of the functions that it calls.
std::size_t first_argument(const Op& op) { return op.calls == Calls::branch ? 1 : 0; }

// Scopes and variables may have any name; nodes of a file may not.
std::string node_name(const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (!may_be_in_node_name(name[i], i == 0)) name[i] = i == 0 ? '.' : '_';
  return name.empty() ? "node" : name;
}

// What layer_norm and its gradients are made of: the rows of x, without their mean
// and by their deviation.
struct Rows {
  Rows(const Node& n, const Tensor& in, const Tensor& gamma) : dtype(in.dtype()) {
    RILL_CHECK(in.shape().has_rank() && gamma.shape().has_rank(), unimplemented,
               "[to_graph_def] node \"{}\" ({}) can be written only where ranks are known", n.name,
               n.op->name);
    for (int i = 0; i < in.ndim(); ++i) (i < in.ndim() - gamma.ndim() ? rows : axes).push_back(i);
    const Tensor x = wide(in);
    const Tensor off = x - reduce_mean(x, axes, {.keepdims = true});
    const Tensor variance = reduce_mean(square(off), axes, {.keepdims = true});
    scale = rsqrt(variance + constant(n.reader().float_attr("epsilon"), x.dtype()));
    z = off * scale;
  }
  Tensor wide(const Tensor& t) const { return cast(t, dtype == float64 ? float64 : float32); }
  Tensor mean(const Tensor& t) const { return reduce_mean(t, axes, {.keepdims = true}); }
  Tensor sum(const Tensor& t) const { return rows.empty() ? t : reduce_sum(t, rows); }
  DType dtype;
  std::vector<int> axes, rows;
  Tensor scale, z;
};

std::vector<Tensor> lstm_steps(const std::vector<Tensor>& a) {
  const LstmResult r = lstm_by_steps({a[0], a[1], a[2], a[3], a[4], a[5]});
  return {r.outputs, r.h, r.c};
}
std::vector<Tensor> gru_steps(const std::vector<Tensor>& a) {
  const GruResult r = gru_by_steps({a[0], a[1], a[2], a[3], a[4]});
  return {r.outputs, r.h};
}

// Ops of Rill alone as ops that others have; empty: there is no such form.
std::vector<Tensor> parts_of(const Node& n, const std::vector<Tensor>& in) {
  if (n.is("LayerNorm")) {
    const Rows r(n, in[0], in[1]);
    return {cast(r.z * r.wide(in[1]) + r.wide(in[2]), r.dtype)};
  }
  if (n.is("LayerNormGrad")) {
    const Rows r(n, in[1], in[2]);
    const Tensor dy = r.wide(in[0]), g = dy * r.wide(in[2]);
    return {cast(r.scale * (g - r.mean(g) - r.z * r.mean(g * r.z)), r.dtype),
            cast(r.sum(dy * r.z), r.dtype), cast(r.sum(dy), r.dtype)};
  }
  // The parts of the gradients go through the steps again and need nothing kept.
  const auto from = [&](int first, int count) {
    return std::vector<Tensor>(in.begin() + first, in.begin() + first + count);
  };
  if (n.is("LSTMSequence")) {
    std::vector<Tensor> out = lstm_steps(in);
    out.push_back(zeros_like(tile(out[0], {1, 1, 5})));
    return out;
  }
  if (n.is("LSTMSequenceGrad")) return gradients_by_steps(lstm_steps, from(3, 6), from(0, 3));
  if (n.is("GRUSequence")) {
    std::vector<Tensor> out = gru_steps(in);
    out.push_back(zeros_like(tile(out[0], {1, 1, 4})));
    return out;
  }
  if (n.is("GRUSequenceGrad")) return gradients_by_steps(gru_steps, from(2, 5), from(0, 2));
  return {};
}

class Copier {
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
        out = &to->add_argument(node_name(n->name), own.dtype, own.shape);
        if (!value.dtype.defined()) out->handle = n->handle;
        continue;
      }
      std::vector<Endpoint> inputs;
      bool frozen = false;
      for (Endpoint e : n->inputs) {
        inputs.push_back(at(e));
        frozen = frozen || info(e).dtype != info(inputs.back()).dtype;
      }
      out = !in_tensorflow(*n->op) ? &in_parts(*to, *n, std::move(inputs))
            : frozen || calls(*n)
                ? &without_handles(*to, *n, std::move(inputs))
                : &to->add(*n->op, node_name(n->name), std::move(inputs), n->attrs, n->outputs);
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
  static bool calls(const Node& n) {
    return std::ranges::any_of(n.attrs.list(), [](const Attr& a) {
      return a.value.kind() == AttrValue::Kind::function ||
             a.value.kind() == AttrValue::Kind::functions;
    });
  }

  static Node& in_parts(Graph& to, const Node& n, std::vector<Endpoint> inputs) {
    std::vector<Endpoint> results;
    {
      TracingScope tracing(to);
      name_scope scope(node_name(n.name) + "/parts");
      std::vector<Tensor> in;
      for (Endpoint e : inputs) in.push_back(to.tensor(e));
      for (const Tensor& t : parts_of(n, in)) results.push_back(to.endpoint(t));
    }
    if (results.empty())  // the writer says what it cannot hold
      return to.add(*n.op, node_name(n.name), std::move(inputs), n.attrs, n.outputs);
    const char* op = results.size() == 1 ? "Identity" : "IdentityN";
    return to.add(find_op(op), node_name(n.name), std::move(results), {}, n.outputs);
  }

  // A node that calls functions, or some of whose inputs are values now that were
  // handles.
  Node& without_handles(Graph& to, const Node& n, std::vector<Endpoint> inputs) {
    if (n.is("ReadVariableOp") || n.is("Identity")) {
      const ValueInfo value = info(inputs[0]);
      return to.add(find_op("Identity"), node_name(n.name), std::move(inputs), {}, {value});
    }
    if (n.is("ResourceGather") && n.reader().int_attr("batch_dims") == 0) {
      inputs.push_back(to.add_constant(to_tensor(Operand(0)), node_name(n.name) + "/axis"));
      return to.add(find_op("GatherV2"), node_name(n.name), std::move(inputs), {}, n.outputs);
    }
    bool has_body = false;
    AttrStorage attrs = n.attrs;
    std::vector<ValueInfo> as;
    for (std::size_t i = first_argument(*n.op); i < n.inputs.size(); ++i)
      as.push_back(info(n.inputs[i]).dtype == info(inputs[i]).dtype ? ValueInfo()
                                                                    : info(inputs[i]));
    std::vector<ValueInfo> outputs = n.outputs;
    auto body = [&](const FunctionRef& f) {
      has_body = true;
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
    RILL_CHECK(has_body, failed_precondition,
               "[to_graph_def] node \"{}\" ({}) changes a variable, which freezing makes a "
               "constant; write the function with freeze = false",
               n.name, n.op->name);
    return to.add(*n.op, node_name(n.name), std::move(inputs), std::move(attrs),
                  std::move(outputs));
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

Ref<Graph> portable_graph(const Graph& graph, const std::vector<ValueInfo>& as) {
  return Copier().copy(graph, as);
}

}  // namespace rill
