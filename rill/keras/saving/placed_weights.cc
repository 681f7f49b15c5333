// Keras 3's layout: every object of a model has its place, "layers/dense_1", and there its own
// variables as vars/0, vars/1, ...
#include <functional>
#include <set>

#include "rill/base/check.h"
#include "rill/keras/class_name_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/keras/saving/weights_impl.h"

namespace rill::keras {

namespace {

using Visit = std::function<void(const LayerImpl&, const std::string& place)>;

std::string below(const std::string& place, const std::string& name) {
  return place.empty() ? name : place + "/" + name;
}

// How names are told in a file.
struct Names {
  std::string container = "layers";  // under which models keep their layers
  // Keras 3 has no "_" before the parts of MultiHeadAttention and its like.
  std::function<bool(const std::string& place)> without_underscore = {};
};

// All layers with their places, each once: where it is met first.
void walk(LayerImpl& l, const std::string& place, const Names& names,
          std::set<const LayerImpl*>& seen, const Visit& visit) {
  if (!seen.insert(&l).second) return;
  visit(l, place);
  if (l.is_model() && has_graph(static_cast<ModelImpl&>(l))) {
    std::map<std::string, int> count;
    for (const LayerRef& child : static_cast<ModelImpl&>(l).layers()) {
      std::string name = snake_case(child->class_name());
      if (const int n = count[name]++; n > 0) name += format("_{}", n);
      walk(child->impl(), below(below(place, names.container), name), names, seen, visit);
    }
    return;
  }
  for (const TrackableNode::Edge& e : l.edges())
    if (auto* child = dynamic_cast<LayerImpl*>(e.child.get())) {
      std::string at = below(place, e.name);
      if (e.name.starts_with("_") && names.without_underscore &&
          names.without_underscore(below(place, e.name.substr(1))))
        at = below(place, e.name.substr(1));
      walk(*child, at, names, seen, visit);
    }
}

std::vector<Variable> own_in_order(const LayerImpl& l) {
  std::vector<Variable> all;
  for (const bool trains : {true, false})
    for (const Weight& w : l.own)
      if (w.trainable == trains) all.push_back(w.variable);
  return all;
}

}  // namespace

void write_placed_weights(const Model& model, io::Hdf5Writer& file) {
  std::set<const LayerImpl*> seen;
  std::vector<std::string> hidden;
  walk(model.impl(), "", {}, seen, [&](const LayerImpl& l, const std::string& place) {
    const std::string vars = below(place, "vars");
    file.add_group(vars);
    const std::vector<Variable> own = own_in_order(l);
    for (std::size_t i = 0; i < own.size(); ++i)
      file.write(below(vars, std::to_string(i)), own[i].value());
    const std::size_t slash = place.rfind('/');
    if (slash != place.npos && place[slash + 1] == '_') hidden.push_back(place);
  });
  // Keras 2 and Keras 3 find them by different names.
  for (const std::string& place : hidden) {
    const std::size_t slash = place.rfind('/');
    const std::string bare = place.substr(0, slash + 1) + place.substr(slash + 2);
    if (!file.contains(bare)) file.link(bare, place);
  }
}

void write_placed_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file, int keras_version) {
  std::vector<std::string> places{"optimizer/vars"};
  // Keras looks for the state of one inside another in both places.
  if (loss_scale_optimizer(optimizer)) places.emplace_back("optimizer/inner_optimizer/vars");
  const auto state = optimizer_state(optimizer, keras_version);
  for (const std::string& vars : places) {
    file.add_group(vars);
    for (std::size_t i = 0; i < state.size(); ++i)
      file.write(below(vars, std::to_string(i)), state[i].second);
  }
}

void plan_placed_weights(const Model& model, const io::Hdf5Reader& file, bool skip_mismatch,
                         WeightPlan& plan) {
  // Keras 2.12 and 2.13 called the container otherwise.
  const std::string container = file.has_group("_layer_checkpoint_dependencies")
                                    ? "_layer_checkpoint_dependencies"
                                    : "layers";
  const Names names{container, [&](const std::string& place) { return file.has_group(place); }};
  std::set<const LayerImpl*> seen;
  std::set<std::string> used;
  walk(model.impl(), "", names, seen, [&](const LayerImpl& l, const std::string& place) {
    used.insert(place);
    const std::vector<Variable> own = own_in_order(l);
    const std::string vars = below(place, "vars");
    const std::size_t stored = file.has_group(vars) ? file.list(vars).size() : 0;
    is_skipped(skip_mismatch, [&] {
      RILL_CHECK(stored == own.size(), invalid_argument,
                 "[load_weights] layer \"{}\" has {} weights of its own in the model, and {} at "
                 "\"{}\" in {}; expected weights of the same architecture",
                 l.name(), own.size(), stored, vars, file.name());
      for (std::size_t i = 0; i < own.size(); ++i)
        plan.add(own[i], file.read(below(vars, std::to_string(i))),
                 format("layer \"{}\"", l.name()));
    });
  });
  if (skip_mismatch) return;
  // Layers that only the file has.
  if (file.has_group(container))
    for (const std::string& name : file.list(container)) {
      const std::string vars = below(below(container, name), "vars");
      RILL_CHECK(
          used.count(below(container, name)) || !file.has_group(vars) || file.list(vars).empty(),
          invalid_argument,
          "[load_weights] {} has weights at \"{}\", for which the model has no layer; "
          "expected weights of the same architecture",
          file.name(), vars);
    }
}

void plan_placed_optimizer(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan) {
  if (!file.has_group("optimizer/vars")) return;
  const std::size_t stored = file.list("optimizer/vars").size();
  // Of two, the second is the learning rate of Keras 3, a scalar, or the state of a lone weight.
  const bool has_slots =
      stored > 2 || (stored == 2 && file.shape("optimizer/vars/1") != TensorShape::scalar());
  if (has_slots) model.optimizer().build(model.trainable_variables());
  const std::vector<OptimizerVariable> state = optimizer_variables(model.optimizer());
  // Keras 3 has the learning rate behind the count of steps, unless it is a schedule, and behind
  // the slots of Nadam the product of its momenta.
  const Ref<TrackableNode> product = product_of_momenta(model.optimizer());
  const Config config = serialize_optimizer(model.optimizer());
  const bool schedule = config["config"].get("learning_rate").is_dict();
  const bool with_product = product && stored == state.size() + (schedule ? 1 : 2);
  const bool with_rate = !schedule && stored == state.size() + (with_product ? 2 : 1);
  RILL_CHECK(stored == state.size() || with_rate || with_product, invalid_argument,
             "[load_model] the optimizer has {} variables, and {} holds {}", state.size(),
             file.name(), stored);
  for (std::size_t i = 0; i < state.size(); ++i)
    plan.add(*state[i].node,
             file.read("optimizer/vars/" + std::to_string(i + (with_rate && i > 0 ? 1 : 0))),
             format("optimizer variable \"{}\"", state[i].name));
  if (with_product)
    plan.add(*product, file.read("optimizer/vars/" + std::to_string(stored - 1)),
             "the product of Nadam's momenta");
}

}  // namespace rill::keras
