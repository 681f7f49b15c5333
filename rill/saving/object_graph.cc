#include <set>

#include "rill/base/check.h"
#include "rill/core/resource.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/saving/object_graph_impl.h"

namespace rill {
namespace {

constexpr const char* kAttributes = "/.ATTRIBUTES/";

std::string value_key(const std::string& path, const std::string& name) {
  return path + kAttributes + escape_name(name);
}

// A node has values when it, its slots or anything below it has.
void mark_values(proto::TrackableObjectGraph& graph) {
  std::vector<char> has(static_cast<std::size_t>(graph.nodes_size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = graph.nodes_size() - 1; i >= 0; --i) {
      char& mine = has[static_cast<std::size_t>(i)];
      if (mine) continue;
      const auto& node = graph.nodes(i);
      mine = node.attributes_size() > 0 || node.slot_variables_size() > 0;
      for (const auto& child : node.children())
        mine = mine || has[static_cast<std::size_t>(child.node_id())];
      changed = changed || mine;
    }
  }
  for (int i = 0; i < graph.nodes_size(); ++i)
    graph.mutable_nodes(i)->mutable_has_checkpoint_values()->set_value(
        has[static_cast<std::size_t>(i)]);
}

}  // namespace

std::vector<TrackableNode::Edge> Roots::edges() const {
  std::vector<TrackableNode::Edge> out = node->edges();
  out.insert(out.end(), attached.begin(), attached.end());
  return out;
}

std::string escape_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '.')
      out += "..";
    else if (c == '/')
      out += ".S";
    else
      out += c;
  }
  return out;
}

SavedKey split_saved_key(std::string_view key) {
  const std::size_t bar = key.find('|');
  if (bar == key.npos) return {key, {}};
  return {key.substr(0, bar), key.substr(bar + 1)};
}

std::string variable_name(TrackableNode& node) {
  auto* cell = dynamic_cast<VariableCell*>(&node);
  if (!cell) return {};
  return cell->name.substr(0, cell->name.rfind(':'));
}

std::unordered_map<std::string_view, int> children_by_name(
    const proto::TrackableObjectGraph::TrackableObject& object) {
  std::unordered_map<std::string_view, int> out;
  for (const auto& child : object.children()) out.emplace(child.local_name(), child.node_id());
  return out;
}

int ObjectGraph::id_of(const TrackableNode* node) const {
  const auto found = ids_.find(node);
  return found == ids_.end() ? -1 : found->second;
}

int ObjectGraph::add(const Ref<TrackableNode>& node, const std::string& path) {
  const auto [at, is_new] = ids_.emplace(node.get(), static_cast<int>(objects_.size()));
  if (is_new) objects_.push_back({node, path, node->edges()});
  return at->second;
}

ObjectGraph::ObjectGraph(const Roots& roots) {
  add(roots.node, "");
  objects_[0].edges = roots.edges();
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const auto edges = objects_[i].edges;  // adding moves the objects
    const std::string path = objects_[i].path.empty() ? "" : objects_[i].path + "/";
    for (const auto& e : edges) add(e.child, path + escape_name(e.name));
  }
  // TensorFlow's order: by owner, name and variable.
  const int reached = static_cast<int>(objects_.size());
  for (int owner = 0; owner < reached; ++owner) {
    const Object object = objects_[static_cast<std::size_t>(owner)];
    auto* slots = dynamic_cast<SlotOwner*>(object.node.get());
    if (!slots) continue;
    std::map<std::pair<std::string, int>, Ref<TrackableNode>> sorted;
    for (const SlotOwner::Slot& s : slots->slot_variables()) {
      const int variable = id_of(s.variable.get());
      if (variable >= 0 && variable < reached) sorted[{s.name, variable}] = s.slot;
    }
    for (const auto& [key, node] : sorted) {
      const std::string path = objects_[static_cast<std::size_t>(key.second)].path +
                               "/.OPTIMIZER_SLOT/" + object.path + "/" + escape_name(key.first);
      slots_.push_back({owner, key.second, key.first, add(node, path)});
    }
  }
}

