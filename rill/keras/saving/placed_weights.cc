// Keras 3's layout: every object of a model has its place, "layers/dense_1", and there its own
// variables as vars/0, vars/1, ...
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/zip.h"
#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/keras/saving/weights_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

constexpr const char* kInnerState = "optimizer/inner_optimizer/vars";

std::string below(const std::string& place, const std::string& name) {
  return place.empty() ? name : place + "/" + name;
}

// ---- places
// The two Keras give the same layer different places, as they go through the attributes of an
// object in different orders, and a layer stands where it is met first. A user-defined model keeps
// its layers in attributes, and all of them in the list "layers" too:
// - Keras 2 goes backwards. "out" and "norm" are under their names, then comes "layers" with all
//   the others: "dense1" is layers/dense. It numbers the layers that are in a list.
// - Keras 3 goes forwards, names with "_" last. "dense1" is under its name, and "out" is in
//   "layers". It numbers all layers of a list, those too that are elsewhere.
// The third has attributes alone; Rill wrote such files once.
enum class Layout { keras2, keras3, attributes };
constexpr Layout kLayouts[] = {Layout::keras2, Layout::keras3, Layout::attributes};

struct Placed {
  LayerImpl* layer;
  std::string place;
  const LayerImpl* parent;  // null: the model itself
  std::string name;         // below the parent: "layers/dense_1"
};

// How a file writes names.
struct Names {
  std::string container = "layers";  // under which models keep their layers
  // What is in the file. Keras 3 has no "_" before the parts of MultiHeadAttention and similar
  // layers.
  std::function<bool(const std::string& place)> has_group = {};
};

// All layers with their places, each once: where it is met first.
class Places {
 public:
  Places(LayerImpl& model, Layout layout, Names names) : layout_(layout), names_(std::move(names)) {
    visit({&model, "", nullptr, ""});
  }
  std::vector<Placed> all;

 private:
  void visit(const Placed& at) {
    if (!seen_.insert(at.layer).second) return;
    all.push_back(at);
    LayerImpl& l = *at.layer;
    auto* model = l.is_model() ? static_cast<ModelImpl*>(&l) : nullptr;
    const auto list_layers = [&] {
      std::vector<LayerImpl*> list;
      for (const LayerRef& child : model->layers()) list.push_back(&child->impl());
      visit_list(at, names_.container, list);
    };
    if (model && has_graph(*model)) return list_layers();
    bool listed = !model || layout_ == Layout::attributes;
    for (const TrackableNode::Edge& e : in_order(l.edges())) {
      if (!listed && !before_list(e.name)) {
        list_layers();
        listed = true;
      }
      visit_attribute(at, e);
    }
    if (!listed) list_layers();
  }
  void visit_attribute(const Placed& at, const TrackableNode::Edge& e) {
    std::string name = e.name;
    const std::string bare = name.starts_with("_") ? name.substr(1) : name;
    if (names_.has_group && !names_.has_group(below(at.place, name)) &&
        names_.has_group(below(at.place, bare)))
      name = bare;
    if (auto* child = dynamic_cast<LayerImpl*>(e.child.get()))
      return visit({child, below(at.place, name), at.layer, name});
    std::vector<LayerImpl*> list;  // its own list, as "cells"
    for (const TrackableNode::Edge& item : e.child->edges())
      if (auto* child = dynamic_cast<LayerImpl*>(item.child.get())) list.push_back(child);
    visit_list(at, name, list);
  }
  void visit_list(const Placed& at, const std::string& list_name,
                  const std::vector<LayerImpl*>& list) {
    std::map<std::string, int> count;
    for (LayerImpl* l : list) {
      if (layout_ == Layout::keras2 && seen_.count(l)) continue;
      std::string name = snake_case(l->class_name());
      if (const int n = count[name]++; n > 0) name += format("_{}", n);
      name = below(list_name, name);
      visit({l, below(at.place, name), at.layer, name});
    }
  }
  std::vector<TrackableNode::Edge> in_order(std::vector<TrackableNode::Edge> edges) const {
    if (layout_ == Layout::attributes) return edges;
    std::stable_sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
      return layout_ == Layout::keras2 ? a.name > b.name : key3(a.name) < key3(b.name);
    });
    return edges;
  }
  bool before_list(const std::string& name) const {
    return layout_ == Layout::keras2 ? name > "layers" : key3(name) < "layers";
  }
  static std::string key3(const std::string& name) {
    return name.starts_with("_") ? "~" + name : name;
  }

  Layout layout_;
  Names names_;
  std::set<const LayerImpl*> seen_;
};

