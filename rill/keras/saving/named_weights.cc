// Keras 2's layout: a group for each layer, in it the weights by their names. The lists
// "layer_names" and "weight_names" hold the order.
#include <algorithm>
#include <map>
#include <set>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/saving/model_config_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/keras/saving/weights_impl.h"

namespace rill::keras {

namespace {

constexpr const char* kTop = "top_level_model_weights";

std::string joined(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

// Those that train first, as Keras has them in these files.
using Adapted = LayerImpl::Adapted;
std::vector<Variable> legacy_order(const Layer& layer, Adapted adapted = Adapted::apart) {
  std::vector<Variable> all = layer.impl().weights(LayerImpl::Which::trainable, adapted);
  for (Variable& v : layer.impl().weights(LayerImpl::Which::non_trainable, adapted))
    all.push_back(std::move(v));
  return all;
}
std::vector<Variable> own_weights(const Model& model) {
  std::vector<Variable> all;
  for (const bool trains : {true, false})
    for (const Weight& w : model.impl().own)
      if (w.trainable == trains) all.push_back(w.variable);
  return all;
}

std::string full_name(const std::string& name) {
  return name.find(':') == name.npos ? name + ":0" : name;
}

void write_list(const std::string& group, const std::vector<std::pair<std::string, Tensor>>& list,
                io::Hdf5Writer& file) {
  file.add_group(group);
  std::vector<std::string> names;
  for (const auto& [given, value] : list) {
    // Two weights may have one name; the list decides which is which.
    std::string name = full_name(given);
    for (int i = 1; file.contains(joined(group, name)); ++i)
      name = format("{}_{}", full_name(given), i);
    file.write(joined(group, name), value);
    names.push_back(name);
  }
  file.set_texts(group, "weight_names", names);
}

std::vector<std::pair<std::string, Tensor>> values_of(const std::vector<Variable>& variables) {
  std::vector<std::pair<std::string, Tensor>> list;
  for (const Variable& v : variables) list.emplace_back(v.name(), v.value());
  return list;
}

}  // namespace

void write_named_weights(const Model& model, io::Hdf5Writer& file, const std::string& group,
                         int keras_version) {
  if (!group.empty()) file.add_group(group);
  std::vector<std::string> names;
  for (const LayerRef& l : model.layers()) {
    names.push_back(l->name());
    std::vector<std::pair<std::string, Tensor>> list;
    const auto* files = dynamic_cast<const LayerFiles*>(&l->impl());
    RILL_CHECK(!files || !files->not_in_hdf5(), unimplemented,
               "[save] HDF5 cannot hold what layer \"{}\" ({}) has learnt, {}, as in Keras; save "
               "as .keras, or give it to the constructor",
               l->name(), l->class_name(), files->not_in_hdf5());
    if (files && files->weights_are_in_config())
      ;  // none
    else if (keras_version == 3)
      list = values_of(legacy_order(*l));
    else
      for (const Variable& v : legacy_order(*l, Adapted::merged))
        list.emplace_back(v.name(), merged_value(l->impl(), v));
    write_list(joined(group, l->name()), list, file);
  }
  write_list(joined(group, kTop), values_of(own_weights(model)), file);
  file.set_texts(group, "layer_names", names);
  file.set_text(group, "backend", "tensorflow");
  file.set_text(group, "keras_version", kKerasVersion);
}

namespace {

// The weights of one layer: counts first, then each. With `skip_mismatch`, what does not fit
// stays as it is, and only that.
void plan_weights(const std::string& shown, const std::vector<Variable>& weights,
                  const io::Hdf5Reader& file, const std::string& group, bool skip_mismatch,
                  WeightPlan& plan) {
  const std::vector<std::string> names = file.texts(group, "weight_names");
  const auto check_count = [&] {
    RILL_CHECK(names.size() == weights.size(), invalid_argument,
               "[load_weights] {} has {} weights in the model, and {} in {}", shown, weights.size(),
               names.size(), file.name());
  };
  if (is_skipped(skip_mismatch, check_count)) return;
  for (std::size_t i = 0; i < names.size(); ++i)
    is_skipped(skip_mismatch,
               [&] { plan.add(weights[i], file.read(joined(group, names[i])), shown); });
}

// An adapted layer may be in the file without its adaptation.
void plan_layer(const std::string& shown, const Layer& layer, const io::Hdf5Reader& file,
                const std::string& group, bool skip_mismatch, WeightPlan& plan) {
  const std::vector<Variable> weights = legacy_order(layer);
  const std::vector<const Lora*> loras = loras_in(layer.impl());
  const std::size_t stored = file.texts(group, "weight_names").size();
  if (loras.empty() || stored == weights.size())
    return plan_weights(shown, weights, file, group, skip_mismatch, plan);
  plan_weights(shown, legacy_order(layer, Adapted::merged), file, group, skip_mismatch, plan);
  for (const Lora* lora : loras) plan_without_adaptation(*lora, plan);
}

}  // namespace

void plan_named_weights(const Model& model, const io::Hdf5Reader& file, const std::string& group,
                        const LoadWeightsOptions& o, WeightPlan& plan) {
  const std::vector<std::string> stored = file.texts(group, "layer_names");
  const std::string top = joined(group, kTop);
  if (o.by_name) {
    const std::set<std::string> known(stored.begin(), stored.end());
    for (const LayerRef& l : model.layers())
      if (known.count(l->name()))
        plan_layer(format("layer \"{}\"", l->name()), *l, file, joined(group, l->name()),
                   o.skip_mismatch, plan);
    if (file.has_group(top))
      plan_weights("the model itself", own_weights(model), file, top, o.skip_mismatch, plan);
    return;
  }
  // In the order of the model, of both sides those that have weights.
  std::vector<std::string> with_weights;
  for (const std::string& name : stored)
    if (!file.texts(joined(group, name), "weight_names").empty()) with_weights.push_back(name);
  std::vector<LayerRef> layers;
  for (const LayerRef& l : model.layers())
    if (!l->weights().empty()) layers.push_back(l);
  RILL_CHECK(layers.size() == with_weights.size(), invalid_argument,
             "[load_weights] the model has {} layers with weights, and {} has {}; expected weights "
             "of the same architecture",
             layers.size(), file.name(), with_weights.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string shown =
        layers[i]->name() == with_weights[i]
            ? format("layer \"{}\"", layers[i]->name())
            : format("layer \"{}\" (\"{}\" in the file)", layers[i]->name(), with_weights[i]);
    plan_layer(shown, *layers[i], file, joined(group, with_weights[i]), false, plan);
  }
  if (file.has_group(top))
    plan_weights("the model itself", own_weights(model), file, top, false, plan);
}

// ---- optimizers
void write_named_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file, int keras_version) {
  std::vector<std::pair<std::string, Tensor>> all;
  if (keras_version == 3) all = state_of_scale(optimizer);
  const auto state = optimizer_state(optimizer, keras_version);
  all.insert(all.end(), state.begin(), state.end());
  write_list("optimizer_weights", all, file);
}

namespace {

// Keras before 2.11, and tf.keras.optimizers.legacy, name a slot behind its variable
// ("Adam/dense/kernel/m:0") and list them slot by slot: all of "m", then all of "v".
bool is_legacy_state(const std::vector<std::string>& names) {
  return !names.empty() && names[0].ends_with("/iter:0");
}
void plan_legacy_optimizer(const Model& model, const io::Hdf5Reader& file, const std::string& group,
                           const std::vector<std::string>& names, WeightPlan& plan) {
  std::map<std::string, std::vector<std::string>, std::less<>> by_slot;
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/'), colon = name.rfind(':');
    by_slot[name.substr(slash + 1, colon - slash - 1)].push_back(name);
  }
  const std::string optimizer = serialize_optimizer(model.optimizer())["class_name"].as_string();
  std::map<std::string, std::size_t> taken;
  for (const OptimizerVariable& v : optimizer_variables(model.optimizer())) {
    if (taken.empty()) {  // the count of steps comes first
      plan.add(*v.node, file.read(joined(group, names[0])), "the count of steps");
      taken["iter"] = 1;
      continue;
    }
    // "Adam/m/dense/kernel": the k-th of a slot belongs to the k-th variable, in both.
    const std::size_t first = v.name.find('/'), second = v.name.find('/', first + 1);
    const std::string slot = v.name.substr(first + 1, second - first - 1);
    const auto stored = by_slot.find(legacy_slot(optimizer, slot));
    if (stored == by_slot.end()) continue;  // as momenta of an SGD that uses none
    const std::size_t k = taken[slot]++;
    RILL_CHECK(k < stored->second.size(), invalid_argument,
               "[load_model] the optimizer has more than the {} slots \"{}\" that {} holds",
               stored->second.size(), stored->first, file.name());
    plan.add(*v.node, file.read(joined(group, stored->second[k])),
             format("optimizer variable \"{}\"", v.name));
  }
  const Ref<TrackableNode> product = product_of_momenta(model.optimizer());
  if (const auto cache = by_slot.find("momentum_cache"); product && cache != by_slot.end())
    plan.add(*product, file.read(joined(group, cache->second[0])),
             "the product of Nadam's momenta");
}

}  // namespace

