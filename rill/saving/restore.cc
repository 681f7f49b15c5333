// Restoring: what a checkpoint offers is matched with the objects by the names of edges,
// checked and read; only then is the first value changed. Nodes keep their position in the
// checkpoint, so that what is tracked later is restored then.
#include <atomic>
#include <set>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/core/resource.h"
#include "rill/saving/keras3_graph_impl.h"
#include "rill/saving/restore_impl.h"

namespace rill::train {
namespace {

using Graph = proto::TrackableObjectGraph;

Ref<TrackableNode> ref_to(TrackableNode& node) {
  retain(&node);
  return Ref<TrackableNode>(&node);
}

// What the positions of one restore share.
struct Saved {
  explicit Saved(const std::string& p) : path(p), bundle(new BundleReader(p)) {}
  ~Saved() {
    if (expect_partial || !has_graph) return;
    std::string unused;
    for (const auto& node : graph.nodes())
      for (const auto& a : node.attributes())
        if (!taken.contains(a.checkpoint_key())) unused += "\n  " + a.checkpoint_key();
    if (!unused.empty())
      RILL_LOG(warning,
               "values of checkpoint \"{}\" that no object took; expect_partial() of its status "
               "says that this is meant:{}",
               path, unused);
  }
  bool value(int id, std::string_view name, Tensor* out) {
    if (!bundle) return false;
    const SavedKey key = split_saved_key(name);
    for (const auto& a : graph.nodes(id).attributes()) {
      const std::string at = a.checkpoint_key() + std::string(key.part);
      if (a.name() != key.attribute || !bundle->has(at)) continue;
      taken.insert(a.checkpoint_key());
      const auto found = loaded.find(at);
      *out = found == loaded.end() ? bundle->read(at) : found->second;
      return true;
    }
    return false;
  }
  int child(int id, std::string_view name) {
    if (!bundle) return -1;
    const auto [at, is_new] = names.try_emplace(id);
    if (is_new) at->second = children_by_name(graph.nodes(id));
    const auto found = at->second.find(name);
    return found == at->second.end() ? -1 : found->second;
  }

  // All was given out. Nodes keep their positions, which now keep next to nothing.
  void give_up() {
    bundle.reset();
    slotted.clear();
    names.clear();
    graph.Clear();
  }

  const std::string path;
  std::unique_ptr<BundleReader> bundle;  // null: everything has been given out
  bool has_graph = false, expect_partial = false;
  Graph graph;
  std::map<int, std::unordered_map<std::string_view, int>> names;  // of children, by object
  std::map<std::string, Tensor> loaded;                            // read, and not assigned yet
  std::set<std::string> taken;
  std::set<int> with_slots;                     // saved variables that have slots
  std::map<int, Ref<TrackableNode>> slotted;    // ... and their nodes
  std::multiset<const TrackableNode*> keepers;  // nodes that keep this checkpoint by a position
  const std::uint64_t number = [] {
    static std::atomic<std::uint64_t> count{0};
    return count.fetch_add(1) + 1;
  }();
};
using SavedRef = std::shared_ptr<Saved>;

Ref<RestorePosition> position(const SavedRef& saved, int id);

class Slots : public SlotOffer {
 public:
  Slots(SavedRef saved, int owner) : saved_(std::move(saved)), owner_(owner) {}
  bool exhausted() const override { return !saved_->bundle; }
  Ref<RestorePosition> slot(const TrackableNode& variable, std::string_view name) override {
    if (exhausted()) return {};
    for (const auto& s : saved_->graph.nodes(owner_).slot_variables()) {
      if (s.slot_name() != name) continue;
      const auto node = saved_->slotted.find(s.original_variable_node_id());
      if (node != saved_->slotted.end() && node->second.get() == &variable)
        return position(saved_, s.slot_variable_node_id());
    }
    return {};
  }