// Those of an adapted layer are the ones without adaptation.
std::vector<Variable> own_in_order(const LayerImpl& l) {
  std::vector<Variable> all;
  for (const bool trains : {true, false})
    for (const Weight& w : l.own)
      if (w.trainable == trains && !is_factor(l.lora.get(), w.variable)) all.push_back(w.variable);
  return all;
}

bool same_shapes(const LayerImpl& a, const LayerImpl& b) {
  const std::vector<Variable> x = a.weights(LayerImpl::Which::all),
                              y = b.weights(LayerImpl::Which::all);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](const Variable& v, const Variable& w) { return v.shape() == w.shape(); });
}

// A second name for a layer, by which the other Keras finds it. Where another layer is there
// already, that Keras goes on to the name of the attribute, unless the weights seem to fit.
void link(const std::string& path, const std::string& to, const LayerImpl& layer,
          std::map<std::string, const LayerImpl*>& taken, io::Hdf5Writer& file) {
  const auto [at, is_new] = taken.emplace(path, &layer);
  if (is_new && !file.contains(path)) {
    if (const std::size_t slash = path.rfind('/'); slash != path.npos)
      file.add_group(path.substr(0, slash));
    file.link(path, to);
  } else if (at->second != &layer && same_shapes(*at->second, layer)) {
    RILL_LOG(
        info,
        "[save_weights] one Keras looks for layer \"{}\" at \"{}\", where for the other stands "
        "\"{}\" with weights of the same shapes. Track the layers of one class in the order of "
        "their names, and both find them",
        layer.name(), path, at->second->name());
  }
}

}  // namespace

void write_placed_weights(const Model& model, io::Hdf5Writer& file, int keras_version) {
  std::map<const LayerImpl*, std::string> place_of;
  std::map<std::string, const LayerImpl*> taken;
  const Layout first = keras_version == 3 ? Layout::keras3 : Layout::keras2,
               second = keras_version == 3 ? Layout::keras2 : Layout::keras3;
  for (const Placed& p : Places(model.impl(), first, {}).all) {
    place_of.emplace(p.layer, p.place);
    taken.emplace(p.place, p.layer);
    const std::string vars = below(p.place, "vars");
    file.add_group(vars);
    const auto* files = dynamic_cast<const LayerFiles*>(p.layer);
    if (files)
      for (const auto& [name, value] : files->arrays()) file.write(below(vars, name), value);
    if (files && files->weights_are_in_config()) continue;
    const std::vector<Variable> own = own_in_order(*p.layer);
    for (std::size_t i = 0; i < own.size(); ++i)
      file.write(below(vars, std::to_string(i)), merged_value(*p.layer, own[i]));
  }
  // Keras 2 and Keras 3 find them by different names.
  for (const Placed& p : Places(model.impl(), second, {}).all) {
    if (!p.parent) continue;
    const std::string &parent = place_of[p.parent], &place = place_of[p.layer];
    link(below(parent, p.name), place, *p.layer, taken, file);
    if (!p.name.starts_with("_")) continue;
    if (const std::string bare = below(parent, p.name.substr(1)); !file.contains(bare))
      link(bare, place, *p.layer, taken, file);
  }
  // Keras 2 makes the means of Model::add_metric with the model, and asks for their sums and
  // counts.
  int means = 0;
  for (const auto& [layer, place] : place_of) {
    if (layer->class_name() != "AddMetric") continue;
    const std::string vars = format("metrics/mean{}/vars", means ? format("_{}", means) : "");
    ++means;
    file.add_group(vars);
    for (const char* name : {"0", "1"}) file.write(below(vars, name), constant(0.f));
  }
}

