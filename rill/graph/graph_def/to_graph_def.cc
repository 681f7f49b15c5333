// A concrete function as the main graph of a GraphDef.
#include <map>
#include <set>

#include "rill/base/check.h"
#include "rill/graph/function/effect_order_impl.h"
#include "rill/graph/function/function_impl.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/ops/lookup/table_impl.h"

namespace rill {
namespace {

VariableCell* cell_of(const Tensor& t) {
  Resource* r = t.impl()->resource.get();
  return r && r->resource_kind == Resource::Kind::variable ? static_cast<VariableCell*>(r)
                                                           : nullptr;
}

lookup::LookupTable* table_in(const Tensor& t) {
  return dynamic_cast<lookup::LookupTable*>(t.impl()->resource.get());
}

// A node of the main graph that no Node stands for.
proto::NodeDef* add_node(proto::GraphDef* def, const std::string& name, const char* op) {
  proto::NodeDef* n = def->add_node();
  n->set_name(name);
  n->set_op(op);
  return n;
}

std::vector<std::string> result_names(const ConcreteFunctionImpl& f,
                                      const GraphDefOptions& options) {
  const std::size_t n = f.body->num_results();
  if (!options.output_names.empty()) {
    RILL_CHECK(options.output_names.size() == n, invalid_argument,
               "[to_graph_def] got {} output_names for {} results", options.output_names.size(), n);
    return options.output_names;
  }
  if (f.structure.is_dict() && f.structure.size() == n) return f.structure.keys();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(format("output_{}", i));
  return names;
}

// Frozen or not, the body's arguments: those of the caller are Placeholders, those
// that were captured have values now.
class FunctionWriter {
 public:
  FunctionWriter(const ConcreteFunctionImpl& f, const GraphDefOptions& options)
      : f_(f), options_(options), writer_(&def_, options.output_shapes) {}

  std::string write() {
    body_ = portable();
    for (const auto& n : body_->graph->nodes()) used_.insert(n->name);
    std::vector<std::string> names;
    for (const std::string& wanted : result_names(f_, options_)) {
      for (std::size_t i = 0; i < std::max<std::size_t>(wanted.size(), 1); ++i)
        RILL_CHECK(!wanted.empty() && may_be_in_node_name(wanted[i], i == 0), invalid_argument,
                   "[to_graph_def] \"{}\" cannot be the name of an output; expected letters, "
                   "digits and any of ._-/, after a letter or digit. Give output_names",
                   wanted);
      // A result that an argument or a node is called is that node's Identity.
      std::string name = wanted;
      for (int i = 1; !used_.insert(name).second; ++i) name = format("{}_{}", wanted, i);
      names.push_back(std::move(name));
    }
    options_.call ? write_call(names) : write_body(names);
    wait_for_tables();
    writer_.finish();
    return serialize_graph_def(def_, options_.max_bytes);
  }

 private:
  Ref<GraphFunction> portable() {
    std::vector<ValueInfo> as(f_.body->graph->args.size());
    for (std::size_t i = f_.tensor_args; options_.freeze && i < as.size(); ++i)
      if (VariableCell* cell = cell_of(f_.captured[i - f_.tensor_args])) {
        const Tensor value = cell->read();
        as[i] = {value.dtype(), value.shape()};
      }
    return Ref<GraphFunction>(
        new GraphFunction(f_.body->name, portable_graph(*f_.body->graph, as)));
  }

  void write_argument(std::size_t i) {
    const Node& a = *body_->graph->args[i];
    if (i < f_.tensor_args) {
      auto& attrs = *add_node(&def_, a.name, "Placeholder")->mutable_attr();
      attrs["dtype"].set_type(to_proto(a.outputs[0].dtype));
      if (a.outputs[0].shape.has_rank())
        to_proto(a.outputs[0].shape, attrs["shape"].mutable_shape());
      return;
    }
    const Tensor& t = f_.captured[i - f_.tensor_args];
    VariableCell* cell = cell_of(t);
    if (cell && !options_.freeze) {
      auto& attrs = *add_node(&def_, a.name, "VarHandleOp")->mutable_attr();
      attrs["dtype"].set_type(to_proto(cell->dtype));
      to_proto(cell->shape, attrs["shape"].mutable_shape());
      attrs["shared_name"].set_s(cell->name.substr(0, cell->name.find(':')));
      return;
    }
    if (lookup::LookupTable* table = table_in(t)) return write_table(a.name, *table);
    RILL_CHECK(cell || !t.impl()->resource, unimplemented,
               "[to_graph_def] \"{}\" is a {}, which a GraphDef cannot hold", a.name,
               t.impl()->resource->kind());
    auto& attrs = *add_node(&def_, a.name, "Const")->mutable_attr();
    const Tensor value = cell ? cell->read() : t;
    attrs["dtype"].set_type(to_proto(value.dtype()));
    to_proto(value, attrs["value"].mutable_tensor());
  }

