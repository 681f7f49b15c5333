#include <cctype>
#include <set>

#include "rill/base/check.h"
#include "rill/graph/function/effect_order_impl.h"
#include "rill/graph/graph_def/attr_proto_impl.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/graph_def/node_signature_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"

namespace rill {
namespace {

NodeSignature signature_of(const Node& n) {
  std::vector<DType> types;
  for (Endpoint e : n.inputs) types.push_back(info(e).dtype);
  return NodeSignature(*n.op, std::move(types));
}

// "__inference_step_12" without the number, which tells traces of one process apart.
std::string_view without_number(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < name.size() && name[end] == '_'
             ? name.substr(0, end)
             : name;
}

// Arguments and results of functions have names of lower-case letters, digits and
// underscores, which start with a letter.
std::string argument_name(std::string_view wanted, std::set<std::string>& used) {
  std::string name;
  for (char c : wanted) {
    const auto u = static_cast<unsigned char>(c);
    name += std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '_';
  }
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) name = "arg_" + name;
  std::string unique = name;
  for (int i = 1; !used.insert(unique).second; ++i) unique = format("{}_{}", name, i);
  return unique;
}

// "node:output:1" for output 5 of a node, as functions write it.
std::string output_in_function(Endpoint e) {
  const Node& n = *e.node;
  const std::vector<std::size_t> counts = signature_of(n).output_counts(n.attrs.list());
  auto at = static_cast<std::size_t>(e.index);
  for (std::size_t a = 0; a < counts.size(); ++a) {
    if (at < counts[a]) return format("{}:{}:{}", n.name, n.op->outputs[a].name, at);
    at -= counts[a];
  }
  RILL_FAIL(internal, "node \"{}\" has no output {}", n.name, e.index);
}

std::string output_in_graph(Endpoint e) {
  return e.index == 0 ? e.node->name : format("{}:{}", e.node->name, e.index);
}

void write_shapes(std::span<const ValueInfo> outputs, proto::AttrValue* out) {
  out->mutable_list();
  for (const ValueInfo& v : outputs) to_proto(v.shape, out->mutable_list()->add_shape());
}

}  // namespace

std::string GraphDefWriter::function_name(const FunctionRef& f) {
  const auto it = names_.find(f.get());
  if (it != names_.end()) return it->second;
  const std::string base(without_number(f->name));
  const std::string name = format("{}_{}", base, used_[base]++);
  names_[f.get()] = name;
  pending_.push_back(f);
  return name;
}

void GraphDefWriter::write_attrs(const Node& n, proto::NodeDef* def) {
  RILL_CHECK(in_tensorflow(*n.op), unimplemented,
             "[to_graph_def] node \"{}\" is a {}, an op of Rill alone that a GraphDef cannot hold",
             n.name, n.op->name);
  const NodeSignature signature = signature_of(n);
  const FunctionNamer name_of = [this](const FunctionRef& f) { return function_name(f); };
  def->set_name(n.name);
  def->set_op(n.op->name);
  def->set_device(n.device);
  auto& attrs = *def->mutable_attr();
  for (std::size_t i = 0; i < n.op->attrs.size(); ++i) {
    const AttrDef& a = n.op->attrs[i];
    if (a.name.starts_with("_")) continue;  // what only this process knows
    AttrValue value;
    if (!signature.infers(i)) {
      const AttrValue* given = n.reader().find_attr(a.name);
      RILL_CHECK(given, internal, "[to_graph_def] node \"{}\" has no attribute {}", n.name, a.name);
      value = *given;
    } else if (a.type == "type") {
      value = signature.type(i);
    } else if (a.type == "int") {
      value = signature.number(i);
    } else {
      value = signature.types(i);
    }
    // What is not written has its default, in readers of every version.
    if (const AttrValue* d = n.op->find_default(a.name); d && same_value(*d, value)) continue;
    to_proto(value, name_of, &attrs[a.name]);
  }
  if (output_shapes_ && !n.outputs.empty()) write_shapes(n.outputs, &attrs["_output_shapes"]);
}

void GraphDefWriter::add_graph(const Graph& graph) {
  const EffectOrder order = effect_order(graph);
  const std::set<const Node*> args(graph.args.begin(), graph.args.end());
  for (const auto& n : graph.nodes()) {
    if (args.contains(n.get())) continue;
    proto::NodeDef* def = out_->add_node();
    write_attrs(*n, def);
    for (Endpoint e : n->inputs) def->add_input(output_in_graph(e));
    for (const Node* b : order.before[static_cast<std::size_t>(n->id)])
      def->add_input("^" + b->name);
  }
}

void GraphDefWriter::write_function(GraphFunction& f, const std::string& name) {
  const Graph& graph = *f.graph;
  proto::FunctionDef* def = out_->mutable_library()->add_function();
  proto::OpDef& signature = *def->mutable_signature();
  signature.set_name(name);
  signature.set_is_stateful(f.stateful());
  std::set<std::string> used;
  for (const auto& n : graph.nodes())
    if (!is_argument(*n)) used.insert(n->name);
  std::map<const Node*, std::string> arguments;
  for (std::size_t i = 0; i < graph.args.size(); ++i) {
    const Node& a = *graph.args[i];
    auto* arg = signature.add_input_arg();
    arg->set_name(arguments[&a] = argument_name(a.name, used));
    arg->set_type(to_proto(a.outputs[0].dtype));
    auto& attrs = *(*def->mutable_arg_attr())[static_cast<unsigned>(i)].mutable_attr();
    write_shapes(a.outputs, &attrs["_output_shapes"]);
    attrs["_user_specified_name"].set_s(a.name);
  }
  auto source = [&](Endpoint e) {
    const auto it = arguments.find(e.node);
    return it == arguments.end() ? output_in_function(e) : it->second;
  };
  const EffectOrder order = effect_order(graph);
  for (const auto& n : graph.nodes()) {
    if (is_argument(*n)) {
      RILL_CHECK(arguments.contains(n.get()), failed_precondition,
                 "[to_graph_def] placeholder \"{}\" of function \"{}\" is not an argument of it",
                 n->name, f.name);
      continue;
    }
    proto::NodeDef* node = def->add_node_def();
    write_attrs(*n, node);
    for (Endpoint e : n->inputs) node->add_input(source(e));
    for (const Node* b : order.before[static_cast<std::size_t>(n->id)])
      node->add_input("^" + b->name);
  }
  std::set<std::string> result_names;
  for (Endpoint e : graph.results) {
    auto* result = signature.add_output_arg();
    result->set_name(argument_name(e.node->name, result_names));
    result->set_type(to_proto(info(e).dtype));
    (*def->mutable_ret())[result->name()] = source(e);
  }
  for (const Node* e : order.effects) {
    signature.add_control_output(e->name);
    (*def->mutable_control_ret())[e->name] = e->name;
  }
}

void GraphDefWriter::finish() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {  // grows: functions call functions
    const FunctionRef f = pending_[i];
    write_function(function_of(f), names_[f.get()]);
  }
  pending_.clear();
  out_->mutable_versions()->set_producer(kGraphVersion);
  out_->mutable_versions()->set_min_consumer(out_->library().function_size() > 0 ? 12 : 0);
}

}  // namespace rill