void write_placed_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file, int keras_version) {
  const auto state = optimizer_state(optimizer, keras_version);
  const auto write = [&](const std::string& vars, const auto& values) {
    file.add_group(vars);
    for (std::size_t i = 0; i < values.size(); ++i)
      file.write(below(vars, std::to_string(i)), values[i].second);
  };
  // Of one inside another, Keras keeps the state in both places.
  auto outer = keras_version == 3 ? state_of_scale(optimizer) : decltype(state){};
  if (!outer.empty() || (keras_version == 2 && loss_scale_optimizer(optimizer)))
    write(kInnerState, state);
  outer.insert(outer.end(), state.begin(), state.end());
  write("optimizer/vars", outer);
}

namespace {

// How many weights a place has: arrays with names of their own are none.
std::size_t stored_weights(const io::Hdf5Reader& file, const std::string& vars) {
  std::size_t count = 0;
  if (file.has_group(vars))
    for (const std::string& name : file.list(vars))
      count += name.find_first_not_of("0123456789") == name.npos;
  return count;
}

// The places of the layers as the file has them: by the layout by which most are found. `known`
// gets those of all layouts.
std::vector<Placed> places_in(const Model& model, const io::Hdf5Reader& file, const Names& names,
                              std::set<std::string>& known) {
  std::vector<Placed> best;
  std::size_t most = 0;
  for (const Layout layout : kLayouts) {
    std::vector<Placed> all = Places(model.impl(), layout, names).all;
    std::size_t found = 0;
    for (const Placed& p : all) {
      known.insert(p.place);
      const std::vector<Variable> own = own_in_order(*p.layer);
      const std::string vars = below(p.place, "vars");
      if (own.empty() || !file.has_group(vars) || stored_weights(file, vars) != own.size())
        continue;
      found += 1;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::string array = below(vars, std::to_string(i));
        if (file.has_array(array) && file.shape(array) == own[i].shape()) found += 1;
      }
    }
    if (best.empty() || found > most) {
      best = std::move(all);
      most = found;
    }
  }
  return best;
}

}  // namespace

void plan_placed_weights(const Model& model, const io::Hdf5Reader& file, bool skip_mismatch,
                         WeightPlan& plan) {
  // Keras 2.12 and 2.13 called the container otherwise.
  const std::string container = file.has_group("_layer_checkpoint_dependencies")
                                    ? "_layer_checkpoint_dependencies"
                                    : "layers";
  const Names names{container, [&](const std::string& place) { return file.has_group(place); }};
  std::set<std::string> known;
  for (const Placed& p : places_in(model, file, names, known)) {
    const std::vector<Variable> own = own_in_order(*p.layer);
    const std::string vars = below(p.place, "vars");
    const std::size_t stored = stored_weights(file, vars);
    is_skipped(skip_mismatch, [&] {
      RILL_CHECK(stored == own.size(), invalid_argument,
                 "[load_weights] layer \"{}\" has {} weights of its own in the model, and {} at "
                 "\"{}\" in {}; expected weights of the same architecture",
                 p.layer->name(), own.size(), stored, vars, file.name());
      for (std::size_t i = 0; i < own.size(); ++i)
        plan.add(own[i], file.read(below(vars, std::to_string(i))),
                 format("layer \"{}\"", p.layer->name()));
      if (p.layer->lora) plan_without_adaptation(*p.layer->lora, plan);
    });
  }
  if (skip_mismatch) return;
  // Layers that only the file has.
  if (file.has_group(container))
    for (const std::string& name : file.list(container)) {
      const std::string vars = below(below(container, name), "vars");
      RILL_CHECK(
          known.count(below(container, name)) || !file.has_group(vars) || file.list(vars).empty(),
          invalid_argument,
          "[load_weights] {} has weights at \"{}\", for which the model has no layer; "
          "expected weights of the same architecture",
          file.name(), vars);
    }
}

