#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/api.h"
#include "rill/base/ref.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

class TrackableNode;
void retain(TrackableNode* n) noexcept;
void release(TrackableNode* n) noexcept;

// Where a saved object is in a checkpoint: what is offered for it.
class RestorePosition {
 public:
  virtual ~RestorePosition();
  // The saved object behind an edge; null when there is none.
  virtual Ref<RestorePosition> child(std::string_view edge) = 0;
  // A saved value of this object; false when there is none.
  virtual bool value(std::string_view key, Tensor* out) = 0;
  // Two positions with one identity are one saved object, reached by two ways.
  virtual std::uint64_t identity() const = 0;
  // This saved object was given to that node: for reports of what was not used.
  virtual void used_by(TrackableNode& node);
  RefCount refs;
};
inline void retain(RestorePosition* p) noexcept { p->refs.retain(); }
inline void release(RestorePosition* p) noexcept {
  if (p->refs.release()) delete p;
}

// An object that a checkpoint can hold: values of its own, and children under
// names. Variables, layers, models and optimizers are nodes; the names of the
// edges, not of the variables, decide what is restored into what.
//
// A restore may come before the objects that it is for: a node remembers where
// it is in the checkpoint, and a child tracked later takes its values then.
class TrackableNode {
 public:
  struct Edge {
    std::string name;
    Ref<TrackableNode> child;
  };
  struct SavedValue {
    std::string key;
    Tensor value;
  };

  TrackableNode();
  virtual ~TrackableNode();
  TrackableNode(const TrackableNode&) = delete;
  TrackableNode& operator=(const TrackableNode&) = delete;

  // Names a child. The same child under its name again changes nothing; another
  // one takes its place.
  void track(std::string_view name, const Ref<TrackableNode>& child);
  void untrack(std::string_view name);  // nothing where no child has the name
  const std::vector<Edge>& edges() const;
  TrackableNode* child(std::string_view name) const;  // null: none

  // Gives this node and all below it what the checkpoint offers, now or when
  // they come to be. Cycles are fine.
  void restore(const Ref<RestorePosition>& position);

  // The values of this node itself, in the order that they are written.
  virtual std::vector<SavedValue> saved_values();
  // Takes a value back. InvalidArgument, and no change, when it does not fit.
  virtual void restore_value(std::string_view key, const Tensor& value);
  // The keys that restore_value takes.
  virtual std::vector<std::string> saved_keys();

  RefCount refs;

 private:
  struct State {
    std::vector<Edge> edges;
    std::vector<Ref<RestorePosition>> restored;  // in the order of the restores
  };
  State& state();
  std::unique_ptr<State> state_;  // most nodes are variables, which have neither
};
inline void retain(TrackableNode* n) noexcept { n->refs.retain(); }
inline void release(TrackableNode* n) noexcept {
  if (n->refs.release()) delete n;
}

}  // namespace RILL_API
