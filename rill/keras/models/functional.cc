#include <algorithm>
#include <mutex>
#include <set>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/base/nearest.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/layers/call_arguments_impl.h"
#include "rill/keras/layers/input_layer_impl.h"
#include "rill/keras/models/model_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

FunctionalImpl::FunctionalImpl(const Nest& inputs, const Nest& outputs, std::string name,
                               const std::vector<std::string>& listed)
    : ModelImpl("Functional", {.name = name.empty() ? unique_layer_name("model") : name}),
      inputs_(sorted_by_key(inputs)),
      outputs_(sorted_by_key(outputs)),
      input_leaves_(inputs_.flatten()),
      output_leaves_(outputs_.flatten()) {
  autocast = false;
  library_class = &typeid(Model);
  copy_handle = &layer_copies::copy_handle<Model>;
  automatic_name = name.empty();
  RILL_CHECK(!input_leaves_.empty() && !output_leaves_.empty(), invalid_argument,
             "[Model] got {} inputs and {} outputs; expected at least one of each",
             input_leaves_.size(), output_leaves_.size());
  std::vector<Ref<KerasNode>> order = nodes_between(input_leaves_, output_leaves_);
  begin_at_inputs(order);
  for (const Tensor& t : input_leaves_) {
    const KerasSymbol& s = *keras_symbol(t);
    RILL_CHECK(!numbers_.count({s.node->id, s.index}), invalid_argument,
               "[Model] the input made by layer \"{}\" is given twice", s.node->layer->name());
    numbers_[{s.node->id, s.index}] = num_values_++;
    if (std::find(nodes_.begin(), nodes_.end(), s.node) == nodes_.end()) nodes_.push_back(s.node);
  }
  for (const Ref<KerasNode>& n : order) add_step(n);
  for (const Tensor& t : output_leaves_) results_.push_back(slot_of(t));

  list_layers(nodes_, output_leaves_, listed);
  built = true;
}

void FunctionalImpl::add_step(const Ref<KerasNode>& node) {
  Step step;
  step.node = node;
  for (const Tensor& t : node->leaves()) step.inputs.push_back(slot_of(t));
  step.first_output = num_values_;
  for (std::size_t i = 0; i < node->specs.size(); ++i)
    numbers_[{node->id, static_cast<int>(i)}] = num_values_++;
  steps_.push_back(std::move(step));
  nodes_.push_back(node);
}

void FunctionalImpl::extend(const std::vector<Tensor>& ends,
                            const std::vector<std::string>& listed) {
  const std::vector<Ref<KerasNode>> order = nodes_between(input_leaves_, ends);
  list_layers(order, ends, listed);  // first: it may find a name twice
  for (const Ref<KerasNode>& n : order)
    if (!numbers_.count({n->id, 0})) add_step(n);
}

Nest sorted_by_key(const Nest& nest) {
  if (nest.is_tensor()) return nest;
  if (!nest.is_dict()) {
    std::vector<Nest> items;
    for (std::size_t i = 0; i < nest.size(); ++i) items.push_back(sorted_by_key(nest.part(i)));
    return nest.with_items(std::move(items));
  }
  std::vector<std::string> keys = nest.keys();
  std::sort(keys.begin(), keys.end());
  std::vector<std::pair<std::string, Nest>> items;
  for (const std::string& key : keys) items.emplace_back(key, sorted_by_key(nest[key]));
  return Nest(std::move(items));
}

Tensor fit_last_axis(const Tensor& x, const TensorShape& want) {
  if (!x.shape().has_rank() || !want.has_rank()) return x;
  if (x.ndim() == want.rank() + 1 && x.shape().dim(-1) == 1) return squeeze(x, -1);
  if (x.ndim() == want.rank() - 1 && want.dim(-1) == 1) return expand_dims(x, -1);
  return x;
}