 private:
  SavedRef saved_;
  int owner_;
};

class Position : public RestorePosition {
 public:
  Position(SavedRef saved, int id)
      : saved_(std::move(saved)),
        id_(id),
        identity_(saved_->number << 32 | static_cast<std::uint32_t>(id)) {}
  ~Position() override {
    if (keeper_) saved_->keepers.erase(saved_->keepers.find(keeper_));
  }

  Ref<RestorePosition> child(std::string_view edge) override {
    const int id = saved_ ? saved_->child(id_, edge) : -1;
    return id < 0 ? Ref<RestorePosition>() : position(saved_, id);
  }
  bool value(std::string_view key, Tensor* out) override {
    return saved_ && saved_->value(id_, key, out);
  }
  std::uint64_t identity() const override { return identity_; }
  void used_by(TrackableNode& node) override {
    if (!saved_ || !saved_->bundle) return;
    auto* owner = dynamic_cast<SlotOwner*>(&node);
    if (owner && saved_->graph.nodes(id_).slot_variables_size() > 0) {
      owner->offer_slots(Ref<SlotOffer>(new Slots(saved_, id_)));
      owner->take_slots();
    }
    if (saved_->graph.nodes(id_).children_size() > 0) {
      if (!keeper_) saved_->keepers.insert(keeper_ = &node);
      std::erase_if(saved_->slotted, [&](const auto& s) { return s.second.get() == &node; });
      return;
    }
    // Nothing can come below a leaf, so it keeps the checkpoint no longer; and the checkpoint may
    // keep it without a cycle, unless a damaged one gives the node another place too.
    if (saved_->with_slots.contains(id_) && !owner && !saved_->keepers.contains(&node))
      saved_->slotted.emplace(id_, ref_to(node));
    saved_.reset();
  }

 private:
  SavedRef saved_;
  int id_;
  std::uint64_t identity_;
  const TrackableNode* keeper_ = nullptr;  // the node that it was given to, while it keeps saved_
};
Ref<RestorePosition> position(const SavedRef& saved, int id) {
  return Ref<RestorePosition>(new Position(saved, id));
}

void check_fits(const Saved& saved, VariableCell& cell, const std::string& path,
                const std::string& key) {
  const DType dtype = saved.bundle->dtype(key);
  const TensorShape shape = saved.bundle->shape(key);
  RILL_CHECK(dtype == cell.dtype, invalid_argument,
             "[restore] \"{}\" (variable \"{}\") is {}, but {} in checkpoint \"{}\"; nothing was "
             "restored",
             path, cell.name, cell.dtype, dtype, saved.path);
  RILL_CHECK(
      cell.shape.is_compatible_with(shape), invalid_argument,
      "[restore] \"{}\" (variable \"{}\") has shape {}, but {} in checkpoint \"{}\"; nothing "
      "was restored. The objects must be built as they were when they were saved",
      path, cell.name, cell.shape, shape, saved.path);
}

// Checks and reads the values of all nodes that are there.
void load(Saved& saved, const ObjectMatch& match, const ObjectGraph& objects) {
  for (const ObjectMatch::Pair& pair : match.pairs)
    for (const std::string& name : pair.node->saved_keys())
      for (const auto& a : saved.graph.nodes(pair.saved).attributes()) {
        const SavedKey key = split_saved_key(name);
        const std::string at = a.checkpoint_key() + std::string(key.part);
        if (a.name() != key.attribute || !saved.bundle->has(at)) continue;
        const int id = objects.id_of(pair.node.get());
        const std::string path =
            id < 0 ? a.checkpoint_key() : objects.objects()[static_cast<std::size_t>(id)].path;
        if (auto* cell = dynamic_cast<VariableCell*>(pair.node.get()))
          check_fits(saved, *cell, path, a.checkpoint_key());
        saved.loaded[at] = saved.bundle->read(at);
      }
}

// What the nodes had before. Variables are checked beforehand; other nodes may refuse a value
// when others have theirs already.
class Undo {
 public:
  explicit Undo(const ObjectMatch& match) {
    std::set<const TrackableNode*> seen;
    for (const ObjectMatch::Pair& pair : match.pairs) {
      if (!seen.insert(pair.node.get()).second) continue;
      try {
        before_.emplace_back(pair.node, pair.node->saved_values());
      } catch (const errors::Error&) {  // has no value yet
      }
    }
  }
  void run() const {
    for (const auto& [node, values] : before_) {
      try {
        for (const TrackableNode::SavedValue& v : values) node->restore_value(v.key, v.value);
      } catch (const errors::Error&) {  // the one that refused
      }
    }
  }

