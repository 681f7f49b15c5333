#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "rill/base/check.h"
#include "rill/graph/graph.h"
#include "rill/keras/layers/op_layer_impl.h"
#include "rill/keras/symbolic_impl.h"
#include "rill/keras/trace_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

std::uint64_t KerasNode::next_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}
KerasNode::~KerasNode() {
  if (layer) std::erase(layer->inbound, this);
}

const KerasSymbol* keras_symbol(const Tensor& t) {
  return t.is_symbolic() ? dynamic_cast<const KerasSymbol*>(t.impl()->symbol.get()) : nullptr;
}
bool any_symbolic(const std::vector<Tensor>& leaves) {
  return std::any_of(leaves.begin(), leaves.end(), [](const Tensor& t) { return keras_symbol(t); });
}

std::string KerasSymbol::name() const {
  return index == 0 && node->index == 0
             ? node->layer->name()
             : format("{}:{}:{}", node->layer->name(), node->index, index);
}
std::string KerasSymbol::describe() const {
  return format("the symbolic Keras tensor made by layer \"{}\"", node->layer->name());
}
TensorShape KerasSymbol::known_sizes() const {
  // The sizes that a Shape op will give, as far as the drawing knows them.
  const auto* op = dynamic_cast<const OpLayer*>(node->layer.get());
  if (op && op->op().name == "Shape") return node->inputs.flatten().at(0).shape();
  return TensorShape::unknown_rank();
}

// ---- what a call takes
namespace {

template <class F>
void each_tensor(CallOptions& o, const F& f) {
  if (o.mask.defined()) f(o.mask);
  for (Tensor& m : o.masks)
    if (m.defined()) f(m);
  for (Tensor& s : o.initial_state) f(s);
  for (Tensor& c : o.constants) f(c);
}
std::vector<Tensor> leaves_of(const Nest& inputs, CallOptions options) {
  std::vector<Tensor> all = inputs.flatten();
  each_tensor(options, [&](const Tensor& t) { all.push_back(t); });
  return all;
}
// The inputs as these leaves are; the rest of them goes into the options.
Nest placed(const std::vector<Tensor>& leaves, const Nest& inputs, CallOptions& options) {
  const std::size_t n = inputs.is_tensor() ? 1 : inputs.flatten().size();
  std::size_t next = n;
  each_tensor(options, [&](Tensor& t) { t = leaves[next++]; });
  if (inputs.is_tensor()) return leaves[0];
  return inputs.with_leaves({leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(n)});
}

}  // namespace

std::vector<Tensor> KerasNode::leaves() const { return leaves_of(inputs, options); }

// ---- drawing
namespace {

Ref<KerasNode> add_node(const Ref<LayerImpl>& layer, const Nest& inputs, CallOptions options,
                        std::vector<ValueSpec> specs, const Nest& structure) {
  auto* n = new KerasNode;
  n->layer = layer;
  n->inputs = inputs;
  n->options = std::move(options);
  n->specs = std::move(specs);
  n->outputs = structure;
  n->index = static_cast<int>(layer->inbound.size());
  layer->inbound.push_back(n);
  return Ref<KerasNode>(n);
}

// The call of a user's layer as a graph: the object may be gone when the model runs.
ConcreteFunction trace_call(const Layer& layer, const Nest& inputs, CallOptions options,
                            bool training) {
  options.training = training;
  std::vector<Tensor> leaves = leaves_of(inputs, options);
  std::vector<TensorSpec> specs;
  for (const Tensor& t : leaves)
    if (keras_symbol(t)) specs.emplace_back(t.shape(), t.dtype());
  return trace(layer.name(), specs, [&](const std::vector<Tensor>& args) {
    std::size_t next = 0;
    for (Tensor& t : leaves)
      if (keras_symbol(t)) t = args[next++];
    const Nest x = placed(leaves, inputs, options);
    return CallMachinery::run(layer, x, options);
  });
}

}  // namespace

Nest symbolic_outputs(const Ref<KerasNode>& node) {
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < node->specs.size(); ++i)
    leaves.push_back(make_symbolic(node->specs[i].dtype, node->specs[i].shape,
                                   Ref<Symbol>(new KerasSymbol(node, static_cast<int>(i)))));
  return node->outputs.is_tensor() ? Nest(leaves.at(0)) : node->outputs.with_leaves(leaves);
}

std::vector<ValueSpec> infer_outputs(const Layer& layer, const Nest& inputs,
                                     const CallOptions& options, Nest* structure) {
  Ref<Graph> g(new Graph(layer.name()));
  const TracingScope tracing(*g);
  // Tensors of the drawing are arguments of the graph, others as they are.
  std::vector<Tensor> leaves = leaves_of(inputs, options);
  for (Tensor& t : leaves)
    if (keras_symbol(t)) t = g->tensor({&g->add_argument("x", t.dtype(), t.shape()), 0});
  CallOptions within = options;
  const Nest x = placed(leaves, inputs, within);
  const Nest out = CallMachinery::run(layer, x, std::move(within));
  std::vector<ValueSpec> specs;
  for (const Tensor& t : out.flatten()) {
    RILL_CHECK(t.defined(), invalid_argument, "[{}] call returned an undefined tensor",
               layer.name());
    specs.push_back({t.dtype(), t.shape()});
  }
  if (structure) {
    // The structure without the graph's tensors, which end with it.
    std::vector<Tensor> placeholders(specs.size(), constant(0));
    *structure = out.is_tensor() ? Nest(placeholders[0]) : out.with_leaves(placeholders);
  }
  layer.impl().clear_call_losses();
  return specs;
}

