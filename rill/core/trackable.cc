#include "rill/core/trackable.h"

#include "rill/base/check.h"

namespace rill {
namespace {

// An error below an edge gets the name of the edge, so that it shows the whole path.
void restore_below(std::string_view edge, TrackableNode& child, const Ref<RestorePosition>& p) {
  try {
    child.restore(p);
  } catch (errors::Error& e) {
    e.add_context(format("while restoring \"{}\"", edge));
    throw;
  }
}

}  // namespace

RestorePosition::~RestorePosition() = default;
void RestorePosition::used_by(TrackableNode&) {}

TrackableNode::TrackableNode() = default;
TrackableNode::~TrackableNode() = default;

TrackableNode::State& TrackableNode::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

const std::vector<TrackableNode::Edge>& TrackableNode::edges() const {
  static const std::vector<Edge> none;
  return state_ ? state_->edges : none;
}

TrackableNode* TrackableNode::child(std::string_view name) const {
  for (const Edge& e : edges())
    if (e.name == name) return e.child.get();
  return nullptr;
}

void TrackableNode::track(std::string_view name, const Ref<TrackableNode>& child) {
  RILL_CHECK(child, invalid_argument, "[track] nothing was given under the name \"{}\"", name);
  RILL_CHECK(!name.empty(), invalid_argument, "[track] a tracked object needs a name");
  State& s = state();
  Edge* found = nullptr;
  for (Edge& e : s.edges)
    if (e.name == name) found = &e;
  if (found && found->child == child) return;
  if (found)
    found->child = child;
  else
    s.edges.push_back({std::string(name), child});
  // By index: what is restored may be tracked elsewhere in turn.
  for (std::size_t i = 0; i < s.restored.size(); ++i)
    if (const Ref<RestorePosition> p = s.restored[i]->child(name)) restore_below(name, *child, p);
}

void TrackableNode::untrack(std::string_view name) {
  if (state_) std::erase_if(state_->edges, [&](const Edge& e) { return e.name == name; });
}

void TrackableNode::restore(const Ref<RestorePosition>& position) {
  State& s = state();
  for (const Ref<RestorePosition>& p : s.restored)
    if (p == position || p->identity() == position->identity()) return;
  for (const std::string& key : saved_keys()) {
    Tensor value;
    if (position->value(key, &value)) restore_value(key, value);
  }
  s.restored.push_back(position);
  position->used_by(*this);
  for (std::size_t i = 0; i < s.edges.size(); ++i) {
    const Ref<TrackableNode> child = s.edges[i].child;
    const std::string name = s.edges[i].name;
    if (const Ref<RestorePosition> p = position->child(name)) restore_below(name, *child, p);
  }
}

std::vector<TrackableNode::SavedValue> TrackableNode::saved_values() { return {}; }
std::vector<std::string> TrackableNode::saved_keys() { return {}; }
void TrackableNode::restore_value(std::string_view key, const Tensor&) {
  RILL_FAIL(not_found, "[restore] this object keeps no value called \"{}\"", key);
}

}  // namespace rill
