#include "rill/saving/checkpoint.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/context.h"
#include "rill/graph/ir/graph.h"
#include "rill/io/file.h"
#include "rill/ops/array_ops.h"
#include "rill/saving/checkpoint_impl.h"
#include "rill/saving/checkpoint_state.h"
#include "rill/saving/restore_impl.h"

namespace rill::train {

TrackableRef::TrackableRef(const Variable& variable) {
  const Tensor handle = variable.handle();  // keeps the cell while it is counted
  VariableCell& cell = variable_cell(handle);
  retain(static_cast<TrackableNode*>(&cell));
  node_ = Ref<TrackableNode>(&cell);
}
Ref<TrackableNode> TrackableRef::empty_list() { return Ref<TrackableNode>(new TrackableNode); }
void TrackableRef::add_to_list(std::size_t i, const TrackableRef& part) {
  node_->track(std::to_string(i), part.node_);
}

Checkpoint::Impl::Impl(const TrackableRef* root, std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < entries.size(); ++i)
    RILL_CHECK(
        entries[i].first != kCounter && (i == 0 || entries[i].first != entries[i - 1].first),
        invalid_argument, "[Checkpoint] the name \"{}\" is {}; expected a unique name",
        entries[i].first,
        entries[i].first == kCounter ? "that of the checkpoint's own counter" : "given twice");
  roots.node = root ? root->trackable() : Ref<TrackableNode>(new TrackableNode);
  owns_root_ = root == nullptr;
  for (const auto& [name, object] : entries) add(name, object.trackable());
}

void Checkpoint::Impl::add(const std::string& name, const Ref<TrackableNode>& node) {
  if (owns_root_) return roots.node->track(name, node);
  RILL_CHECK(!name.empty() && !roots.node->child(name), invalid_argument,
             "[Checkpoint] the root has an object called \"{}\" already", name);
  roots.attached.push_back({name, node});
}

const Variable& Checkpoint::Impl::counter() {
  std::lock_guard lock(mutex_);
  if (!counter_made_) {
    EagerScope now;
    save_counter_ = Variable(constant(0, int64), {.trainable = false, .name = kCounter});
    counter_made_ = true;
    add(kCounter, TrackableRef(save_counter_).trackable());
  }
  return save_counter_;
}

std::string Checkpoint::Impl::save(const std::string& prefix, std::optional<std::int64_t> number) {
  const Variable& saves = counter();
  EagerScope now;
  const auto before = saves.item<std::int64_t>();
  saves.assign(constant(before + 1, int64));
  const std::string path = format("{}-{}", prefix, number.value_or(before + 1));
  try {
    write_objects(roots, path);
  } catch (...) {
    saves.assign(constant(before, int64));  // it was not saved
    throw;
  }
  return path;
}

Checkpoint::Checkpoint(std::initializer_list<Entry> objects)
    : impl_(std::make_shared<Impl>(nullptr, std::vector<Entry>(objects))) {}
Checkpoint::Checkpoint(const std::vector<Entry>& objects)
    : impl_(std::make_shared<Impl>(nullptr, objects)) {}
Checkpoint::Checkpoint(const TrackableRef& root, std::initializer_list<Entry> more)
    : impl_(std::make_shared<Impl>(&root, std::vector<Entry>(more))) {}

std::string Checkpoint::save(const std::string& file_prefix) const {
  const std::string path = impl_->save(file_prefix, std::nullopt);
  update_checkpoint_state(io::folder_of(file_prefix),
                          {.model_checkpoint_path = path, .all_model_checkpoint_paths = {path}});
  return path;
}
std::string Checkpoint::write(const std::string& file_prefix) const {
  write_objects(impl_->roots, file_prefix);
  return file_prefix;
}
CheckpointStatus Checkpoint::restore(const std::string& save_path) const {
  const TrackableRef counter(impl_->counter());
  return CheckpointStatus(restore_objects(impl_->roots, save_path, counter.trackable().get()));
}
CheckpointStatus Checkpoint::read(const std::string& save_path) const {
  return CheckpointStatus(restore_objects(impl_->roots, save_path, nullptr));
}
Variable Checkpoint::save_counter() const { return impl_->counter(); }
const Ref<TrackableNode>& Checkpoint::trackable() const { return impl_->roots.node; }

}  // namespace rill::train