  // A table, and the node that fills it; uses of the table wait for that.
  void write_table(const std::string& name, lookup::LookupTable& table) {
    RILL_CHECK(table.op != "MutableDenseHashTableV2", unimplemented,
               "[to_graph_def] \"{}\" is a DenseHashTable, which a GraphDef cannot hold yet; use a "
               "MutableHashTable",
               name);
    auto& attrs = *add_node(&def_, name, table.op.c_str())->mutable_attr();
    attrs["key_dtype"].set_type(to_proto(table.key_dtype));
    attrs["value_dtype"].set_type(to_proto(table.value_dtype));
    attrs["shared_name"].set_s(name);
    if (table.value_shape.rank() > 0)
      to_proto(table.value_shape, attrs["value_shape"].mutable_shape());
    if (!table.fixed() && !options_.freeze) return;
    const auto [keys, values] = table.contents();
    const std::string fill = unused(name + "/initialize");
    const auto list = [&](const std::string& part, const Tensor& t) {
      const std::string node = unused(name + "/" + part);
      auto& of_list = *add_node(&def_, node, "Const")->mutable_attr();
      of_list["dtype"].set_type(to_proto(t.dtype()));
      to_proto(t, of_list["value"].mutable_tensor());
      return node;
    };
    const std::string key_node = list("keys", keys), value_node = list("values", values);
    proto::NodeDef* n =
        add_node(&def_, fill, table.fixed() ? "InitializeTableV2" : "LookupTableImportV2");
    (*n->mutable_attr())[table.fixed() ? "Tkey" : "Tin"].set_type(to_proto(table.key_dtype));
    (*n->mutable_attr())[table.fixed() ? "Tval" : "Tout"].set_type(to_proto(table.value_dtype));
    for (const std::string& input : {name, key_node, value_node}) n->add_input(input);
    filled_[name] = fill;
  }
  // When all nodes are there.
  void wait_for_tables() {
    for (proto::NodeDef& n : *def_.mutable_node()) {
      std::set<std::string> wait;
      for (const std::string& input : n.input())
        if (const auto at = filled_.find(input); at != filled_.end() && at->second != n.name())
          wait.insert("^" + at->second);
      for (const std::string& w : wait) n.add_input(w);
    }
  }

  void write_result(const std::string& name, const ValueInfo& value, const std::string& from,
                    const std::vector<const Node*>& after) {
    proto::NodeDef* n = add_node(&def_, name, "Identity");
    (*n->mutable_attr())["T"].set_type(to_proto(value.dtype));
    n->add_input(from);
    for (const Node* b : after)
      if (b->name != from.substr(0, from.find(':'))) n->add_input("^" + b->name);
  }

  void write_body(const std::vector<std::string>& names) {
    const Graph& g = *body_->graph;
    for (std::size_t i = 0; i < g.args.size(); ++i) write_argument(i);
    writer_.add_graph(g);
    const EffectOrder order = effect_order(g);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Endpoint e = g.results[i];
      write_result(names[i], info(e),
                   e.index ? format("{}:{}", e.node->name, e.index) : e.node->name, order.last);
    }
    if (names.empty()) {
      proto::NodeDef* n = add_node(&def_, unused("effects"), "NoOp");
      for (const Node* b : order.last) n->add_input("^" + b->name);
    }
  }

  void write_call(const std::vector<std::string>& names) {
    const Graph& g = *body_->graph;
    const std::string name =
        unused(body_->stateful() ? "StatefulPartitionedCall" : "PartitionedCall");
    for (std::size_t i = 0; i < g.args.size(); ++i) write_argument(i);
    proto::NodeDef* call =
        add_node(&def_, name, body_->stateful() ? "StatefulPartitionedCall" : "PartitionedCall");
    auto& attrs = *call->mutable_attr();
    attrs["f"].mutable_func()->set_name(writer_.function_name(as_attr(body_)));
    attrs["Tin"].mutable_list();
    attrs["Tout"].mutable_list();
    for (const Node* a : g.args) {
      call->add_input(a->name);
      attrs["Tin"].mutable_list()->add_type(to_proto(a->outputs[0].dtype));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      attrs["Tout"].mutable_list()->add_type(to_proto(info(g.results[i]).dtype));
      write_result(names[i], info(g.results[i]), i ? format("{}:{}", name, i) : name, {});
    }
  }

  std::string unused(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !used_.insert(name).second; ++i) name = format("{}_{}", wanted, i);
    return name;
  }

  const ConcreteFunctionImpl& f_;
  const GraphDefOptions& options_;
  proto::GraphDef def_;
  GraphDefWriter writer_;
  Ref<GraphFunction> body_;
  std::set<std::string> used_;
  std::map<std::string, std::string> filled_;  // of a table: the node that fills it
};

}  // namespace

std::string to_graph_def(const ConcreteFunction& f, const GraphDefOptions& options) {
  return FunctionWriter(f.impl(), options).write();
}

}  // namespace rill
