#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_set>

#include "rill/base/check.h"
#include "rill/core/late_reads.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/op_layer_impl.h"
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/engine/trace_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

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

KerasSymbol::KerasSymbol(Ref<KerasNode> n, int i) : node(std::move(n)), index(i) {
  note_late_reads();
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
  if (const TensorShape& s = node->specs[static_cast<std::size_t>(index)].sizes; s.has_rank())
    return s;
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

const ValueSpec& spec_of(const KerasSymbol& s) {
  return s.node->specs[static_cast<std::size_t>(s.index)];
}
void set_mask(const Tensor& t, const Tensor& mask) {
  retain(mask.impl());
  t.impl()->mask = Ref<TensorImpl>(mask.impl());
}
Tensor mask_of(const Tensor& t) { return t.impl()->mask ? Tensor(t.impl()->mask) : Tensor(); }

// What a call has added to the layers in it: where to, and the values.
void collect_added(LayerImpl& l, std::unordered_set<LayerImpl*>& seen,
                   std::vector<TracedCall::Added>& to, std::vector<Tensor>& values) {
  if (!seen.insert(&l).second) return;
  for (const Tensor& t : l.call_losses) {
    to.push_back({.to = share(l), .is_metric = false, .metric_name = {}});
    values.push_back(t);
  }
  for (const LayerImpl::CallMetric& m : l.call_metrics) {
    to.push_back({.to = share(l), .is_metric = true, .metric_name = m.name});
    values.push_back(m.value);
  }
  for (const Ref<LayerImpl>& c : l.children) collect_added(*c, seen, to, values);
}

// The masks that go with the symbolic tensors of a call, where there are any.
using Masks = std::vector<std::optional<TensorSpec>>;

// As the drawing knows them.
Masks masks_drawn(const std::vector<Tensor>& leaves) {
  Masks masks;
  for (const Tensor& t : leaves)
    if (const KerasSymbol* s = keras_symbol(t)) {
      std::optional<TensorSpec>& m = masks.emplace_back();
      if (const ValueSpec& v = spec_of(*s); v.masked) m.emplace(v.mask_shape, v.mask_dtype);
    }
  return masks;
}
// The same with one for each sequence, batch and steps first: a model that is drawn without masks
// may be called on what has them.
Masks masks_possible(const std::vector<Tensor>& leaves, Masks masks) {
  std::size_t next = 0;
  for (const Tensor& t : leaves)
    if (keras_symbol(t)) {
      std::optional<TensorSpec>& m = masks[next++];
      if (const TensorShape& s = t.shape(); !m && s.has_rank() && s.rank() == 3) {
        TensorShape steps = TensorShape::scalar();
        for (const int axis : {0, 1}) steps.push_back(s.dim(axis));
        m.emplace(steps, bool_);
      }
    }
  return masks;
}

TracedCall trace_call(const Layer& layer, const Nest& inputs, CallOptions options, bool training,
                      const Masks& masks) {
  options.training = training;
  const std::vector<Tensor> leaves = leaves_of(inputs, options);
  std::vector<TensorSpec> specs;
  std::vector<bool> with_mask;
  for (const Tensor& t : leaves)
    if (keras_symbol(t)) specs.emplace_back(t.shape(), t.dtype());
  const std::size_t first_mask = specs.size();
  for (const std::optional<TensorSpec>& m : masks) {
    with_mask.push_back(m.has_value());
    if (m) specs.push_back(*m);
  }
  const CallResultsScope aside(layer.impl());
  TrainableAsked questions;
  std::vector<bool> masked;
  std::vector<TracedCall::Added> added;
  ConcreteFunction f = trace(layer.name(), specs, [&](const std::vector<Tensor>& args) {
    std::size_t next = 0, next_mask = first_mask;
    std::vector<Tensor> given = leaves;
    for (Tensor& t : given)
      if (keras_symbol(t)) {
        t = args[next];
        if (with_mask[next++]) set_mask(t, args[next_mask++]);
      }
    const Nest x = placed(given, inputs, options);
    std::vector<Tensor> results = LayerCalls::run(layer, x, options).flatten();
    const std::size_t n = results.size();
    masked.assign(n, false);
    for (std::size_t i = 0; i < n; ++i)
      if (const Tensor mask = mask_of(results[i]); mask.defined()) {
        masked[i] = true;
        results.push_back(mask);
      }
    added.clear();
    std::unordered_set<LayerImpl*> seen;
    collect_added(layer.impl(), seen, added, results);
    return Nest(results);
  });
  std::vector<std::pair<Ref<LayerImpl>, bool>> trains;
  for (LayerImpl* l : questions.asked) trains.emplace_back(share(*l), l->trainable);
  return {training,          std::move(with_mask), std::move(trains),
          std::move(masked), std::move(added),     std::move(f)};
}

// For a time these layers train, or do not.
class TrainsScope {
 public:
  TrainsScope(const std::vector<std::pair<Ref<LayerImpl>, bool>>& layers, bool yes)
      : before_(layers) {
    for (const auto& [layer, was] : layers) layer->trainable = yes;
  }
  ~TrainsScope() {
    for (const auto& [layer, was] : before_) layer->trainable = was;
  }
  TrainsScope(const TrainsScope&) = delete;

 private:
  std::vector<std::pair<Ref<LayerImpl>, bool>> before_;
};

// For one choice of masks: for inference and training and, where the call asks what trains, with
// all of that frozen and free.
void trace_with(const Layer& layer, const Nest& inputs, const CallOptions& options,
                const Masks& masks, std::vector<TracedCall>& all) {
  for (const bool training : {false, true}) {
    all.push_back(trace_call(layer, inputs, options, training, masks));
    const auto as_drawn = all.back().trains;
    for (const bool yes : {false, true}) {
      if (std::all_of(as_drawn.begin(), as_drawn.end(),
                      [&](const auto& t) { return t.second == yes; }))
        continue;
      const TrainsScope scope(as_drawn, yes);
      all.push_back(trace_call(layer, inputs, options, training, masks));
    }
  }
}

// The call of a user's layer as graphs, for the object may be gone when the model runs.
std::vector<TracedCall> trace_calls(const Layer& layer, const Nest& inputs,
                                    const CallOptions& options) {
  const std::vector<Tensor> leaves = leaves_of(inputs, options);
  const Masks drawn = masks_drawn(leaves), possible = masks_possible(leaves, drawn);
  std::vector<TracedCall> all;
  trace_with(layer, inputs, options, drawn, all);
  const auto count = [](const Masks& m) {
    return std::count_if(m.begin(), m.end(), [](const auto& i) { return i.has_value(); });
  };
  const auto trace_too = [&](const Masks& masks) {
    const std::size_t before = all.size();
    try {
      trace_with(layer, inputs, options, masks, all);
    } catch (const errors::Error&) {
      // It does not accept them. A caller that passes them gets the error when the model runs.
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    }
  };
  if (count(possible) > count(drawn)) trace_too(possible);
  // A model that begins behind the layer that made the masks has none.
  if (count(drawn) > 0) trace_too(Masks(drawn.size()));
  return all;
}

}  // namespace

