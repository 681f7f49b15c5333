#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rill/saving/slot_owner.h"
#include "rill/saving/tensor_bundle.h"
#include "rill_proto/checkpoint.pb.h"

namespace rill {

inline constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

// The objects of a program from which a checkpoint starts: a node and, beside its own
// edges, some that only this checkpoint knows.
struct Roots {
  Ref<TrackableNode> node;
  std::vector<TrackableNode::Edge> attached;
  std::vector<TrackableNode::Edge> edges() const;  // both
};

// The objects below a root, breadth first, with the first path that leads to each; then
// the slots.
class ObjectGraph {
 public:
  explicit ObjectGraph(const Roots& roots);
  struct Object {
    Ref<TrackableNode> node;
    std::string path;  // "model/layer-0/kernel", escaped
    std::vector<TrackableNode::Edge> edges;
  };
  struct Slot {
    int owner, variable;
    std::string name;
    int slot;
  };
  const std::vector<Object>& objects() const { return objects_; }
  const std::vector<Slot>& slots() const { return slots_; }
  int id_of(const TrackableNode* node) const;  // -1: none

 private:
  int add(const Ref<TrackableNode>& node, const std::string& path);
  std::vector<Object> objects_;
  std::vector<Slot> slots_;
  std::map<const TrackableNode*, int> ids_;
};

// "a/b.c" as one step of a path: "a.Sb..c".
std::string escape_name(std::string_view name);

// A key of TrackableNode::saved_values: "table|-keys" is the tensor "table-keys" of the attribute
// "table".
struct SavedKey {
  std::string_view attribute, part;
};
SavedKey split_saved_key(std::string_view key);

// Writes all values and the graph itself.
void write_objects(const Roots& roots, const std::string& prefix);

// Which saved object is given to which node: by the names of edges from the roots on. One that
// was saved under two names may be given to two nodes; all ways are here.
struct ObjectMatch {
  struct Pair {
    Ref<TrackableNode> node;
    int saved;
  };
  std::vector<Pair> pairs;  // breadth first, then slots
};
ObjectMatch match_objects(const Roots& roots, const proto::TrackableObjectGraph& saved);

// The numbers of the objects below one; the names live as long as it does.
std::unordered_map<std::string_view, int> children_by_name(
    const proto::TrackableObjectGraph::TrackableObject& object);

// The graph of a bundle; false when it has none, as name-based checkpoints. DataLoss when
// it makes no sense.
bool read_object_graph(const BundleReader& bundle, proto::TrackableObjectGraph* out);

// The name under which a variable is saved by its own name: without ":0".
// Empty for nodes that are not variables.
std::string variable_name(TrackableNode& node);

}  // namespace rill
