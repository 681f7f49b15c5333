// Keras 3, and optimizers before 2.11, have names of their own for the parts of models and
// optimizers that TensorFlow saves. Here such a graph gets the names of Keras 2 too, which are
// those of the program's objects:
//   _functional/_operations/2/_kernel      layer_with_weights-1/kernel
//   _variables/1 is the learning rate      _variables/1 is the first slot
//   inner_optimizer/.., dynamic_scale      .., loss_scale/current_loss_scale
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rill/base/format.h"
#include "rill/saving/keras3_graph_impl.h"

namespace rill {
namespace {

using SavedGraph = proto::TrackableObjectGraph;
using SavedObject = SavedGraph::TrackableObject;

class Renaming {
 public:
  explicit Renaming(SavedGraph& graph) : graph_(graph) {}

  void run() {
    const int n = graph_.nodes_size();
    for (int i = 0; i < n; ++i) name_legacy_optimizer(i);
    bool any = false;
    for (int i = 0; i < n; ++i) any = any || is_of_keras3(i);
    if (!any) return;
    for (int i = 0; i < n; ++i) {
      if (child(i, "_trainable_variables") && child(i, "_variables") && child(i, "_iterations"))
        optimizers_.push_back(i);
      name_weights(i);
      forget_seeds(i);
    }
    for (int i = 0; i < n; ++i) name_layers(i);
    for (const int i : optimizers_) leave_out_rate(i);
    // Last, since the state of the optimizer inside then has its names.
    for (const int i : optimizers_) open_scaling(i);
  }

 private:
  SavedObject& node(int i) { return *graph_.mutable_nodes(i); }
  std::optional<int> child(int of, std::string_view name) const {
    for (const auto& c : graph_.nodes(of).children())
      if (c.local_name() == name) return c.node_id();
    return {};
  }
  bool is_variable(int i) const {
    for (const auto& a : graph_.nodes(i).attributes())
      if (a.name() == "VARIABLE_VALUE") return true;
    return false;
  }
  void add(int to, const std::string& name, int id) {
    if (child(to, name)) return;
    auto* c = node(to).add_children();
    c->set_local_name(name);
    c->set_node_id(id);
  }
  bool is_of_keras3(int i) const {
    return child(i, "_operations") || child(i, "_trainable_variables_indices") ||
           (child(i, "_kernel") && is_variable(*child(i, "_kernel"))) ||
           (child(i, "_embeddings") && is_variable(*child(i, "_embeddings")));
  }
  // The parts of a list, in its order.
  std::vector<int> parts(int list) const {
    std::vector<std::pair<int, int>> numbered;
    for (const auto& c : graph_.nodes(list).children()) {
      const std::string& name = c.local_name();
      if (!name.empty() && name.size() < 9 &&
          std::all_of(name.begin(), name.end(), [](char d) { return d >= '0' && d <= '9'; }))
        numbered.emplace_back(std::stoi(name), c.node_id());
    }
    std::sort(numbered.begin(), numbered.end());
    std::vector<int> out;
    for (const auto& [number, id] : numbered) out.push_back(id);
    return out;
  }

  // ---- layers
  void name_weights(int i) {
    if (child(i, "_iterations")) return;
    const std::vector<SavedObject::ObjectReference> children(graph_.nodes(i).children().begin(),
                                                             graph_.nodes(i).children().end());
    for (const auto& c : children) {
      if (!is_variable(c.node_id())) continue;
      if (c.local_name().starts_with("_")) add(i, c.local_name().substr(1), c.node_id());
      if (c.local_name() == "kernel") add(i, "depthwise_kernel", c.node_id());
    }
  }
  // The state of random numbers of a layer, which the program's layers do not keep.
  void forget_seeds(int i) {
    for (const auto& c : graph_.nodes(i).children()) {
      if (!c.local_name().ends_with("seed_generator")) continue;
      for (const auto& state : graph_.nodes(c.node_id()).children()) forget(state.node_id());
    }
  }
  void forget(int i) { node(i).clear_attributes(); }

  bool has_weights(int i, std::set<int>& seen) const {
    if (!seen.insert(i).second) return false;
    // Of cells in a list the graph does not tell.
    if (is_variable(i) || child(i, "cell")) return true;
    for (const auto& c : graph_.nodes(i).children())
      if (!c.local_name().ends_with("seed_generator") && has_weights(c.node_id(), seen))
        return true;
    return false;
  }
  void name_layers(int i) {
    int drawn = i;
    if (const std::optional<int> functional = child(i, "_functional")) drawn = *functional;
    const std::optional<int> operations = child(drawn, "_operations");
    if (!operations) return;
    int count = 0;
    for (const int layer : parts(*operations)) {
      std::set<int> seen{i, drawn};
      if (has_weights(layer, seen)) add(i, format("layer_with_weights-{}", count++), layer);
    }
  }

  // ---- optimizers
  // Of Keras before 2.11; its other numbers are settings, which the program gives.
  void name_legacy_optimizer(int i) {
    const std::optional<int> steps = child(i, "iter");
    if (!steps || !is_variable(*steps) || child(i, "_iterations") || child(i, "_variables")) return;
    const std::vector<SavedObject::ObjectReference> children(graph_.nodes(i).children().begin(),
                                                             graph_.nodes(i).children().end());
    for (const auto& c : children)
      if (c.local_name() == "iter")
        add(i, "_iterations", c.node_id());
      else if (c.local_name() == "learning_rate")
        add(i, "_learning_rate", c.node_id());
      else if (c.local_name() == "beta_1" || c.local_name() == "beta_2" ||
               c.local_name() == "decay" || c.local_name() == "momentum" || c.local_name() == "rho")
        forget(c.node_id());
  }
  void leave_out_rate(int i) {
    const int list = *child(i, "_variables");
    const std::optional<int> rate = child(i, "_learning_rate");
    std::vector<int> kept = parts(list);
    if (rate) std::erase(kept, *rate);
    node(list).clear_children();
    for (std::size_t k = 0; k < kept.size(); ++k) add(list, std::to_string(k), kept[k]);
  }
  void open_scaling(int i) {
    const std::optional<int> inner = child(i, "inner_optimizer"), scale = child(i, "dynamic_scale"),
                             steps = child(i, "step_counter");
    if (!inner || !scale || !steps || *inner == i) return;
    // The outer optimizer counts no steps, and has no rate.
    for (const char* unused : {"_iterations", "_learning_rate"})
      if (const std::optional<int> state = child(i, unused)) forget(*state);
    const SavedObject inside = graph_.nodes(*inner);
    node(i).clear_children();
    for (const auto& c : inside.children()) add(i, c.local_name(), c.node_id());
    const int state = graph_.nodes_size();
    graph_.add_nodes();
    add(state, "current_loss_scale", *scale);
    add(state, "good_steps", *steps);
    add(i, "loss_scale", state);
  }

  SavedGraph& graph_;
  std::vector<int> optimizers_;
};

}  // namespace

void give_names_of_keras2(SavedGraph& graph) { Renaming(graph).run(); }

}  // namespace rill