void check_input_shape(const std::string& model, std::size_t number, const TensorShape& found,
                       const TensorShape& expected) {
  if (!found.has_rank() || !expected.has_rank()) return;
  const auto compared = [](const TensorShape& s) {
    return s.rank() > 0 && s.dim(-1) == 1 ? s.rank() - 1 : s.rank();
  };
  const int axes = std::min(compared(found), compared(expected));
  for (int i = 1; i < axes; ++i) {
    if (found.dim(i) < 0 || expected.dim(i) < 0 || found.dim(i) == expected.dim(i)) continue;
    TensorShape shown = expected;
    shown.set_dim(0, -1);
    RILL_FAIL(invalid_argument,
              "Input {} of layer \"{}\" is incompatible with the layer: expected shape={}, found "
              "shape={}",
              number, model, shown.to_string(), found.to_string());
  }
}

Tensor in_dtype_of_input(const std::string& model, std::size_t number, const Tensor& x,
                         DType wanted) {
  if (!wanted.defined() || x.dtype() == wanted) return x;
  RILL_CHECK((x.dtype() == string) == (wanted == string), invalid_argument,
             "Input {} of layer \"{}\" is incompatible with the layer: expected dtype={}, found "
             "dtype={}",
             number, model, wanted.name(), x.dtype().name());
  return cast(x, wanted);
}

// A model may begin at what a layer made. It has its own input there, as in Keras, and the
// layers that follow are called once more, on what comes of that.
void FunctionalImpl::begin_at_inputs(std::vector<Ref<KerasNode>>& order) {
  std::map<std::pair<const KerasNode*, int>, Tensor> instead;
  const auto replace = [&](Tensor& t) {
    const KerasSymbol* s = t.defined() ? keras_symbol(t) : nullptr;
    if (!s) return;
    if (const auto at = instead.find({s->node.get(), s->index}); at != instead.end())
      t = at->second;
  };
  for (Tensor& t : input_leaves_) {
    const KerasSymbol& s = *keras_symbol(t);
    if (s.node->is_input()) continue;
    RILL_CHECK(t.shape().has_rank() && t.shape().rank() > 0, invalid_argument,
               "[Model] an input, made by layer \"{}\", has shape {}; expected one with a batch",
               s.node->layer->name(), t.shape());
    const auto [at, first] = instead.try_emplace({s.node.get(), s.index});
    RILL_CHECK(first, invalid_argument, "[Model] the input made by layer \"{}\" is given twice",
               s.node->layer->name());
    TensorShape one = TensorShape::scalar();
    for (int i = 1; i < t.shape().rank(); ++i) one.push_back(t.shape().dim(i));
    at->second = Input(one, {.batch_size = t.shape().dim(0), .dtype = t.dtype()});
  }
  if (instead.empty()) return;
  for (Ref<KerasNode>& n : order) {
    const Ref<KerasNode> again = n->called_again(replace);
    for (std::size_t i = 0; i < n->specs.size(); ++i)
      instead.try_emplace({n.get(), static_cast<int>(i)}, again->output(static_cast<int>(i)));
    n = again;
  }
  for (Tensor& t : input_leaves_) replace(t);
  for (Tensor& t : output_leaves_) replace(t);
  inputs_ = inputs_.is_tensor() ? Nest(input_leaves_[0]) : inputs_.with_leaves(input_leaves_);
  outputs_ = outputs_.is_tensor() ? Nest(output_leaves_[0]) : outputs_.with_leaves(output_leaves_);
}

namespace {

// What a call takes in the order in which Keras goes through it: arguments with names behind the
// others, and these by name.
std::vector<Tensor> in_order_of_keras(const KerasNode& n) {
  const auto& names = call_arguments(n.layer->class_name()).inputs;
  if (names.empty() || n.inputs.is_tensor()) return n.leaves();
  std::vector<Tensor> all = n.inputs.part(0).flatten();
  std::map<std::string_view, std::vector<Tensor>> named;
  for (std::size_t i = 1; i < n.inputs.size(); ++i)
    for (const Tensor& t : n.inputs.part(i).flatten())
      named[names[std::min(i, names.size()) - 1]].push_back(t);
  for (const auto& [name, tensors] : named) all.insert(all.end(), tensors.begin(), tensors.end());
  return all;
}

}  // namespace