Tensor KerasNode::output(int i) {
  retain(this);
  const ValueSpec& spec = specs.at(static_cast<std::size_t>(i));
  return make_symbolic(spec.dtype, spec.shape,
                       Ref<Symbol>(new KerasSymbol(Ref<KerasNode>(this), i)));
}
Ref<KerasNode> KerasNode::called_again(const std::function<void(Tensor&)>& replace) const {
  std::vector<Tensor> given = leaves();
  for (Tensor& t : given) replace(t);
  CallOptions o = options;
  const Nest x = placed(given, inputs, o);
  Ref<KerasNode> again = add_node(layer, x, std::move(o), specs, outputs);
  again->object = object;
  again->traced = traced;
  again->config = config;
  return again;
}
int KerasNode::value_of(int result) const {
  int number = 0;
  for (const Nest& value : values_of(outputs)) {
    result -= static_cast<int>(value.flatten().size());
    if (result < 0) return number;
    ++number;
  }
  return number;
}
bool is_more_of(const KerasSymbol* first, const KerasSymbol& second) {
  return first && first->node.get() == second.node.get() && first->index < second.index &&
         first->node->value_of(first->index) == second.node->value_of(second.index);
}
Nest symbolic_outputs(const Ref<KerasNode>& node) {
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < node->specs.size(); ++i)
    leaves.push_back(node->output(static_cast<int>(i)));
  return node->outputs.is_tensor() ? Nest(leaves.at(0)) : node->outputs.with_leaves(leaves);
}

