#include <queue>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/eager/variable.h"
#include "rill/graph/graph_def/attr_proto_impl.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/graph_def/node_signature_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/ops/lookup/table_impl.h"
#include "rill/ops/random/seeds.h"

namespace rill {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<proto::NodeDef>;

// Functions may call functions this deep. Deeper ones would be a strain on the
// stack wherever graphs are walked.
constexpr int kMaxDepth = 64;

std::string described(const proto::NodeDef& def) {
  return format("node \"{}\" ({})", def.name(), def.op());
}

// An input as it is written: "node", "node:1", "node:output:1", "^node".
struct InputName {
  explicit InputName(std::string_view text) {
    control = !text.empty() && text[0] == '^';
    if (control) text.remove_prefix(1);
    const auto colon = text.find(':');
    node = text.substr(0, colon);
    if (colon != std::string_view::npos) output = text.substr(colon + 1);
  }
  bool control;
  std::string_view node, output;
};

// "12" as a number; -1 when it is none.
int as_index(std::string_view digits) {
  if (digits.empty() || digits.size() > 8 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos)
    return -1;
  return std::stoi(std::string(digits));
}

// Adds each call as the node that the file names.
class ImportingExecutor : public Executor {
 public:
  explicit ImportingExecutor(Graph& g) : graph_(g) {}
  void run(const Op& op, std::span<const In> inputs, AttrList attrs,
           std::span<const TensorShape> shapes, std::span<const DType> dtypes,
           std::span<Tensor> outputs) override {
    std::vector<Endpoint> in;
    for (const In& t : inputs) in.push_back(symbol_of(*t).at);
    std::vector<ValueInfo> out;
    for (std::size_t i = 0; i < outputs.size(); ++i) out.push_back({dtypes[i], shapes[i]});
    made = &graph_.add(op, name, std::move(in), AttrStorage(attrs), std::move(out));
  }
  std::string name;
  Node* made = nullptr;

 private:
  Graph& graph_;
};

// Import is outside what the thread is doing.
class ImportScope {
 public:
  explicit ImportScope(Graph& g) : tracing_(g), executor(g), executing_(&executor) {
    CallSiteScope::put();
  }

 private:
  TracingScope tracing_;

 public:
  ImportingExecutor executor;

 private:
  const CallSiteScope site_;
  const ScopedContext<&CallContext::executor> executing_;
  const ScopedContext<&CallContext::device> no_device_{nullptr};
};

// The order in which nodes can run; of those that can run next, the first of the
// file comes first. InvalidArgument when some wait for each other.
std::vector<int> sorted(const Nodes& nodes, const std::map<std::string_view, int>& index) {
  std::vector<int> waits(static_cast<std::size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> users(waits.size());
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& text : nodes[i].input()) {
      const auto it = index.find(InputName(text).node);
      if (it == index.end()) continue;  // an argument, or reported later
      users[static_cast<std::size_t>(it->second)].push_back(i);
      ++waits[static_cast<std::size_t>(i)];
    }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waits[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int u : users[static_cast<std::size_t>(i)])
      if (--waits[static_cast<std::size_t>(u)] == 0) ready.push(u);
  }
  for (int i = 0; i < nodes.size(); ++i)
    RILL_CHECK(waits[static_cast<std::size_t>(i)] == 0, invalid_argument,
               "[import_graph_def] {} waits for itself: it is on a cycle, or uses one",
               described(nodes[i]));
  return order;
}

class Reader {
 public:
  Reader(const proto::GraphDef& def, const GraphDefImportOptions& options)
      : def_(def), fill_bytes_(options.max_fill_bytes) {
    RILL_CHECK(def.versions().min_consumer() <= kGraphVersion, unimplemented,
               "[import_graph_def] the graph can be read from version {} on; this is {}",
               def.versions().min_consumer(), kGraphVersion);
    for (const proto::FunctionDef& f : def.library().function())
      RILL_CHECK(library_.emplace(f.signature().name(), &f).second, invalid_argument,
                 "[import_graph_def] the library has two functions \"{}\"", f.signature().name());
  }

