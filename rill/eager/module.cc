#include "rill/eager/module.h"

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"

namespace rill {

class ModuleNode : public TrackableNode {
 public:
  std::string name;
  std::vector<std::function<std::vector<Variable>()>> parts;
};
void retain(ModuleNode* n) noexcept { n->refs.retain(); }
void release(ModuleNode* n) noexcept {
  if (n->refs.release()) delete n;
}

Module::Module(std::string_view name) : node_(new ModuleNode) { node_->name = name; }
Module::~Module() = default;
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;

const std::string& Module::name() const { return node_->name; }

std::vector<Variable> Module::variables() const {
  std::vector<Variable> all;
  for (const auto& part : node_->parts)
    for (const Variable& v : part()) {
      bool known = false;
      for (const Variable& k : all) known = known || k.id() == v.id();
      if (!known) all.push_back(v);
    }
  return all;
}
std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> all = variables();
  std::erase_if(all, [](const Variable& v) { return !v.trainable(); });
  return all;
}
std::vector<Variable> Module::non_trainable_variables() const {
  std::vector<Variable> all = variables();
  std::erase_if(all, [](const Variable& v) { return v.trainable(); });
  return all;
}
Ref<TrackableNode> Module::trackable() const {
  rill::retain(static_cast<TrackableNode*>(node_.get()));
  return Ref<TrackableNode>(node_.get());
}

void Module::track(std::string_view name, const Variable& v) {
  TrackableNode* node = v.handle().impl()->resource.get();
  rill::retain(node);
  track_part(name, Ref<TrackableNode>(node), [v] { return std::vector<Variable>{v}; });
}
void Module::track_part(std::string_view name, const Ref<TrackableNode>& node,
                        std::function<std::vector<Variable>()> variables) {
  if (const TrackableNode* known = node_->child(name)) {
    RILL_CHECK(known == node.get(), invalid_argument,
               "[{}] track: another member is already known as \"{}\"; files could hold only one "
               "of them. Give each its own name",
               node_->name, name);
    return;
  }
  node_->track(name, node);
  node_->parts.push_back(std::move(variables));
}

}  // namespace rill
