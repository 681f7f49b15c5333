#include "rill/graph/graph_def.h"

#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <fstream>
#include <set>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/graph/effect_order_impl.h"
#include "rill/graph/function_impl.h"
#include "rill/graph/graph_def_impl.h"
#include "rill/graph/tensor_proto_impl.h"

namespace rill {
namespace {

namespace pb = google::protobuf;

// What is wrong with a message is said by our errors, not on standard error.
#if GOOGLE_PROTOBUF_VERSION < 4022000
using Quiet = pb::LogSilencer;
#else
struct Quiet {
  Quiet() {}
};
#endif

const ValueInfo& info(Endpoint e) { return e.node->outputs[static_cast<std::size_t>(e.index)]; }

VariableCell* cell_of(const Tensor& t) {
  Resource* r = t.impl()->resource.get();
  return r && r->resource_kind == Resource::Kind::variable ? static_cast<VariableCell*>(r)
                                                           : nullptr;
}

std::string serialize(const proto::GraphDef& def, std::int64_t max_bytes) {
  const std::size_t bytes = def.ByteSizeLong();
  RILL_CHECK(bytes <= static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0)) &&
                 bytes <= 2147483647u,
             invalid_argument,
             "[to_graph_def] the graph takes {} bytes; a GraphDef holds at most {}. Large arrays "
             "are better variables or inputs than constants",
             bytes, max_bytes);
  const Quiet quiet;
  std::string out;
  {
    pb::io::StringOutputStream stream(&out);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps by key
    def.SerializeToCodedStream(&coded);
  }
  return out;
}

proto::GraphDef parse(std::string_view bytes) {
  RILL_CHECK(bytes.size() <= 2147483647u, invalid_argument,
             "[import_graph_def] got {} bytes; a GraphDef holds at most 2147483647", bytes.size());
  const Quiet quiet;
  proto::GraphDef def;
  pb::io::CodedInputStream in(reinterpret_cast<const pb::uint8*>(bytes.data()),
                              static_cast<int>(bytes.size()));
  RILL_CHECK(def.ParseFromCodedStream(&in) && in.ConsumedEntireMessage(), data_loss,
             "[import_graph_def] the {} bytes are no GraphDef: they are cut short or damaged, or "
             "are another message",
             bytes.size());
  return def;
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
      // A result that an argument or a node is called is that node's Identity.
      std::string name = wanted;
      for (int i = 1; !used_.insert(name).second; ++i) name = format("{}_{}", wanted, i);
      names.push_back(std::move(name));
    }
    options_.call ? write_call(names) : write_body(names);
    writer_.finish();
    return serialize(def_, options_.max_bytes);
  }

 private:
  Ref<GraphFunction> portable() {
    std::vector<ValueInfo> as(body_args(*f_.body).size());
    for (std::size_t i = f_.tensor_args; options_.freeze && i < as.size(); ++i)
      if (VariableCell* cell = cell_of(f_.captured[i - f_.tensor_args])) {
        const Tensor value = cell->read();
        as[i] = {value.dtype(), value.shape()};
      }
    return Ref<GraphFunction>(
        new GraphFunction(f_.body->name, portable_graph(*f_.body->graph, as)));
  }
  static const std::vector<Node*>& body_args(const GraphFunction& f) { return f.graph->args; }

  void write_argument(std::size_t i) {
    const Node& a = *body_args(*body_)[i];
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
    RILL_CHECK(cell || !t.impl()->resource, unimplemented,
               "[to_graph_def] \"{}\" is a {}, which a GraphDef cannot hold", a.name,
               t.impl()->resource->kind());
    auto& attrs = *add_node(&def_, a.name, "Const")->mutable_attr();
    const Tensor value = cell ? cell->read() : t;
    attrs["dtype"].set_type(to_proto(value.dtype()));
    to_proto(value, attrs["value"].mutable_tensor());
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
};

}  // namespace

std::string to_graph_def(const ConcreteFunction& f, const GraphDefOptions& options) {
  return FunctionWriter(f.impl(), options).write();
}

std::string graph_def_to_text(std::string_view bytes) {
  const proto::GraphDef def = parse(bytes);
  std::string out;
  pb::TextFormat::PrintToString(def, &out);
  return out;
}

std::string graph_def_from_text(std::string_view text) {
  struct Collector : pb::io::ErrorCollector {
    void AddError(int line, int column, const std::string& message) override {
      if (said.empty()) said = format("line {}, column {}: {}", line + 1, column + 1, message);
    }
    std::string said;
  } errors;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(100);
  proto::GraphDef def;
  RILL_CHECK(parser.ParseFromString(std::string(text), &def), data_loss,
             "[graph_def_from_text] the text is no GraphDef: {}", errors.said);
  return serialize(def, 2147483647);
}

void write_graph_def(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  RILL_CHECK(out, not_found, "[write_graph_def] cannot write \"{}\"", path);
  const std::string text = path.ends_with(".pbtxt") ? graph_def_to_text(bytes) : std::string();
  out << (path.ends_with(".pbtxt") ? std::string_view(text) : bytes);
  out.flush();
  RILL_CHECK(out, data_loss, "[write_graph_def] writing \"{}\" failed", path);
}

std::string read_graph_def(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  RILL_CHECK(in, not_found, "[read_graph_def] cannot read \"{}\"", path);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  return path.ends_with(".pbtxt") ? graph_def_from_text(content) : content;
}

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
  proto::GraphDef def = parse(bytes);
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
               "[function] \"{}\" is no name of a tensor; expected \"node\" or \"node:1\"", name);
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
  // Nodes stand behind what they use, so one walk from the end finds all.
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