  GraphDefContents read() {
    for (const auto& [name, f] : library_) function(name, 0);
    GraphDefContents out;
    out.graph = Ref<Graph>(new Graph());
    add_nodes(*out.graph, def_.node(), {}, false, 0);
    for (auto& [name, f] : made_) out.functions.emplace(name, std::move(f));
    return out;
  }

 private:
  using Arguments = std::map<std::string_view, Endpoint>;

  Ref<GraphFunction> function(std::string_view name, int depth) {
    const auto it = library_.find(name);
    if (it == library_.end()) {
      std::vector<std::string> known;
      for (const auto& [k, f] : library_) known.emplace_back(k);
      RILL_FAIL(not_found, "the library has no function \"{}\".{}", name,
                known.empty() ? std::string() : did_you_mean(name, known));
    }
    if (const auto made = made_.find(name); made != made_.end()) return made->second;
    RILL_CHECK(depth < kMaxDepth, invalid_argument,
               "[import_graph_def] function \"{}\" is called at a depth of {}: functions call each "
               "other in a circle, or too deep",
               name, depth);
    try {
      Ref<GraphFunction> f = read_function(*it->second, depth);
      made_.emplace(it->first, f);
      return f;
    } catch (errors::Error& e) {
      e.add_context(format("in function \"{}\"", name));
      throw;
    }
  }

  Ref<GraphFunction> read_function(const proto::FunctionDef& def, int depth) {
    const proto::OpDef& signature = def.signature();
    Ref<Graph> graph(new Graph(signature.name()));
    Arguments arguments;
    for (int i = 0; i < signature.input_arg_size(); ++i) {
      const auto& arg = signature.input_arg(i);
      require_plain(arg);
      const std::string what = format("argument \"{}\"", arg.name());
      RILL_CHECK(!arguments.contains(arg.name()), invalid_argument,
                 "[import_graph_def] {} is there twice", what);
      Node& n = graph->add_argument(arg.name(), from_proto(arg.type(), what),
                                    argument_shape(def, i, what));
      arguments[arg.name()] = {&n, 0};
    }
    const bool own_inputs = !def.attr().contains(kGraphInputs);
    const Made nodes = add_nodes(*graph, def.node_def(), arguments, own_inputs, depth);
    for (const auto& out : signature.output_arg()) {
      require_plain(out);
      const std::string what = format("result \"{}\"", out.name());
      const auto source = def.ret().find(out.name());
      RILL_CHECK(source != def.ret().end(), invalid_argument, "[import_graph_def] {} has no source",
                 what);
      const Endpoint e = resolve(source->second, nodes, arguments, own_inputs, what);
      RILL_CHECK(info(e).dtype == from_proto(out.type(), what), invalid_argument,
                 "[import_graph_def] {} is {}; the signature says {}", what, info(e).dtype,
                 from_proto(out.type(), what));
      graph->results.push_back(e);
    }
    return Ref<GraphFunction>(new GraphFunction(signature.name(), std::move(graph)));
  }

  static void require_plain(const proto::OpDef::ArgDef& arg) {
    RILL_CHECK(arg.type_attr().empty() && arg.number_attr().empty() && arg.type_list_attr().empty(),
               unimplemented,
               "[import_graph_def] \"{}\" has a type that each call chooses; only functions of "
               "fixed types can be read",
               arg.name());
  }

  static TensorShape argument_shape(const proto::FunctionDef& def, int i, std::string_view what) {
    const auto own = def.arg_attr().find(static_cast<unsigned>(i));
    if (own != def.arg_attr().end()) {
      const auto shapes = own->second.attr().find("_output_shapes");
      if (shapes != own->second.attr().end() && shapes->second.list().shape_size() == 1)
        return from_proto(shapes->second.list().shape(0), what);
    }
    const auto all = def.attr().find("_input_shapes");
    if (all != def.attr().end() && i < all->second.list().shape_size())
      return from_proto(all->second.list().shape(i), what);
    return TensorShape::unknown_rank();
  }

  struct Made {
    std::map<std::string_view, int> index;      // by name: position in the file
    std::vector<Node*> nodes;                   // by position
    std::vector<std::string_view> only_output;  // of those made of several ops
  };