std::vector<ValueSpec> infer_outputs(const Layer& layer, const Nest& inputs,
                                     const CallOptions& options, Nest* structure) {
  Ref<Graph> g(new Graph(layer.name()));
  const TracingScope tracing(*g);
  const CallResultsScope aside(layer.impl());
  // Tensors of the drawing are arguments of the graph, others as they are.
  std::vector<Tensor> leaves = leaves_of(inputs, options);
  for (Tensor& t : leaves)
    if (const KerasSymbol* s = keras_symbol(t)) {
      const ValueSpec spec = spec_of(*s);
      t = g->tensor({&g->add_argument("x", t.dtype(), t.shape()), 0});
      if (spec.sizes.has_rank()) t = with_sizes(t, spec.sizes);
      if (spec.masked)
        set_mask(t, g->tensor({&g->add_argument("mask", spec.mask_dtype, spec.mask_shape), 0}));
    }
  CallOptions within = options;
  const Nest x = placed(leaves, inputs, within);
  const Nest out = LayerCalls::run(layer, x, std::move(within));
  for (const Tensor& t : out.flatten())
    RILL_CHECK(t.defined(), invalid_argument, "[{}] call returned an undefined tensor",
               layer.name());
  return specs_of(out, structure);
}

std::vector<ValueSpec> specs_of(const Nest& values, Nest* structure) {
  std::vector<ValueSpec> specs;
  for (const Tensor& t : values.flatten()) {
    ValueSpec& spec = specs.emplace_back(ValueSpec{t.dtype(), t.shape()});
    if (const Tensor mask = mask_of(t); mask.defined())
      spec.masked = true, spec.mask_dtype = mask.dtype(), spec.mask_shape = mask.shape();
  }
  // Of composites alone, which need it.
  std::size_t first = 0;
  for (const Nest& value : values_of(values)) {
    const std::vector<Tensor> leaves = value.flatten();
    if (value.composite_kind() == "sparse" && leaves.back().is_symbolic())
      specs[first + leaves.size() - 1].sizes = leaves.back().impl()->symbol->known_sizes();
    first += leaves.size();
  }
  if (structure) {
    // The structure without the graph's tensors, which end with it.
    const std::vector<Tensor> placeholders(specs.size(), constant(0));
    *structure = values.is_tensor() ? Nest(placeholders[0]) : values.with_leaves(placeholders);
  }
  return specs;
}

std::vector<Nest> values_of(const Nest& nest) {
  if (nest.is_tensor() || nest.is_composite()) return {nest};
  std::vector<Nest> all;
  for (std::size_t i = 0; i < nest.size(); ++i)
    for (Nest& value : values_of(nest.part(i))) all.push_back(std::move(value));
  return all;
}

TensorShape shape_of(const Nest& value) {
  if (value.composite_kind() == "ragged") return value.as_ragged().shape();
  if (value.composite_kind() == "sparse") return value.as_sparse().shape();
  return value.as_tensor().shape();
}

Tensor with_sizes(const Tensor& sizes, const TensorShape& known) {
  std::vector<Tensor> list;
  for (int i = 0; i < known.rank(); ++i)
    list.push_back(known.dim(i) < 0 ? sizes[i] : constant(known.dim(i), sizes.dtype()));
  return stack(list);
}

