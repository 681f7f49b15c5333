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

// All layers with their places, each once: where it is met first. `container` is the name under
// which models keep their layers.
void walk(LayerImpl& l, const std::string& place, const std::string& container,
          std::set<const LayerImpl*>& seen, const Visit& visit) {
  if (!seen.insert(&l).second) return;
  visit(l, place);
  if (l.is_model() && has_graph(static_cast<ModelImpl&>(l))) {
    std::map<std::string, int> count;
    for (const LayerRef& child : static_cast<ModelImpl&>(l).layers()) {
      std::string name = snake_case(child->class_name());
      if (const int n = count[name]++; n > 0) name += format("_{}", n);
      walk(child->impl(), below(below(place, container), name), container, seen, visit);
    }
    return;
  }
  for (const TrackableNode::Edge& e : l.edges())
    if (auto* child = dynamic_cast<LayerImpl*>(e.child.get()))
      walk(*child, below(place, e.name), container, seen, visit);
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
  walk(model.impl(), "", "layers", seen, [&](const LayerImpl& l, const std::string& place) {
    const std::string vars = below(place, "vars");
    file.add_group(vars);
    const std::vector<Variable> own = own_in_order(l);
    for (std::size_t i = 0; i < own.size(); ++i)
      file.write(below(vars, std::to_string(i)), own[i].value());
  });
}

void write_placed_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file) {
  const std::vector<OptimizerVariable> state = optimizer_variables(optimizer);
  std::vector<std::string> places{"optimizer/vars"};
  // Keras looks for the state of one inside another in both places.
  if (loss_scale_optimizer(optimizer)) places.emplace_back("optimizer/inner_optimizer/vars");
  for (const std::string& vars : places) {
    file.add_group(vars);
    for (std::size_t i = 0; i < state.size(); ++i)
      file.write(below(vars, std::to_string(i)), state[i].node->saved_values().at(0).value);
  }
}

void plan_placed_weights(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan) {
  // Keras 2.12 and 2.13 called the container otherwise.
  const std::string container = file.has_group("_layer_checkpoint_dependencies")
                                    ? "_layer_checkpoint_dependencies"
                                    : "layers";
  std::set<const LayerImpl*> seen;
  std::set<std::string> used;
  walk(model.impl(), "", container, seen, [&](const LayerImpl& l, const std::string& place) {
    used.insert(place);
    const std::vector<Variable> own = own_in_order(l);
    const std::string vars = below(place, "vars");
    const std::size_t stored = file.has_group(vars) ? file.list(vars).size() : 0;
    RILL_CHECK(stored == own.size(), invalid_argument,
               "[load_weights] layer \"{}\" has {} weights of its own in the model, and {} at "
               "\"{}\" in {}; expected weights of the same architecture",
               l.name(), own.size(), stored, vars, file.name());
    for (std::size_t i = 0; i < own.size(); ++i)
      plan.add(own[i], file.read(below(vars, std::to_string(i))), format("layer \"{}\"", l.name()));
  });
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
  if (stored > 2) model.optimizer().build(model.trainable_variables());
  const std::vector<OptimizerVariable> state = optimizer_variables(model.optimizer());
  // Keras 3 has the learning rate behind the count of steps.
  const bool with_rate = stored == state.size() + 1;
  RILL_CHECK(stored == state.size() || with_rate, invalid_argument,
             "[load_model] the optimizer has {} variables, and {} holds {}", state.size(),
             file.name(), stored);
  for (std::size_t i = 0; i < state.size(); ++i)
    plan.add(*state[i].node,
             file.read("optimizer/vars/" + std::to_string(i + (with_rate && i > 0 ? 1 : 0))),
             format("optimizer variable \"{}\"", state[i].name));
}

}  // namespace rill::keras