  Made add_nodes(Graph& graph, const Nodes& nodes, const Arguments& arguments, bool in_function,
                 int depth) {
    Made made;
    made.nodes.resize(static_cast<std::size_t>(nodes.size()));
    for (const proto::NodeDef& n : nodes) made.only_output.push_back(composite_output(n.op()));
    for (int i = 0; i < nodes.size(); ++i) {
      const std::string& name = nodes[i].name();
      RILL_CHECK(!name.empty() && name.find_first_of(":^ ") == std::string::npos, invalid_argument,
                 "[import_graph_def] \"{}\" is not a name of a node ({})", name, nodes[i].op());
      RILL_CHECK(made.index.emplace(name, i).second && !arguments.contains(name), invalid_argument,
                 "[import_graph_def] two nodes are called \"{}\"", name);
    }
    ImportScope scope(graph);
    for (int i : sorted(nodes, made.index)) {
      try {
        made.nodes[static_cast<std::size_t>(i)] =
            add_node(graph, scope.executor, nodes[i], made, arguments, in_function, depth);
      } catch (errors::Error& e) {
        e.add_context(format("in {}", described(nodes[i])));
        throw;
      }
    }
    return made;
  }

  Endpoint resolve(std::string_view text, const Made& made, const Arguments& arguments,
                   bool in_function, std::string_view what) const {
    const InputName name(text);
    if (const auto arg = arguments.find(name.node); arg != arguments.end()) {
      RILL_CHECK(name.output.empty() || as_index(name.output) == 0, invalid_argument,
                 "{} uses \"{}\", but an argument has only one output", what, text);
      return arg->second;
    }
    const auto it = made.index.find(name.node);
    if (it == made.index.end()) {
      std::vector<std::string> known;
      for (const auto& [k, i] : made.index) known.emplace_back(k);
      RILL_FAIL(not_found, "{} uses \"{}\", but there is no node \"{}\".{}", what, text, name.node,
                did_you_mean(name.node, known));
    }
    Node* n = made.nodes[static_cast<std::size_t>(it->second)];
    RILL_INTERNAL_CHECK(n);
    int index = 0;
    if (!name.output.empty() && !in_function) {
      index = as_index(name.output);
    } else if (!name.output.empty()) {
      // Which argument of the schema, and which tensor of that.
      const auto colon = name.output.find(':');
      const std::string_view arg = name.output.substr(0, colon);
      const std::string_view only = made.only_output[static_cast<std::size_t>(it->second)];
      const int which = arg == only ? 0 : only.empty() ? n->op->find_output(arg) : -1;
      index = colon == std::string_view::npos ? 0 : as_index(name.output.substr(colon + 1));
      RILL_CHECK(which >= 0 && index >= 0, invalid_argument,
                 "{} uses \"{}\", but a {} has no output \"{}\"", what, text, n->op->name, arg);
      std::vector<DType> types;
      for (Endpoint e : n->inputs) types.push_back(info(e).dtype);
      const auto counts = NodeSignature(*n->op, std::move(types)).output_counts(n->attrs.list());
      RILL_CHECK(static_cast<std::size_t>(index) < counts[static_cast<std::size_t>(which)],
                 invalid_argument, "{} uses \"{}\", but output \"{}\" has {} tensors", what, text,
                 arg, counts[static_cast<std::size_t>(which)]);
      for (int k = 0; k < which; ++k)
        index += static_cast<int>(counts[static_cast<std::size_t>(k)]);
    }
    RILL_CHECK(index >= 0 && static_cast<std::size_t>(index) < n->outputs.size(), invalid_argument,
               "{} uses \"{}\", but node \"{}\" ({}) has {} outputs", what, text, n->name,
               n->op->name, n->outputs.size());
    return {n, index};
  }