 private:
  std::vector<std::pair<Ref<TrackableNode>, std::vector<TrackableNode::SavedValue>>> before_;
};

}  // namespace

class CheckpointStatus::Impl {
 public:
  Roots roots;
  const TrackableNode* optional = nullptr;  // need not be in the checkpoint
  SavedRef saved;                           // null: no path was given
  Graph graph;                              // kept after all was given out

  struct Row {
    std::string path, note;
  };
  struct Report {
    std::vector<Row> restored, missing, extra;
  };
  Report report() const;
  std::string table() const;
  void restore_by_graph();
  void restore_by_name();
  void require(bool ok, const char* what) const {
    RILL_CHECK(saved, failed_precondition,
               "[restore] no checkpoint was given (the path is empty), so that nothing was "
               "restored; latest_checkpoint() gives an empty path where there is none");
    RILL_CHECK(ok, failed_precondition, "[restore] {}:\n{}", what, table());
  }

 private:
  std::vector<Row> restored_by_name_;
};

void CheckpointStatus::Impl::restore_by_graph() {
  Saved& s = *saved;
  s.has_graph = true;
  for (const auto& node : s.graph.nodes())
    for (const auto& slot : node.slot_variables())
      s.with_slots.insert(slot.original_variable_node_id());
  graph = s.graph;
  const ObjectMatch match = match_objects(roots, s.graph);
  load(s, match, ObjectGraph(roots));
  const Undo undo(match);
  try {
    const Ref<RestorePosition> top = position(saved, 0);
    roots.node->restore(top);
    for (const auto& e : roots.attached)
      if (const Ref<RestorePosition> p = top->child(e.name)) e.child->restore(p);
    // A slot may be before its variable in the order of objects.
    for (const ObjectMatch::Pair& pair : match.pairs)
      if (auto* owner = dynamic_cast<SlotOwner*>(pair.node.get())) owner->take_slots();
  } catch (...) {
    s.give_up();
    undo.run();
    throw;
  }
  s.loaded.clear();
  bool all = true;
  for (const auto& node : s.graph.nodes())
    for (const auto& a : node.attributes()) all = all && s.taken.contains(a.checkpoint_key());
  if (all) s.give_up();
}

// A checkpoint of TensorFlow 1's Saver knows variables by their names, and only those that
// are there can be found.
void CheckpointStatus::Impl::restore_by_name() {
  Saved& s = *saved;
  std::vector<std::pair<VariableCell*, Tensor>> values;
  const ObjectGraph objects(roots);
  for (const auto& object : objects.objects()) {
    const std::string name = variable_name(*object.node);
    if (name.empty() || !s.bundle->has(name)) continue;
    auto* cell = static_cast<VariableCell*>(object.node.get());
    check_fits(s, *cell, object.path, name);
    values.emplace_back(cell, s.bundle->read(name));
    s.taken.insert(name);
    restored_by_name_.push_back({object.path, name});
  }
  for (const auto& [cell, value] : values) cell->assign(value);
}

CheckpointStatus::Impl::Report CheckpointStatus::Impl::report() const {
  Report out;
  if (!saved) return out;
  const ObjectGraph objects(roots);
  if (!saved->has_graph) {
    out.restored = restored_by_name_;
    for (const auto& object : objects.objects()) {
      const std::string name = variable_name(*object.node);
      if (!name.empty() && object.node.get() != optional && !saved->taken.contains(name))
        out.missing.push_back({object.path, name});
    }
    for (const std::string& key : saved->bundle->keys())
      if (!saved->taken.contains(key)) out.extra.push_back({key, ""});
    return out;
  }
  const ObjectMatch match = match_objects(roots, graph);
  std::set<const TrackableNode*> found;
  std::set<int> used;
  for (const ObjectMatch::Pair& pair : match.pairs)
    for (const std::string& key : pair.node->saved_keys())
      for (const auto& a : graph.nodes(pair.saved).attributes()) {
        if (a.name() != split_saved_key(key).attribute) continue;
        used.insert(pair.saved);
        if (!found.insert(pair.node.get()).second) continue;
        const auto id = static_cast<std::size_t>(objects.id_of(pair.node.get()));
        out.restored.push_back({objects.objects()[id].path, std::string(a.checkpoint_key())});
      }
  for (const auto& object : objects.objects())
    if (!object.node->saved_keys().empty() && !found.contains(object.node.get()) &&
        object.node.get() != optional)
      out.missing.push_back({object.path, variable_name(*object.node)});
  for (int i = 0; i < graph.nodes_size(); ++i)
    if (!used.contains(i))
      for (const auto& a : graph.nodes(i).attributes())
        out.extra.push_back({a.checkpoint_key(), ""});
  return out;
}

std::string CheckpointStatus::Impl::table() const {
  if (!saved) return "no checkpoint was given\n";
  const Report r = report();
  std::string out = format("checkpoint \"{}\": {} restored, {} missing, {} extra\n", saved->path,
                           r.restored.size(), r.missing.size(), r.extra.size());
  for (const Row& row : r.restored) out += format("  restored  {}\n", row.path);
  for (const Row& row : r.missing)
    out += format("  missing   {}{}: not in the checkpoint\n", row.path,
                  row.note.empty() ? "" : " (variable \"" + row.note + "\")");
  for (const Row& row : r.extra)
    out += format("  extra     {}: no such object in the program\n", row.path);
  return out;
}

const CheckpointStatus& CheckpointStatus::assert_consumed() const {
  const auto r = impl_->report();
  impl_->require(r.missing.empty() && r.extra.empty(),
                 "the checkpoint and the objects do not hold the same values");
  return *this;
}
const CheckpointStatus& CheckpointStatus::assert_existing_objects_matched() const {
  impl_->require(impl_->report().missing.empty(), "some objects are not in the checkpoint");
  return *this;
}
const CheckpointStatus& CheckpointStatus::assert_nontrivial_match() const {
  impl_->require(!impl_->report().restored.empty(), "nothing of the checkpoint was restored");
  return *this;
}
const CheckpointStatus& CheckpointStatus::expect_partial() const {
  if (impl_->saved) impl_->saved->expect_partial = true;
  return *this;
}
std::string CheckpointStatus::table() const { return impl_->table(); }
std::vector<std::string> CheckpointStatus::missing() const {
  std::vector<std::string> paths;
  for (const Impl::Row& row : impl_->report().missing) paths.push_back(row.path);
  return paths;
}
std::vector<std::string> CheckpointStatus::extra() const {
  std::vector<std::string> paths;
  for (const Impl::Row& row : impl_->report().extra) paths.push_back(row.path);
  return paths;
}

std::shared_ptr<CheckpointStatus::Impl> restore_objects(const Roots& roots, const std::string& path,
                                                        const TrackableNode* optional) {
  auto status = std::make_shared<CheckpointStatus::Impl>();
  status->roots = roots;
  status->optional = optional;
  if (path.empty()) return status;
  auto saved = std::make_shared<Saved>(path);
  const bool has_graph = read_object_graph(*saved->bundle, &saved->graph);
  if (has_graph) give_names_of_keras2(saved->graph);
  status->saved = saved;
  if (has_graph)
    status->restore_by_graph();
  else
    status->restore_by_name();
  return status;
}

}  // namespace rill::train
