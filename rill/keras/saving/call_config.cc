#include "rill/keras/saving/call_config_impl.h"

#include "rill/base/check.h"
#include "rill/keras/engine/op_layer_impl.h"
#include "rill/keras/layers/call_arguments_impl.h"
#include "rill/keras/saving/op_calls_impl.h"

namespace rill::keras {

namespace {

// The call of a layer: its inputs, with all other arguments behind each.
class LayerCall {
 public:
  LayerCall(const KerasNode& node, const TensorPlace& place) : n_(node), place_(place) {}

  Config config() {
    const auto& names = call_arguments(n_.layer->class_name()).inputs;
    const bool by_name = !names.empty() && !n_.inputs.is_tensor() && !n_.inputs.is_composite();
    for (std::size_t i = 1; by_name && i < n_.inputs.size(); ++i) {
      const Config given = value(n_.inputs.part(i));
      if (i > names.size()) {  // states that were given one by one
        Config list = arguments_[names.back()];
        if (i == names.size() + 1) list = Config::list({list});
        list.push_back(given);
        arguments_.set(names.back(), list);
      } else if (i == 1 || given != arguments_.get(names[i - 2])) {  // the key may be the value
        arguments_.set(names[i - 1], given);
      }
    }
    add_options();
    if (by_name) return Config::list({input(n_.inputs[0])});
    return n_.inputs.is_tensor() || n_.inputs.is_composite() ? Config::list({input(n_.inputs)})
                                                             : input(n_.inputs);
  }

 private:
  void add_options() {
    const CallOptions& o = n_.options;
    if (o.mask.defined()) arguments_.set("mask", symbolic(o.mask, "mask"));
    bool any = false;
    Config masks = Config::list();
    for (const Tensor& m : o.masks) {
      masks.push_back(m.defined() ? symbolic(m, "mask") : Config());
      any = any || m.defined();
    }
    if (any) arguments_.set("mask", masks);
    if (!o.initial_state.empty()) {
      Config states = Config::list();
      for (const Tensor& t : o.initial_state) states.push_back(symbolic(t, "initial_state"));
      arguments_.set("initial_state", states);
    }
    // Those of a drawing are inputs.
    for (const Tensor& t : o.constants) symbolic(t, "constants");
    if (o.training >= 0) arguments_.set("training", o.training > 0);
    for (const std::string& key : o.arguments.keys()) arguments_.set(key, o.arguments[key]);
  }
  Config symbolic(const Tensor& t, const char* what) const {
    RILL_CHECK(keras_symbol(t), unimplemented,
               "[get_config] layer \"{}\" is called with a constant as {}, which a configuration "
               "does not hold; put the call into a user-defined Layer",
               n_.layer->name(), what);
    return place_(t);
  }
  // An argument with a name.
  Config value(const Nest& nest) const {
    if (nest.is_composite()) return place_(whole_result(nest));
    if (nest.is_tensor())
      return keras_symbol(nest.as_tensor()) ? place_(nest.as_tensor())
                                            : constant_config(nest.as_tensor());
    Config list = Config::list();
    for (std::size_t i = 0; i < nest.size(); ++i) list.push_back(value(nest.part(i)));
    return list;
  }
  Config input(const Nest& nest) const {
    if (nest.is_tensor() || nest.is_composite()) {
      const Tensor t = whole_result(nest);
      Config entry =
          keras_symbol(t) ? place_(t) : Config::list({kConstantValue, -1, constant_config(t)});
      entry.push_back(arguments_);
      return entry;
    }
    Config c = nest.is_dict() ? Config::dict() : Config::list();
    if (nest.is_dict())
      for (const std::string& key : nest.keys()) c.set(key, input(nest[key]));
    else
      for (std::size_t i = 0; i < nest.size(); ++i) c.push_back(input(nest.part(i)));
    return c;
  }

  const KerasNode& n_;
  const TensorPlace& place_;
  Config arguments_ = Config::dict();
};

}  // namespace

namespace {

// A configuration names the values that calls give, and has no word for a part of one.
void refuse_part(const Tensor& t) {
  const KerasSymbol* s = keras_symbol(t);
  if (!s) return;
  const Nest of =
      values_of(s->node->outputs)[static_cast<std::size_t>(s->node->value_of(s->index))];
  RILL_CHECK(
      !of.is_composite(), unimplemented,
      "[get_config] the model uses a part of the {} tensor that layer \"{}\" gives, or an op "
      "on it, which a configuration cannot say; put that into a user-defined Layer",
      of.composite_kind(), s->node->layer->name());
}

}  // namespace

Tensor whole_result(const Nest& value) {
  if (value.is_tensor()) {
    refuse_part(value.as_tensor());
    return value.as_tensor();
  }
  const std::vector<Tensor> leaves = value.flatten();
  const KerasSymbol* first = keras_symbol(leaves.at(0));
  bool one = first != nullptr;
  for (const Tensor& t : leaves) {
    const KerasSymbol* s = keras_symbol(t);
    one = one && s && s->node.get() == first->node.get() &&
          s->node->value_of(s->index) == first->node->value_of(first->index);
  }
  RILL_CHECK(one, unimplemented,
             "[get_config] a {} tensor was made of the tensors of several layers, which a "
             "configuration cannot say; put what makes it into a user-defined Layer",
             value.composite_kind());
  return leaves[0];
}

bool only_whole(const Config& c) {
  if (!c.is_list()) return c.kind() == Config::Kind::integer;
  for (const Config& i : c.items())
    if (!only_whole(i)) return false;
  return true;
}

Config call_config(const KerasNode& n, const TensorPlace& place) {
  if (dynamic_cast<const OpLayer*>(n.layer.get())) {
    for (const Tensor& t : n.leaves()) refuse_part(t);
    return keras2_config(DrawnOp(n, place).written());
  }
  return LayerCall(n, place).config();
}

}  // namespace rill::keras