  Node* add_node(Graph& graph, ImportingExecutor& executor, const proto::NodeDef& written,
                 const Made& made, const Arguments& arguments, bool in_function, int depth) {
    std::vector<Endpoint> inputs;
    std::vector<Node*> controls;
    bool data = true;
    for (const std::string& text : written.input()) {
      const InputName name(text);
      RILL_CHECK(name.control || data, invalid_argument,
                 "input \"{}\" comes after a control input; those come last", text);
      if (!name.control) {
        inputs.push_back(resolve(text, made, arguments, in_function, "it"));
        continue;
      }
      data = false;
      if (arguments.contains(name.node)) continue;
      const auto it = made.index.find(name.node);
      RILL_CHECK(it != made.index.end(), not_found,
                 "it waits for \"{}\", but there is no such node", text);
      controls.push_back(made.nodes[static_cast<std::size_t>(it->second)]);
    }
    Node* n = nullptr;
    executor.name = written.name();
    executor.made = nullptr;
    if (written.op() == "VarHandleOp") {
      n = variable(graph, written);
    } else if (is_table(written.op())) {
      n = table(graph, written);
    } else if (is_composite(written.op())) {
      n = expand_node(graph, written, inputs);
    } else if (is_outdated(written.op())) {
      proto::NodeDef def = written;
      modernize_node(graph, &def, &inputs);
      n = op_node(graph, executor, def, inputs, depth);
    } else {
      n = op_node(graph, executor, written, inputs, depth);
    }
    RILL_CHECK(n->name == written.name(), invalid_argument,
               "its name is one that the parts of another node have");
    n->device = written.device();
    n->control_inputs = std::move(controls);
    use_shapes(*n, written);
    return n;
  }

  // The same variable for every node of that name. It has no value until it is given one.
  Node* variable(Graph& graph, const proto::NodeDef& def) {
    const auto attr = [&](const char* name) -> const proto::AttrValue& {
      const auto it = def.attr().find(name);
      RILL_CHECK(it != def.attr().end(), invalid_argument, "the attribute {} is missing", name);
      return it->second;
    };
    const auto shared = def.attr().find("shared_name");
    const std::string name =
        shared == def.attr().end() || shared->second.s().empty() ? def.name() : shared->second.s();
    auto it = variables_.find(name);
    if (it == variables_.end()) {
      EagerScope eager;
      const Variable v =
          Variable::uninitialized(from_proto(attr("dtype").type(), "it"),
                                  from_proto(attr("shape").shape(), "it"), {.name = name});
      it = variables_.emplace(name, v.handle()).first;
    }
    Node& n = graph.add_argument(def.name(), resource, TensorShape::scalar());
    n.handle = it->second.impl()->resource;
    graph.captures.push_back({it->second, &n});
    return &n;
  }

  static bool is_table(const std::string& op) {
    return op == "HashTableV2" || op == "MutableHashTableV2" || op == "MutableHashTableOfTensorsV2";
  }
  // The same table for every node of that name. It is empty until a node fills it.
  Node* table(Graph& graph, const proto::NodeDef& def) {
    const auto type = [&](const char* name) {
      const auto it = def.attr().find(name);
      RILL_CHECK(it != def.attr().end(), invalid_argument, "the attribute {} is missing", name);
      return from_proto(it->second.type(), "it");
    };
    const auto shared = def.attr().find("shared_name");
    const std::string name =
        shared == def.attr().end() || shared->second.s().empty() ? def.name() : shared->second.s();
    const DType keys = type("key_dtype"), values = type("value_dtype");
    const auto shape = def.attr().find("value_shape");
    auto it = tables_.find(name);
    if (it == tables_.end()) {
      auto* made = new lookup::LookupTable(def.op(), keys, values,
                                           shape == def.attr().end()
                                               ? TensorShape::scalar()
                                               : from_proto(shape->second.shape(), "it"),
                                           name);
      it = tables_.emplace(name, make_resource(Ref<Resource>(made))).first;
    }
    const lookup::LookupTable& found = lookup::table_of(it->second, "it");
    RILL_CHECK(found.op == def.op() && found.key_dtype == keys && found.value_dtype == values,
               invalid_argument, "table \"{}\" is a {} of {} and {} elsewhere", name, found.op,
               found.key_dtype, found.value_dtype);
    Node& n = graph.add_argument(def.name(), resource, TensorShape::scalar());
    n.handle = it->second.impl()->resource;
    graph.captures.push_back({it->second, &n});
    return &n;
  }

  Node* op_node(Graph& graph, ImportingExecutor& executor, const proto::NodeDef& def,
                const std::vector<Endpoint>& inputs, int depth) {
    if (library_.contains(def.op())) return call_by_name(graph, executor, def, inputs, depth);
    const Op& op = find_op(def.op());
    std::vector<DType> types;
    for (Endpoint e : inputs) types.push_back(info(e).dtype);
    const NodeSignature signature(op, types);
    AttrStorage attrs = read_attrs(op, def, signature, depth);
    return add_call(graph, executor, op, inputs, attrs, signature);
  }

