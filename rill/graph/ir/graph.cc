#include "rill/graph/ir/graph.h"

#include "rill/base/check.h"
#include "rill/eager/tape_impl.h"
#include "rill/graph/ir/interpreter.h"
#include "rill/graph/ir/name_scope.h"

namespace rill {
namespace {

void argument_shape(ShapeContext& c) { c.set_output(0, c.shape_attr("shape")); }
const Op& placeholder_ = OpBuilder("Placeholder", "placeholder")
                             .attr("shape: shape = unknown")
                             .type("dtype", {})
                             .output("output: dtype")
                             .doc("A value that is given when the graph runs.")
                             .shape(argument_shape)
                             .no_gradient()
                             .define();

void const_shape(ShapeContext& c) { c.set_output(0, c.attr("value").as_tensor().shape()); }
const Op& const_ =
    OpBuilder("Const", "constant")
        .attr("value: tensor")
        .type("dtype", {})
        .output("output: dtype")
        .doc("A value that is part of the graph.")
        .shape(const_shape)
        .no_gradient()
        .forward([](const AttrReader& a, std::span<const In>, std::span<const TensorShape>,
                    std::span<Tensor> out) { out[0] = a.attr("value").as_tensor(); })
        .define();

// Values of at most this many elements become constants of the graph; larger ones
// come in as arguments, so that a graph does not carry a copy of the data.
constexpr std::int64_t kConstantElements = 128;

}  // namespace

const Op& placeholder_op() { return placeholder_; }
const Op& const_op() { return const_; }
bool is_argument(const Node& n) { return n.op == &placeholder_; }

std::string_view default_node_name(const Op& op) {
  static const std::map<std::string_view, std::string_view> kNames = {
      {"AddV2", "add"},
      {"Sub", "sub"},
      {"Mul", "mul"},
      {"RealDiv", "truediv"},
      {"FloorDiv", "floordiv"},
      {"FloorMod", "FloorMod"},
      {"Pow", "pow"},
      {"ConcatV2", "concat"},
      {"Pack", "stack"},
      {"Unpack", "unstack"},
      {"StridedSlice", "strided_slice"},
      {"Split", "split"},
      {"Transpose", "transpose"},
      {"PartitionedCall", "PartitionedCall"},
      {"If", "cond"},
      {"StatelessIf", "cond"},
      {"While", "while"},
      {"StatelessWhile", "while"},
      {"Range", "range"},
      {"OneHot", "one_hot"},
      {"ZerosLike", "zeros_like"},
      {"OnesLike", "ones_like"},
  };
  const auto it = kNames.find(op.name);
  return it == kNames.end() ? std::string_view(op.name) : it->second;
}

const Tensor* Node::constant() const {
  return op == &const_ ? &reader().attr("value").as_tensor() : nullptr;
}

Graph::Graph(std::string graph_name, Graph* o) : name(std::move(graph_name)), outer(o) {}
Graph::~Graph() = default;

std::string Graph::unique_name(std::string_view wanted) {
  std::string base(wanted);
  int& count = names_[base];
  std::string name = base;
  while (by_name_.count(name) || (count > 0 && name == base)) name = format("{}_{}", base, count++);
  if (count == 0) count = 1;
  return name;
}

void Graph::free_name(const std::string& name) {
  by_name_.erase(name);
  // The last of its base ("add_2" while three were wanted) takes its number back.
  const std::size_t mark = name.rfind('_');
  if (const auto it = names_.find(name); it != names_.end() && it->second <= 1) names_.erase(it);
  if (mark == std::string::npos) return;
  const auto base = names_.find(name.substr(0, mark));
  if (base != names_.end() && name == format("{}_{}", base->first, base->second - 1))
    --base->second;
}

void Graph::rename(const std::string& old, std::string_view wanted) {
  std::vector<Node*> below;
  for (const auto& n : nodes_)
    if (n->name == old || (n->name.starts_with(old) && n->name[old.size()] == '/'))
      below.push_back(n.get());
  for (Node* n : below) free_name(n->name);
  free_name(old);
  const std::string name = unique_name(wanted);
  for (Node* n : below) {
    n->name = name + n->name.substr(old.size());
    by_name_[n->name] = n;
    if (names_[n->name] == 0) names_[n->name] = 1;
  }
}

Node& Graph::add(const Op& op, std::string_view wanted, std::vector<Endpoint> inputs,
                 AttrStorage attrs, std::vector<ValueInfo> outputs) {
  auto node = std::make_unique<Node>();
  node->op = &op;
  node->name = unique_name(wanted);
  node->inputs = std::move(inputs);
  node->attrs = std::move(attrs);
  node->outputs = std::move(outputs);
  node->id = static_cast<std::int32_t>(nodes_.size());
  node->file = call_context().file;
  node->line = call_context().line;
  for (const std::vector<Node*>& scope : control_stack)
    node->control_inputs.insert(node->control_inputs.end(), scope.begin(), scope.end());
  by_name_[node->name] = node.get();
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

Node& Graph::add_argument(std::string_view wanted, DType dtype, const TensorShape& shape) {
  AttrStorage attrs;
  attrs.add("dtype", dtype);
  attrs.add("shape", shape);
  Node& n = add(placeholder_, wanted, {}, std::move(attrs), {{dtype, shape}});
  args.push_back(&n);
  return n;
}

Endpoint Graph::add_constant(const Tensor& value, std::string_view wanted) {
  AttrStorage attrs;
  attrs.add("value", value);
  attrs.add("dtype", value.dtype());
  return {&add(const_, wanted, {}, std::move(attrs), {{value.dtype(), value.shape()}}), 0};
}

void Graph::retain_nodes(const std::vector<char>& keep) {
  std::vector<std::unique_ptr<Node>> kept;
  for (auto& n : nodes_) {
    if (keep[static_cast<std::size_t>(n->id)]) {
      kept.push_back(std::move(n));
    } else {
      by_name_.erase(n->name);
      if (n->symbols == 0) continue;
      // A program printed it, or will: it has its name and its shape still.
      n->removed = true;
      n->inputs.clear();
      n->control_inputs.clear();
      n->attrs = {};
      removed_.push_back(std::move(n));
    }
  }
  nodes_ = std::move(kept);
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id = static_cast<std::int32_t>(i);
}

void Graph::reorder(const std::vector<Node*>& order) {
  std::vector<std::unique_ptr<Node>> sorted(nodes_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    sorted[i] = std::move(nodes_[static_cast<std::size_t>(order[i]->id)]);
  nodes_ = std::move(sorted);
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id = static_cast<std::int32_t>(i);
}

Node* Graph::find(std::string_view node_name) const {
  const auto it = by_name_.find(std::string(node_name));
  return it == by_name_.end() ? nullptr : it->second;
}

Tensor Graph::tensor(Endpoint e) {
  retain(this);
  const ValueInfo& v = e.node->outputs[static_cast<std::size_t>(e.index)];
  Tensor t = make_symbolic(v.dtype, v.shape, Ref<Symbol>(new GraphSymbol(Ref<Graph>(this), e)));
  t.impl()->resource = e.node->handle;
  auto& ids = e.node->handle_ids;
  ids.resize(e.node->outputs.size());
  if (auto& first = ids[static_cast<std::size_t>(e.index)]; first == 0) first = t.id();
  return t;
}
Tensor Graph::recorded_tensor(Endpoint e) {
  Tensor t = tensor(e);
  t.impl()->id = e.node->handle_ids[static_cast<std::size_t>(e.index)];
  return t;
}

Endpoint Graph::endpoint(const Tensor& t) {
  if (t.is_symbolic()) {
    RILL_CHECK(!t.impl()->symbol->own_executor(), failed_precondition,
               "{} has no value in function \"{}\": make a keras::Model of it and call that",
               t.impl()->symbol->describe(), name);
    const GraphSymbol& s = symbol_of(t);
    if (s.graph.get() == this) return s.at;
  }
  const auto it = captured_.find(t.id());
  if (it != captured_.end()) return it->second;
  return captured_[t.id()] = capture(t);
}

Endpoint Graph::capture(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  if (t.is_symbolic()) {
    const GraphSymbol& s = symbol_of(t);
    bool above = false;
    for (const Graph* g = outer; g && !above; g = g->outer) above = g == s.graph.get();
    RILL_CHECK(
        above, failed_precondition,
        "{} is used in {}, but is not part of it: a symbolic tensor lives only while its own "
        "function is traced. Return it from there, or pass it as an argument",
        t.impl()->symbol->describe(),
        name.empty() ? std::string("another graph") : format("function \"{}\"", name));
    // A constant is copied, so that what is known of it stays known.
    if (const Tensor* known = t.impl()->symbol->known_value();
        known && known->size() <= kConstantElements)
      return add_constant(*known);
  } else if (!impl.resource && impl.device->is_host() && impl.num_elements <= kConstantElements) {
    return add_constant(t, join_scope("Const"));
  }
  return capture_as_argument(t);
}

Endpoint Graph::endpoint_of_capture(const Tensor& t) {
  for (const Capture& c : captures)
    if (c.outer.id() == t.id()) return {c.arg, 0};
  return capture_as_argument(t);
}

Endpoint Graph::capture_as_argument(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  std::string wanted = "captured";
  if (impl.resource && impl.resource->resource_kind == Resource::Kind::variable)
    wanted = static_cast<VariableCell*>(impl.resource.get())->name + "_handle";
  for (char& c : wanted)
    if (c == ':') c = '_';
  Node& arg = add_argument(wanted, t.dtype(), t.shape());
  arg.handle = impl.resource;
  captures.push_back({t, &arg});
  return {&arg, 0};
}

Tensor Graph::evaluate(const Tensor& t) {
  const Endpoint e = endpoint(t);
  const std::vector<char> needed = needed_nodes(*this, {e}, false);
  std::vector<Tensor> inputs(args.size());
  for (const Capture& c : captures)
    for (std::size_t i = 0; i < args.size(); ++i)
      if (args[i] == c.arg) inputs[i] = c.outer;
  for (std::size_t i = 0; i < args.size(); ++i)
    RILL_CHECK(!needed[static_cast<std::size_t>(args[i]->id)] ||
                   (inputs[i].defined() && !inputs[i].is_symbolic()),
               failed_precondition,
               "[variable] the initial value of a variable depends on \"{}\", an argument of "
               "function \"{}\" that has no value while it is traced; make the variable outside, "
               "or from constants",
               args[i]->name, name);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (needed[i]) nodes_[i]->lifted = true;
  EagerScope eager;
  return Interpreter(*this, {e}, true).run(inputs)[0];
}

const GraphSymbol& symbol_of(const Tensor& t) {
  return static_cast<const GraphSymbol&>(*t.impl()->symbol);
}

const Tensor* known_value(Endpoint e) {
  while (e.node->op->view && e.node->is("Identity")) e = e.node->inputs[0];
  return e.node->constant();
}
const Tensor* GraphSymbol::known_value() const {
  return at.node->removed ? nullptr : rill::known_value(at);
}

namespace {

// The sizes that a list of integers is known to hold.
// `steps` bounds the work: graphs that join lists to themselves over and over grow
// without end.
TensorShape sizes_of(Endpoint e, int depth, int& steps) {
  const Node& n = *e.node;
  if (const Tensor* v = known_value(e)) {
    if (!v->dtype().is_integer() || v->ndim() > 1) return {};
    return TensorShape(as_dims(*v, "shape"));
  }
  if (depth > 16 || --steps < 0) return {};
  if (n.is("Identity") || n.is("Cast")) return sizes_of(n.inputs[0], depth + 1, steps);
  if (n.is("Shape")) {
    const Endpoint of = n.inputs[0];
    return of.node->outputs[static_cast<std::size_t>(of.index)].shape;
  }
  auto one = [&](Endpoint x) -> std::int64_t {  // of a scalar
    const TensorShape s = sizes_of(x, depth + 1, steps);
    return s.rank() == 1 ? s.dim(0) : s.rank() == 0 ? -1 : -1;
  };
  if (n.is("Pack")) {
    Dims out;
    for (Endpoint x : n.inputs) {
      const ValueInfo& info = x.node->outputs[static_cast<std::size_t>(x.index)];
      if (info.shape.rank() != 0) return {};
      const Tensor* v = known_value(x);
      out.push_back(v ? v->item<std::int64_t>() : one(x));
    }
    return TensorShape(out);
  }
  if (n.is("ConcatV2")) {
    Dims out;
    for (std::size_t i = 0; i + 1 < n.inputs.size(); ++i) {
      const TensorShape s = sizes_of(n.inputs[i], depth + 1, steps);
      if (!s.has_rank()) return {};
      for (std::int64_t d : s.dims()) out.push_back(d);
    }
    return TensorShape(out);
  }
  if (n.is("StridedSlice")) {
    // shape[i] as a list of one, or shape[a:b].
    const TensorShape of = sizes_of(n.inputs[0], depth + 1, steps);
    const Tensor *b = known_value(n.inputs[1]), *f = known_value(n.inputs[2]),
                 *s = known_value(n.inputs[3]);
    if (!of.has_rank() || !b || !f || !s || b->size() != 1 || s->item<std::int64_t>() != 1)
      return {};
    const AttrReader a = n.reader();
    if (a.int_attr("ellipsis_mask") || a.int_attr("new_axis_mask")) return {};
    const std::int64_t r = of.rank();
    auto clamp = [&](std::int64_t i) {
      return std::min(std::max<std::int64_t>(i < 0 ? i + r : i, 0), r);
    };
    std::int64_t from = a.int_attr("begin_mask") & 1 ? 0 : clamp(b->item<std::int64_t>());
    std::int64_t to = a.int_attr("end_mask") & 1 ? r : clamp(f->item<std::int64_t>());
    if (a.int_attr("shrink_axis_mask") & 1) to = from + 1;
    if (to > r) return {};
    Dims out;
    for (std::int64_t i = from; i < to; ++i) out.push_back(of.dims()[static_cast<std::size_t>(i)]);
    return TensorShape(out);
  }
  return {};
}

}  // namespace

TensorShape GraphSymbol::known_sizes() const {
  if (at.node->removed) return {};
  int steps = 1000;
  return sizes_of(at, 0, steps);
}
void GraphSymbol::shape_is(const TensorShape& shape) {
  at.node->outputs[static_cast<std::size_t>(at.index)].shape = shape;
}
std::string GraphSymbol::name() const { return format("{}:{}", at.node->name, at.index); }
std::string GraphSymbol::describe() const {
  std::string s = format("symbolic tensor \"{}\"", name());
  if (!graph->name.empty()) s += format(" of function \"{}\"", graph->name);
  if (at.node->file) s += format(" ({}:{})", at.node->file, at.node->line);
  return s;
}

namespace {

// Writes calls down instead of carrying them out.
class TracingExecutor : public Executor {
 public:
  explicit TracingExecutor(Graph& g) : graph_(g) {}
  void run(const Op& op, std::span<const In> inputs, AttrList attrs,
           std::span<const TensorShape> shapes, std::span<const DType> dtypes,
           std::span<Tensor> outputs) override {
    std::vector<Endpoint> in;
    in.reserve(inputs.size());
    for (const In& t : inputs) in.push_back(graph_.endpoint(*t));
    std::vector<ValueInfo> out;
    for (std::size_t i = 0; i < outputs.size(); ++i) out.push_back({dtypes[i], shapes[i]});
    Node& n = graph_.add(op, join_scope(default_node_name(op)), std::move(in), AttrStorage(attrs),
                         std::move(out));
    if (Device* d = call_context().device) n.device = d->name();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = graph_.tensor({&n, static_cast<int>(i)});
  }
  Tensor initial_value(const Tensor& t) override {
    RILL_CHECK(!graph_.no_variables, failed_precondition, "[variable] {}", graph_.no_variables);
    for (Graph* g = &graph_; g; g = g->outer) g->made_variables = true;
    return t.is_symbolic() ? graph_.evaluate(t) : t;
  }

 private:
  Graph& graph_;
};

// What a thread was doing, put aside and back.
struct Aside {
  Aside(Executor* e, Graph* g) : executor(e), graph(g), tapes(TapeStack::of_thread().set_aside()) {}
  ~Aside() { TapeStack::of_thread().bring_back(std::move(tapes)); }
  const ScopedContext<&CallContext::executor> executor;
  const ScopedContext<&CallContext::graph> graph;
  std::vector<Ref<TapeImpl>> tapes;
};

}  // namespace

class TracingScope::Impl {
 public:
  explicit Impl(Graph& g) : executor(g), aside(&executor, &g) {}
  TracingExecutor executor;
  Aside aside;
  // A graph that begins knows no scopes of the one around it.
  const ScopedContext<&CallContext::names> names{nullptr};
};
TracingScope::TracingScope(Graph& graph) : impl_(std::make_unique<Impl>(graph)) {}
TracingScope::~TracingScope() = default;
Graph* TracingScope::current() { return call_context().graph; }

class EagerScope::Impl {
  Aside aside_{nullptr, nullptr};
};
EagerScope::EagerScope() : impl_(std::make_unique<Impl>()) {}
EagerScope::~EagerScope() = default;

}  // namespace rill