Nest call_symbolically(const Layer& layer, const Nest& inputs, CallOptions options) {
  Nest structure;
  std::vector<ValueSpec> specs = infer_outputs(layer, inputs, options, &structure);
  const Ref<KerasNode> node =
      add_node(LayerObjects::impl_of(layer), inputs, options, std::move(specs), structure);
  if (LayerObjects::is_users_class(layer)) {
    node->object = LayerObjects::hold(layer);
    LayerObjects::note_drawn(layer);
  }
  if (LayerObjects::is_users_class(layer) && !node->object.defined()) {
    node->traced = trace_calls(layer, inputs, options);
    if (!layer.impl().users.own_call) node->config = layer.get_config();
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
    RILL_CHECK(op.variable != VariableUse::update && op.variable != VariableUse::assign,
               failed_precondition,
               "[{}] a symbolic Keras tensor cannot update a variable: do it in the call of a "
               "user-defined Layer",
               op.tag);
    std::vector<Tensor> leaves;
    for (const In& i : inputs) {
      const Ref<TensorImpl>& variable = i->impl()->read_from;
      leaves.push_back(variable ? Tensor(variable) : *i);
    }
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
  if (object_is_gone()) return run_traced(values, training);
  CallOptions o = options;
  const Nest x = placed(values, inputs, o);
  if (o.training < 0) o.training = training;
  return LayerCalls::run(LayerHandle(layer), x, std::move(o));
}

bool KerasNode::object_is_gone() const {
  return !traced.empty() && !layer->users.live && layer->users.held.expired();
}

const TracedCall& KerasNode::traced_for(bool training, const std::vector<bool>& with_mask) const {
  bool masks_fit = false;
  for (const TracedCall& t : traced) {
    if (t.with_mask != with_mask) continue;
    masks_fit = true;
    if (t.training == training &&
        std::all_of(t.trains.begin(), t.trains.end(),
                    [](const auto& told) { return told.first->trains_in_call() == told.second; }))
      return t;
  }
  RILL_CHECK(masks_fit, failed_precondition,
             "[{}] the object of {} is gone, so its call is kept as graphs: for the masks that its "
             "inputs had when it was drawn, for none and for masks of all sequences; now others "
             "come. Keep the object, or make it with std::make_shared<{}>(...), so that the model "
             "keeps it",
             layer->name(), layer->class_name(), layer->class_name());
  RILL_FAIL(failed_precondition,
            "[{}] the object of {} is gone, so its call is kept as graphs: for what was trainable "
            "when it was drawn, for all of it and for none; now it is something else. Keep the "
            "object, or make it with std::make_shared<{}>(...), so that the model keeps it",
            layer->name(), layer->class_name(), layer->class_name());
}

Nest KerasNode::run_traced(const std::vector<Tensor>& values, int training) const {
  // The graph takes what was symbolic; constants are in it.
  std::vector<Tensor> arguments, masks;
  std::vector<bool> with_mask;
  const std::vector<Tensor> drawn = leaves();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (!keras_symbol(drawn[i])) continue;
    arguments.push_back(values[i]);
    const Tensor mask = mask_of(values[i]);
    with_mask.push_back(mask.defined());
    if (mask.defined()) masks.push_back(mask);
  }
  const bool trains = (options.training >= 0 ? options.training : training) > 0;
  const TracedCall& call = traced_for(trains, with_mask);
  arguments.insert(arguments.end(), masks.begin(), masks.end());
  std::vector<Tensor> all = call.function(arguments).flatten();
  std::size_t next = specs.size();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!call.masked[i]) continue;
    const Tensor mask = all[next++];
    // A result that is an argument belongs to the caller.
    for (const Tensor& a : arguments)
      if (a.impl() == all[i].impl()) {
        all[i] = identity(all[i]);
        break;
      }
    set_mask(all[i], mask);
  }
  for (const TracedCall::Added& a : call.added) {
    const Tensor value = all[next++];
    if (a.is_metric)
      a.to->call_metrics.push_back({a.metric_name, value});
    else
      a.to->call_losses.push_back(value);
  }
  all.resize(specs.size());
  return outputs.is_tensor() ? Nest(all.at(0)) : outputs.with_leaves(all);
}

std::vector<Ref<KerasNode>> nodes_between(const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outputs) {
  std::unordered_set<const KerasNode*> given, done;
  std::vector<std::pair<const KerasNode*, int>> given_values;
  for (const Tensor& t : inputs) {
    const KerasSymbol* s = keras_symbol(t);
    RILL_CHECK(s, invalid_argument,
               "[Model] an input has shape {} and is not a symbolic tensor; expected what "
               "keras::Input gave",
               t.shape());
    given_values.emplace_back(s->node.get(), s->index);
  }
  const auto is_given = [&](const KerasSymbol& s) {
    return std::find(given_values.begin(), given_values.end(),
                     std::pair<const KerasNode*, int>(s.node.get(), s.index)) != given_values.end();
  };
  // Depth first, with its own stack: models may be thousands of layers deep.
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
               "[Model] an output has shape {} and is not a symbolic tensor; expected what layers "
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