void plan_named_optimizer(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan) {
  const std::string group = "optimizer_weights";
  if (!file.has_group(group)) return;
  std::vector<std::string> names = file.texts(group, "weight_names");
  if (is_legacy_state(names)) {
    model.optimizer().build(model.trainable_variables());
    return plan_legacy_optimizer(model, file, group, names, plan);
  }
  // Keras 3 has the scale of the loss before the state of the optimizer inside.
  if (names.size() > 4 && names[3].find("/dynamic_scale") != std::string::npos) {
    plan_scale(model.optimizer(), file.read(joined(group, names[2])),
               file.read(joined(group, names[3])), plan);
    names.erase(names.begin(), names.begin() + 4);
  }
  // Keras 3 keeps the learning rate here too, which the configuration has already.
  std::erase_if(names, [](const std::string& n) {
    return n == "learning_rate" || n == "learning_rate:0" || n.ends_with("/learning_rate");
  });
  if (names.size() > 1) model.optimizer().build(model.trainable_variables());
  std::vector<OptimizerVariable> variables = optimizer_variables(model.optimizer());
  if (model.impl().behaves_as == 3 || names.size() < variables.size())
    variables = kept_by_keras3(model.optimizer());
  // Of Keras 3, the product of momenta.
  const Ref<TrackableNode> product = product_of_momenta(model.optimizer());
  if (product && !names.empty()) {
    const bool stored = names.size() == variables.size() + 1;
    plan.add(*product,
             stored
                 ? file.read(joined(group, names.back()))
                 : product_of_momenta_after(model.optimizer(),
                                            file.read(joined(group, names[0])).item<std::int64_t>(),
                                            model.impl().behaves_as),
             "the product of Nadam's momenta");
    if (stored) names.pop_back();
  }
  RILL_CHECK(names.size() == variables.size(), invalid_argument,
             "[load_model] the optimizer has {} variables, and {} holds {}", variables.size(),
             file.name(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    plan.add(*variables[i].node, file.read(joined(group, names[i])),
             format("optimizer variable \"{}\"", variables[i].name));
}

}  // namespace rill::keras
