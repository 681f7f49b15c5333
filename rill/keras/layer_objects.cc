// Which object has the behaviour of a layer, and who keeps it alive.
#include <mutex>
#include <typeindex>
#include <unordered_map>

#include "rill/base/check.h"
#include "rill/keras/class_name_impl.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/models/model.h"

namespace rill::keras {

// ---- how classes are copied
namespace {

struct KnownCopies {
  std::mutex mutex;
  std::unordered_map<std::type_index, layer_copies::CopyLayer> of;
};
KnownCopies& known_copies() {
  static auto* known = new KnownCopies;
  return *known;
}
std::shared_ptr<Layer> copy_object(const Layer& layer) {
  KnownCopies& known = known_copies();
  layer_copies::CopyLayer copy = nullptr;
  {
    const std::lock_guard lock(known.mutex);
    if (const auto at = known.of.find(typeid(layer)); at != known.of.end()) copy = at->second;
  }
  return copy ? copy(layer) : nullptr;
}

}  // namespace

bool layer_copies::know_copy(const std::type_info& type, CopyLayer copy) {
  KnownCopies& known = known_copies();
  const std::lock_guard lock(known.mutex);
  known.of[type] = copy;
  return true;
}

// ---- which object
bool LayerObjects::is_users_class(const Layer& layer) {
  if (layer.handle_) return false;
  const std::type_info& type = typeid(layer);
  const LayerImpl& l = *layer.impl_;
  return type != *l.library_class && type != *l.library_base && type != typeid(Layer) &&
         type != typeid(Model);
}

Layer* LayerObjects::other_object(const Layer& layer) {
  LayerImpl& l = *layer.impl_;
  if (!l.users.type || is_users_class(layer)) return nullptr;
  if (Layer* live = l.users.live) return live;
  if (layer.object_) return layer.object_.get();
  return l.users.held.lock().get();  // a container keeps it
}

const Layer& LayerObjects::behind(const Layer& layer) {
  const Layer* other = other_object(layer);
  const LayerImpl& l = *layer.impl_;
  RILL_CHECK(other || l.of_library || !l.users.type || is_users_class(layer), failed_precondition,
             "[{}] the object of your class {} is gone, and this is a handle without it. Keep the "
             "object, or make it with std::make_shared<{}>(...)",
             l.name(), l.class_name(), l.class_name());
  return other ? *other : layer;
}

void LayerObjects::note_live(const Layer& layer) {
  Layer* none = nullptr;
  std::atomic<Layer*>& live = layer.impl_->users.live;
  if (!live.load(std::memory_order_relaxed))
    live.compare_exchange_strong(none, const_cast<Layer*>(&layer));
}
void LayerObjects::forget_live(const Layer& layer) {
  std::atomic<Layer*>& live = layer.impl_->users.live;
  if (live.load(std::memory_order_relaxed) == &layer) live = nullptr;
}

// ---- who keeps it
LayerRef LayerObjects::hold(const Layer& layer) {
  LayerRef ref;
  if (std::shared_ptr<Layer> object = LayerRef::shared(layer))
    ref.layer_ = std::move(object);
  else if (std::shared_ptr<Layer> copy = copy_object(layer))
    ref.hold(std::move(copy));
  return ref;
}
LayerRef LayerObjects::of(LayerImpl& l) {
  LayerRef ref;
  ref.layer_ = l.users.held.lock();
  return ref.defined() ? ref : LayerRef(LayerHandle(share(l)));
}

std::shared_ptr<Layer> LayerRef::shared(const Layer& layer) {
  if (!LayerObjects::is_users_class(layer)) {
    // A handle on a user's object stands for it.
    const bool users = layer.impl_->users.type != nullptr;
    return users ? layer.impl_->users.held.lock() : nullptr;
  }
  std::shared_ptr<Layer> held = layer.impl_->users.held.lock();
  if (auto itself = std::const_pointer_cast<Layer>(layer.weak_from_this().lock())) {
    if (!held) layer.impl_->users.held = itself;
    return itself;
  }
  return held && typeid(*held) == typeid(layer) ? held : nullptr;
}
void LayerRef::hold_copy(const Layer& layer) {
  layer_ = LayerObjects::hold(layer).layer_;
  const std::string name = class_name_of(typeid(layer));
  RILL_CHECK(layer_, invalid_argument,
             "[LayerRef] got an object of the class {} as a reference to one that it derives from, "
             "and nothing in the program says how to copy it. Pass it as a {}, or make it with "
             "std::make_shared<{}>(...) and pass the pointer",
             name, name, name);
}
void LayerRef::hold(std::shared_ptr<Layer> layer) {
  RILL_CHECK(layer, invalid_argument, "[LayerRef] got a null pointer; expected a layer");
  layer_ = std::move(layer);
  if (LayerObjects::is_users_class(*layer_)) layer_->impl_->users.held = layer_;
}

void LayerObjects::introduce(const Layer& layer) {
  LayerImpl& l = *layer.impl_;
  if (l.users.type) return;
  const bool users = is_users_class(layer);
  if (!users && l.named() && !l.class_name().empty()) return;
  std::string own = layer.run_time_class();
  l.users.class_at_run_time = !own.empty();
  if (own.empty()) own = class_name_of(typeid(layer));
  if (users) l.users.type = &typeid(layer);
  l.name_by_class(own);
}

}  // namespace rill::keras