// Layers as Keras lists them: those farthest from the outputs first, and at one depth in the
// order in which they are met on the way back from the outputs. Files rely on it.
void FunctionalImpl::list_layers(const std::vector<Ref<KerasNode>>& nodes,
                                 const std::vector<Tensor>& outputs,
                                 const std::vector<std::string>& given) {
  std::map<const LayerImpl*, int> met, layer_depth;
  std::map<const KerasNode*, int> node_depth;
  // On the way back a layer is met before those that it uses.
  std::vector<std::pair<const KerasNode*, std::size_t>> stack;
  std::map<const KerasNode*, std::vector<const KerasNode*>> parents;
  for (const Ref<KerasNode>& n : nodes) {
    if (n->is_input()) continue;
    for (const Tensor& t : in_order_of_keras(*n))
      if (const KerasSymbol* s = keras_symbol(t)) parents[n.get()].push_back(s->node.get());
  }
  std::map<const KerasNode*, bool> seen;
  std::vector<const KerasNode*> finished;
  const auto push = [&](const KerasNode* n) {
    if (std::exchange(seen[n], true)) return;
    met.emplace(n->layer.get(), static_cast<int>(met.size()));
    stack.emplace_back(n, 0);
  };
  for (const Tensor& t : outputs) {
    push(keras_symbol(t)->node.get());
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      const std::vector<const KerasNode*>& before = parents[n];
      if (next < before.size()) {
        push(before[next++]);
      } else {
        finished.push_back(n);
        stack.pop_back();
      }
    }
  }
  for (auto i = finished.rbegin(); i != finished.rend(); ++i) {
    int& of_layer = layer_depth[(*i)->layer.get()];
    const int depth = of_layer = std::max(node_depth[*i], of_layer);
    node_depth[*i] = depth;
    for (const KerasNode* p : parents[*i]) node_depth[p] = std::max(depth + 1, node_depth[p]);
  }
  std::vector<LayerImpl*> all, listed;
  for (const LayerRef& l : layers_) all.push_back(&l->impl());
  for (const Ref<KerasNode>& n : nodes) {
    LayerImpl* l = n->layer.get();
    if (std::find(all.begin(), all.end(), l) != all.end()) continue;
    for (const LayerImpl* o : all)
      RILL_CHECK(o->name() != l->name(), invalid_argument,
                 "[Model] the name \"{}\" is used by 2 layers of the model; all layer names should "
                 "be unique",
                 l->name());
    met.emplace(l, -1);  // an input that leads nowhere
    all.push_back(l);
    listed.push_back(l);
  }
  std::stable_sort(listed.begin(), listed.end(), [&](LayerImpl* a, LayerImpl* b) {
    return layer_depth[a] != layer_depth[b] ? layer_depth[a] > layer_depth[b] : met[a] < met[b];
  });
  if (given.size() >= listed.size()) {
    const auto place = [&](const LayerImpl* l) {
      return std::find(given.begin(), given.end(), l->name()) - given.begin();
    };
    std::stable_sort(listed.begin(), listed.end(),
                     [&](LayerImpl* a, LayerImpl* b) { return place(a) < place(b); });
  }
  auto with_weights = std::count_if(layers_.begin(), layers_.end(), [](const LayerRef& l) {
    return counts_as_weighted(l->impl());
  });
  for (LayerImpl* l : listed) {
    // Edges as Keras names them: those with weights, counted apart, and every layer.
    if (counts_as_weighted(*l))
      track_layer(format("layer_with_weights-{}", with_weights++), share(*l));
    track_layer(format("layer-{}", layers_.size()), share(*l));
    layers_.push_back(LayerObjects::of(*l));
  }
}

FunctionalImpl::Slot FunctionalImpl::slot_of(const Tensor& t) const {
  const KerasSymbol* s = keras_symbol(t);
  if (!s) return {.constant = t};
  return {.value = numbers_.at({s->node->id, s->index})};
}