Nest call_symbolically(const Layer& layer, const Nest& inputs, CallOptions options) {
  Nest structure;
  std::vector<ValueSpec> specs = infer_outputs(layer, inputs, options, &structure);
  const Ref<KerasNode> node =
      add_node(CallMachinery::impl_of(layer), inputs, options, std::move(specs), structure);
  if (CallMachinery::is_users_class(layer)) {
    for (const bool training : {false, true})
      node->traced.push_back(trace_call(layer, inputs, options, training));
    node->config = layer.get_config();
  }
  return symbolic_outputs(node);
}

// ---- ops on symbolic tensors: each becomes a layer
namespace {

class DrawingExecutor : public Executor {
 public:
  void run(const Op& op, std::span<const In> inputs, AttrList attrs,
           std::span<const TensorShape> shapes, std::span<const DType> dtypes,
           std::span<Tensor> outputs) override {
    RILL_CHECK(!op.updates, failed_precondition,
               "[{}] a symbolic Keras tensor cannot update a variable: do it in the call of a "
               "Layer of your own",
               op.tag);
    std::vector<Tensor> leaves;
    for (const In& i : inputs) leaves.push_back(*i);
    std::vector<ValueSpec> specs;
    for (std::size_t i = 0; i < outputs.size(); ++i) specs.push_back({dtypes[i], shapes[i]});
    const Ref<LayerImpl> layer(new OpLayer(op, attrs, static_cast<int>(outputs.size())));
    layer->built = true;
    const Nest structure = outputs.size() == 1
                               ? Nest(constant(0))
                               : Nest(std::vector<Tensor>(outputs.size(), constant(0)));
    const Ref<KerasNode> node =
        add_node(layer, Nest(std::move(leaves)), {}, std::move(specs), structure);
    const std::vector<Tensor> results = symbolic_outputs(node).flatten();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = results[i];
  }
};

DrawingExecutor drawing_executor;

}  // namespace

Executor* KerasSymbol::own_executor() const { return &drawing_executor; }

// ---- running
Nest KerasNode::run(const std::vector<Tensor>& values, int training) const {
  if (!traced.empty()) {
    // The graph takes what was symbolic; constants are in it.
    std::vector<Tensor> arguments;
    const std::vector<Tensor> drawn = leaves();
    for (std::size_t i = 0; i < drawn.size(); ++i)
      if (keras_symbol(drawn[i])) arguments.push_back(values[i]);
    return traced[training > 0 ? 1 : 0](arguments);
  }
  CallOptions o = options;
  const Nest x = placed(values, inputs, o);
  if (o.training < 0) o.training = training;
  return CallMachinery::run(LayerHandle(layer), x, std::move(o));
}

std::vector<Ref<KerasNode>> nodes_between(const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outputs) {
  std::unordered_set<const KerasNode*> given, done;
  std::vector<std::pair<const KerasNode*, int>> given_values;
  for (const Tensor& t : inputs) {
    const KerasSymbol* s = keras_symbol(t);
    RILL_CHECK(s, invalid_argument,
               "[Model] an input has shape {} and is no symbolic tensor; expected what "
               "keras::Input gave",
               t.shape());
    given_values.emplace_back(s->node.get(), s->index);
  }
  const auto is_given = [&](const KerasSymbol& s) {
    return std::find(given_values.begin(), given_values.end(),
                     std::pair<const KerasNode*, int>(s.node.get(), s.index)) != given_values.end();
  };
  // Depth first, with a stack of its own: models may be thousands of layers deep.
  struct Visit {
    Ref<KerasNode> node;
    std::vector<Tensor> leaves;
    std::size_t next = 0;
  };
  std::vector<Ref<KerasNode>> order;
  std::vector<Visit> stack;
  const auto push = [&](const KerasSymbol& s) {
    if (is_given(s) || done.count(s.node.get())) return;
    RILL_CHECK(!s.node->is_input(), invalid_argument,
               "[Model] graph disconnected: the outputs need the input \"{}\", which is not among "
               "the model's inputs",
               s.node->layer->name());
    done.insert(s.node.get());
    stack.push_back({s.node, s.node->leaves()});
  };
  for (const Tensor& t : outputs) {
    const KerasSymbol* s = keras_symbol(t);
    RILL_CHECK(s, invalid_argument,
               "[Model] an output has shape {} and is no symbolic tensor; expected what layers "
               "made of keras::Input",
               t.shape());
    push(*s);
    while (!stack.empty()) {
      Visit& v = stack.back();
      if (v.next == v.leaves.size()) {
        order.push_back(v.node);
        stack.pop_back();
      } else if (const KerasSymbol* in = keras_symbol(v.leaves[v.next++])) {
        push(*in);
      }
    }
  }
  return order;
}

}  // namespace rill::keras
