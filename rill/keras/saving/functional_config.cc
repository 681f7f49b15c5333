// The configuration of a functional model: its layers, and which calls lead from one to the next.
#include <algorithm>
#include <map>

#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/saving/call_config_impl.h"

namespace rill::keras {

void FunctionalImpl::add_config(Config& c) const {
  // The calls of a layer that belong to this model are counted again, in the order in which they
  // were made. Of a model inside, Keras counts the call that drew it, too.
  std::map<const LayerImpl*, std::vector<const KerasNode*>> calls;
  for (const Ref<KerasNode>& n : nodes_) calls[n->layer.get()].push_back(n.get());
  std::map<const KerasNode*, int> index;
  for (auto& [layer, list] : calls) {
    std::sort(list.begin(), list.end(),
              [](const KerasNode* a, const KerasNode* b) { return a->id < b->id; });
    const bool drawn = layer->is_model() &&
                       !static_cast<ModelImpl&>(const_cast<LayerImpl&>(*layer)).inputs().empty();
    for (std::size_t i = 0; i < list.size(); ++i)
      index[list[i]] = static_cast<int>(i) + (drawn ? 1 : 0);
  }
  const TensorPlace place = [&](const Tensor& t) {
    const KerasSymbol& s = *keras_symbol(t);
    return Config::list({s.node->layer->name(), index.at(s.node.get()), s.node->value_of(s.index)});
  };
  Config list = Config::list();
  for (const LayerRef& l : layers_) {
    Config inbound = Config::list();
    Config own;
    for (const KerasNode* n : calls.at(&l->impl())) {
      if (n->is_input()) continue;
      if (!n->config.is_null()) own = n->config;
      for (const Tensor& t : n->leaves())
        RILL_CHECK(!t.impl()->resource, unimplemented,
                   "[{}] the op \"{}\" takes a variable, which a configuration cannot hold. Put "
                   "the variable into a layer",
                   name(), l->name());
      inbound.push_back(call_config(*n, place));
    }
    Config entry = layers::serialize(*l);
    if (!own.is_null()) entry.set("config", own);
    entry.set("name", l->name());
    entry.set("inbound_nodes", inbound);
    list.push_back(entry);
  }
  const auto ends = [&](const Nest& nest) {
    const std::vector<std::string> keys = nest.is_dict() ? nest.keys() : std::vector<std::string>();
    const std::vector<Nest> values = values_of(nest);
    Config e = keys.size() == values.size() ? Config::dict({}) : Config::list();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (keys.size() == values.size())
        e.set(keys[i], place(whole_result(values[i])));
      else
        e.push_back(place(whole_result(values[i])));
    return e;
  };
  c = Config::dict({{"name", name()},
                    {"trainable", trainable},
                    {"layers", list},
                    {"input_layers", ends(inputs_)},
                    {"output_layers", ends(outputs_)}});
}

}  // namespace rill::keras