void write_objects(const Roots& roots, const std::string& prefix) {
  const ObjectGraph graph(roots);
  proto::TrackableObjectGraph out;
  BundleWriter bundle(prefix);
  for (const ObjectGraph::Object& object : graph.objects()) {
    auto* node = out.add_nodes();
    for (const auto& e : object.edges) {
      auto* child = node->add_children();
      child->set_node_id(graph.id_of(e.child.get()));
      child->set_local_name(e.name);
    }
    for (const TrackableNode::SavedValue& v : object.node->saved_values()) {
      const SavedKey key = split_saved_key(v.key);
      const std::string at = value_key(object.path, std::string(key.attribute));
      if (node->attributes_size() == 0 || node->attributes().rbegin()->checkpoint_key() != at) {
        auto* attribute = node->add_attributes();
        attribute->set_name(std::string(key.attribute));
        attribute->set_full_name(variable_name(*object.node));
        attribute->set_checkpoint_key(at);
      }
      bundle.add(at + std::string(key.part), v.value);
    }
  }
  for (const ObjectGraph::Slot& s : graph.slots()) {
    auto* slot = out.mutable_nodes(s.owner)->add_slot_variables();
    slot->set_original_variable_node_id(s.variable);
    slot->set_slot_name(s.name);
    slot->set_slot_variable_node_id(s.slot);
  }
  mark_values(out);
  bundle.add(kObjectGraphKey, constant(out.SerializeAsString()));
  bundle.finish();
}

bool read_object_graph(const BundleReader& bundle, proto::TrackableObjectGraph* out) {
  if (!bundle.has(kObjectGraphKey)) return false;
  const Tensor t = bundle.read(kObjectGraphKey);
  const auto refuse = [&](std::string_view why) {
    RILL_FAIL(data_loss, "[checkpoint] the graph of objects in \"{}\" is damaged: {}",
              bundle_index_path(bundle.prefix()), why);
  };
  if (t.dtype() != string || t.size() != 1) refuse("it is not one string");
  const QuietProtobuf quiet;  // the error says it
  if (!out->ParseFromString(t.item<std::string>())) refuse("it cannot be read");
  const int n = out->nodes_size();
  if (n == 0) refuse("it has no objects");
  const auto known = [&](int id) {
    if (id < 0 || id >= n) refuse(format("it names object {} of {}", id, n));
  };
  for (const auto& node : out->nodes()) {
    for (const auto& child : node.children()) known(child.node_id());
    for (const auto& s : node.slot_variables()) {
      known(s.original_variable_node_id());
      known(s.slot_variable_node_id());
    }
    for (const auto& a : node.attributes())
      if (!bundle.has(a.checkpoint_key()) && a.name() == "VARIABLE_VALUE")
        refuse(format("it names \"{}\", which is not there", a.checkpoint_key()));
  }
  return true;
}

ObjectMatch match_objects(const Roots& roots, const proto::TrackableObjectGraph& saved) {
  ObjectMatch out;
  std::set<std::pair<const TrackableNode*, int>> seen;
  const auto give = [&](const Ref<TrackableNode>& node, int id) {
    if (seen.emplace(node.get(), id).second) out.pairs.push_back({node, id});
  };
  give(roots.node, 0);
  for (std::size_t i = 0; i < out.pairs.size(); ++i) {
    const ObjectMatch::Pair pair = out.pairs[i];
    const auto names = children_by_name(saved.nodes(pair.saved));
    for (const auto& e : i == 0 ? roots.edges() : pair.node->edges())
      if (const auto child = names.find(e.name); child != names.end()) give(e.child, child->second);
  }
  const std::size_t reached = out.pairs.size();
  for (std::size_t i = 0; i < reached; ++i) {
    const ObjectMatch::Pair pair = out.pairs[i];
    auto* owner = dynamic_cast<SlotOwner*>(pair.node.get());
    if (!owner) continue;
    for (const SlotOwner::Slot& s : owner->slot_variables())
      for (const auto& slot : saved.nodes(pair.saved).slot_variables())
        if (slot.slot_name() == s.name &&
            seen.contains({s.variable.get(), slot.original_variable_node_id()}))
          give(s.slot, slot.slot_variable_node_id());
  }
  return out;
}

}  // namespace rill