  // TensorFlow 1 writes the name of a function where the name of an op stands.
  Node* call_by_name(Graph& graph, ImportingExecutor& executor, const proto::NodeDef& def,
                     const std::vector<Endpoint>& inputs, int depth) {
    const Ref<GraphFunction> f = function(def.op(), depth + 1);
    const Op& op = find_op(f->stateful() ? "StatefulPartitionedCall" : "PartitionedCall");
    std::vector<DType> in, out;
    for (Endpoint e : inputs) in.push_back(info(e).dtype);
    for (Endpoint e : f->graph->results) out.push_back(info(e).dtype);
    AttrStorage attrs;
    attrs.add("f", as_attr(f));
    attrs.add("Tout", std::span<const DType>(out));
    return add_call(graph, executor, op, inputs, attrs, NodeSignature(op, in));
  }

  static Node* add_call(Graph& graph, ImportingExecutor& executor, const Op& op,
                        const std::vector<Endpoint>& inputs, const AttrStorage& attrs,
                        const NodeSignature& signature) {
    check_functions(op, inputs, attrs);
    std::size_t outputs = 0;
    for (std::size_t n : signature.output_counts(attrs.list())) outputs += n;
    if (&op == &placeholder_op())  // what is known of it is what it says
      return &graph.add(op, executor.name, {}, attrs,
                        {{AttrReader(op, attrs.list()).type_attr("dtype"),
                          AttrReader(op, attrs.list()).shape_attr("shape")}});
    std::vector<Tensor> tensors;
    for (Endpoint e : inputs) tensors.push_back(graph.tensor(e));
    execute_all(op, as_inputs(tensors), attrs.list(), static_cast<int>(outputs));
    RILL_INTERNAL_CHECK(executor.made);
    return executor.made;
  }

  AttrStorage read_attrs(const Op& op, const proto::NodeDef& def, const NodeSignature& signature,
                         int depth) {
    const FunctionFinder find = [&](const proto::NameAttrList& f) {
      return as_attr(function(f.name(), depth + 1));
    };
    AttrStorage attrs;
    for (std::size_t i = 0; i < op.attrs.size(); ++i) {
      const AttrDef& a = op.attrs[i];
      // What only the process knows that made it (see GraphDefWriter): a file has no say in it.
      const bool own = a.name.starts_with("_");
      const auto given = own ? def.attr().end() : def.attr().find(a.name);
      if (given == def.attr().end()) {
        if (a.name == kRandomOffset) attrs.add(a.name, new_graph_offset());
        RILL_CHECK(a.has_default || signature.infers(i), invalid_argument,
                   "the attribute {} is missing", a.name);
        continue;
      }
      AttrStorage one;
      add_from_proto(a, given->second, find, fill_bytes_, "it", &one);
      const AttrValue& value = one.list()[0].value;
      if (!signature.infers(i)) {
        attrs.add(a.name, value);
        continue;
      }
      if (a.type == "type")
        RILL_CHECK(value.as_type() == signature.type(i), invalid_argument,
                   "attribute {} is {}, but the input is {}", a.name, value.as_type(),
                   signature.type(i));
      else if (a.type == "int")
        RILL_CHECK(value.as_int() == signature.number(i), invalid_argument,
                   "attribute {} is {}, but there are {} inputs", a.name, value.as_int(),
                   signature.number(i));
      else
        RILL_CHECK(std::ranges::equal(value.as_types(), signature.types(i)), invalid_argument,
                   "attribute {} names other dtypes than the inputs have", a.name);
      // Whoever asks for it would get the default.
      if (a.type == "list(type)" && a.has_default) attrs.add(a.name, value);
    }
    for (const auto& [name, value] : def.attr())
      RILL_CHECK(name.starts_with("_") || op.find_attr(name) >= 0, invalid_argument,
                 "op {} has no attribute \"{}\"", op.name, name);
    if (op.name == "Const")
      RILL_CHECK(AttrReader(op, attrs.list()).attr("value").as_tensor().dtype() ==
                     AttrReader(op, attrs.list()).type_attr("dtype"),
                 invalid_argument, "attribute dtype is {}, but the value is {}",
                 AttrReader(op, attrs.list()).type_attr("dtype"),
                 AttrReader(op, attrs.list()).attr("value").as_tensor().dtype());
    return attrs;
  }