namespace {

// Of the same keys once, as Python's warnings.
void warn_of_extra(const std::string& model, const std::vector<std::string>& got,
                   const std::vector<std::string>& known) {
  std::vector<std::string> extra;
  for (const std::string& key : got)
    if (std::find(known.begin(), known.end(), key) == known.end()) extra.push_back(key);
  if (extra.empty()) return;
  const std::string what =
      format("[{}] the dict of inputs has the keys [{}]", model, quoted_list(extra));
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!said->insert(what).second) return;
  }
  RILL_LOG(warning, "{}, which are no inputs of the model and are ignored; expected [{}]", what,
           quoted_list(known));
}

}  // namespace

Nest FunctionalImpl::call_nest(const Nest& given, const CallContext& context) {
  std::vector<Nest> values_given;
  const std::vector<Nest> wanted = values_of(inputs_);
  const auto input_name = [](const Nest& input) {
    return keras_symbol(input.flatten().at(0))->node->layer->name();
  };
  const bool is_list = !inputs_.is_tensor() && !inputs_.is_composite();
  // Inputs by the keys of the model's own dict, or by the names of their layers.
  if (given.is_dict() && (inputs_.is_dict() || !is_list || inputs_.size() == wanted.size())) {
    std::vector<std::string> keys;
    if (inputs_.is_dict())
      keys = inputs_.keys();
    else
      for (const Nest& input : wanted) keys.push_back(input_name(input));
    const std::vector<std::string> got = given.keys();
    warn_of_extra(name(), got, keys);
    for (const std::string& key : keys) {
      RILL_CHECK(std::find(got.begin(), got.end(), key) != got.end(), invalid_argument,
                 "[{}] no data for input \"{}\": got a dict with the keys [{}]; expected [{}]",
                 name(), key, quoted_list(got), quoted_list(keys));
      for (Nest& value : values_of(given[key])) values_given.push_back(std::move(value));
    }
  } else {
    values_given = values_of(given);
  }
  RILL_CHECK(values_given.size() == wanted.size(), invalid_argument,
             "[{}] the model expects {} input(s), but it received {} input tensors", name(),
             wanted.size(), values_given.size());
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto kind = [](const Nest& n) {
      return n.is_composite() ? std::string(n.composite_kind()) : std::string("dense");
    };
    const std::vector<Tensor> parts = values_given[i].flatten();
    RILL_CHECK(
        kind(values_given[i]) == kind(wanted[i]) && parts.size() == wanted[i].flatten().size(),
        invalid_argument, "[{}] input \"{}\" is {} ({}), but it received a {} tensor ({})", name(),
        input_name(wanted[i]), kind(wanted[i]), wanted[i].to_string(), kind(values_given[i]),
        values_given[i].to_string());
    leaves.insert(leaves.end(), parts.begin(), parts.end());
  }
  std::vector<Tensor> values(static_cast<std::size_t>(num_values_));
  // Keras looks at no shapes of inputs that are nested deeper.
  const bool flat = inputs_.is_tensor() || inputs_.size() == input_leaves_.size();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const KerasSymbol& s = *keras_symbol(input_leaves_[i]);
    Tensor x = leaves[i];
    const TensorShape& want = input_leaves_[i].shape();
    if (flat) check_input_shape(name(), i, x.shape(), want);
    x = in_dtype_of_input(name(), i, x, input_leaves_[i].dtype());
    values[static_cast<std::size_t>(numbers_.at({s.node->id, s.index}))] = fit_last_axis(x, want);
  }
  const int training = context.training ? 1 : 0;
  for (const Step& step : steps_) {
    std::vector<Tensor> in;
    in.reserve(step.inputs.size());
    for (const Slot& s : step.inputs)
      in.push_back(s.value < 0 ? s.constant : values[static_cast<std::size_t>(s.value)]);
    const std::vector<Tensor> out = step.node->run(in, training).flatten();
    RILL_INTERNAL_CHECK(out.size() == step.node->specs.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      values[static_cast<std::size_t>(step.first_output) + i] = out[i];
  }
  std::vector<Tensor> results;
  for (const Slot& s : results_) results.push_back(values[static_cast<std::size_t>(s.value)]);
  return outputs_.is_tensor() ? Nest(results[0]) : outputs_.with_leaves(results);
}

}  // namespace rill::keras