bool holds_scale(const io::Hdf5Reader& file) {
  return file.has_group(kInnerState) &&
         file.list("optimizer/vars").size() == file.list(kInnerState).size() + 4;
}

void plan_placed_optimizer(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan) {
  std::string vars = "optimizer/vars";
  if (!file.has_group(vars)) return;
  // Keras 3 has the scale of the loss before the state of the optimizer inside.
  if (holds_scale(file)) {
    plan_scale(model.optimizer(), file.read(below(vars, "2")), file.read(below(vars, "3")), plan);
    vars = kInnerState;
  }
  const std::size_t stored = file.list(vars).size();
  // Of two, the second is the learning rate of Keras 3, a scalar, or the state of a lone weight.
  const bool has_slots =
      stored > 2 || (stored == 2 && file.shape(below(vars, "1")) != TensorShape::scalar());
  if (has_slots) model.optimizer().build(model.trainable_variables());
  std::vector<OptimizerVariable> state = optimizer_variables(model.optimizer());
  if (model.impl().behaves_as == 3 || stored < state.size())
    state = kept_by_keras3(model.optimizer());
  // Keras 3 has the learning rate behind the count of steps, unless it is a schedule, and behind
  // the slots of Nadam the product of its momenta.
  const Ref<TrackableNode> product = product_of_momenta(model.optimizer());
  const bool schedule = rule_record(model.optimizer())["config"].get("learning_rate").is_dict();
  const bool with_product = product && stored == state.size() + (schedule ? 1 : 2);
  const bool with_rate = !schedule && stored == state.size() + (with_product ? 2 : 1);
  RILL_CHECK(stored == state.size() || with_rate || with_product, invalid_argument,
             "[load_model] the optimizer has {} variables, and {} holds {}", state.size(),
             file.name(), stored);
  for (std::size_t i = 0; i < state.size(); ++i)
    plan.add(*state[i].node,
             file.read(below(vars, std::to_string(i + (with_rate && i > 0 ? 1 : 0)))),
             format("optimizer variable \"{}\"", state[i].name));
  if (product)
    plan.add(*product,
             with_product ? file.read(below(vars, std::to_string(stored - 1)))
                          : product_of_momenta_after(
                                model.optimizer(), file.read(below(vars, "0")).item<std::int64_t>(),
                                model.impl().behaves_as),
             "the product of Nadam's momenta");
}

namespace {
constexpr const char* kAssets = "assets";
}

std::vector<std::pair<std::string, std::string>> placed_files(const Model& model,
                                                              int keras_version) {
  std::vector<std::pair<std::string, std::string>> all;
  const Layout layout = keras_version == 3 ? Layout::keras3 : Layout::keras2;
  for (const Placed& p : Places(model.impl(), layout, {}).all) {
    std::string text;
    if (const auto* files = dynamic_cast<const LayerFiles*>(p.layer);
        files && files->vocabulary_file(&text))
      all.emplace_back(below(below(kAssets, p.place), "vocabulary.txt"), text);
  }
  return all;
}

void read_placed_files(const Model& model, const io::Hdf5Reader& weights,
                       const io::ZipReader& archive) {
  // Both layouts: a name of the one is no name of another layer in the other.
  std::set<LayerImpl*> done;
  for (const Layout layout : kLayouts)
    for (const Placed& p : Places(model.impl(), layout, {}).all) {
      auto* files = dynamic_cast<LayerFiles*>(p.layer);
      if (!files || done.count(p.layer)) continue;
      const std::string vars = below(p.place, "vars"),
                        words = below(below(kAssets, p.place), "vocabulary.txt");
      if (weights.has_group(vars)) {
        for (const std::string& name : weights.list(vars))
          if (name.find_first_not_of("0123456789") != name.npos)
            files->set_array(name, weights.read(below(vars, name)));
      }
      if (!archive.contains(words)) continue;
      files->read_vocabulary_file(archive.read(words));
      done.insert(p.layer);
    }
}

}  // namespace rill::keras