  // Calls must fit the functions that they name: nothing checks this again.
  static void check_functions(const Op& op, const std::vector<Endpoint>& inputs,
                              const AttrStorage& attrs) {
    const bool chooses = op.calls == Calls::branch, loops = op.calls == Calls::loop;
    const std::size_t first = chooses ? 1 : 0;
    auto check = [&](std::string_view attr, const FunctionRef& body) {
      const GraphFunction& f = function_of(body);
      RILL_CHECK(f.num_inputs() + first == inputs.size(), invalid_argument,
                 "function \"{}\" takes {} arguments, but the call gives {}", f.name,
                 f.num_inputs(), inputs.size() - std::min(first, inputs.size()));
      for (std::size_t i = 0; i < f.num_inputs(); ++i) {
        const TensorShape &takes = f.graph->args[i]->outputs[0].shape,
                          &gets = info(inputs[i + first]).shape;
        RILL_CHECK(loops || takes.is_compatible_with(gets), invalid_argument,
                   "argument {} of function \"{}\" has shape {}, but the call gives {}", i, f.name,
                   takes, gets);
        RILL_CHECK(f.graph->args[i]->outputs[0].dtype == info(inputs[i + first]).dtype,
                   invalid_argument, "argument {} of function \"{}\" is {}, but the call gives {}",
                   i, f.name, f.graph->args[i]->outputs[0].dtype, info(inputs[i + first]).dtype);
      }
      if (loops && attr == "cond") {
        RILL_CHECK(f.num_results() == 1, invalid_argument,
                   "the condition \"{}\" of a loop has {} results; expected one", f.name,
                   f.num_results());
        return;
      }
      std::vector<DType> want;
      if (loops)
        for (Endpoint e : inputs) want.push_back(info(e).dtype);
      else if (const AttrValue* out = AttrReader(op, attrs.list()).find_attr("Tout"))
        want.assign(out->as_types().begin(), out->as_types().end());
      RILL_CHECK(f.num_results() == want.size(), invalid_argument,
                 "function \"{}\" has {} results, but the call expects {}", f.name, f.num_results(),
                 want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        RILL_CHECK(info(f.graph->results[i]).dtype == want[i], invalid_argument,
                   "result {} of function \"{}\" is {}, but the call expects {}", i, f.name,
                   info(f.graph->results[i]).dtype, want[i]);
    };
    if (const AttrValue* branches = AttrReader(op, attrs.list()).find_attr("branches");
        branches && chooses)
      RILL_CHECK(!branches->as_functions().empty(), invalid_argument, "it has no branches");
    for (const Attr& a : attrs.list()) {
      if (a.value.kind() == AttrValue::Kind::function) check(a.name, a.value.as_function());
      if (a.value.kind() == AttrValue::Kind::functions)
        for (const FunctionRef& f : a.value.as_functions()) check(a.name, f);
    }
  }

  static void use_shapes(Node& n, const proto::NodeDef& def) {
    const auto it = def.attr().find("_output_shapes");
    if (it == def.attr().end()) return;
    const auto& shapes = it->second.list().shape();
    for (int i = 0; i < shapes.size() && static_cast<std::size_t>(i) < n.outputs.size(); ++i) {
      TensorShape& own = n.outputs[static_cast<std::size_t>(i)].shape;
      const TensorShape said = from_proto(shapes[i], "it");
      RILL_CHECK(own.is_compatible_with(said), invalid_argument,
                 "_output_shapes says that output {} has shape {}, but it has shape {}", i, said,
                 own);
      own = merge_shapes(own, said);
    }
  }

  const proto::GraphDef& def_;
  std::int64_t fill_bytes_;
  std::map<std::string_view, const proto::FunctionDef*> library_;
  std::map<std::string_view, Ref<GraphFunction>> made_;
  std::map<std::string, Tensor> variables_, tables_;
};

}  // namespace

GraphDefContents read_graph_def(const proto::GraphDef& def, const GraphDefImportOptions& options) {
  return Reader(def, options).read();
}

}  // namespace rill
