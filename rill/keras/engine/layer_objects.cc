// Which object has the behaviour of a layer, and what keeps it alive.
#include <mutex>
#include <typeindex>
#include <unordered_map>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/registry/class_name_impl.h"

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
layer_copies::CopyLayer copy_of(const Layer& layer) {
  KnownCopies& known = known_copies();
  const std::lock_guard lock(known.mutex);
  const auto at = known.of.find(typeid(layer));
  return at == known.of.end() ? layer_copies::CopyLayer{} : at->second;
}

}  // namespace

bool layer_copies::know_copy(const std::type_info& type, const CopyLayer& copy) {
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
  return type != *l.library_class && type != *l.library_base && type != typeid(Layer);
}

Layer* LayerObjects::other_object(const Layer& layer) {
  LayerImpl& l = *layer.impl_;
  if (!l.users.type || is_users_class(layer)) return nullptr;
  if (Layer* live = l.users.live; live && is_users_class(*live)) return live;
  if (layer.object_) return layer.object_.get();
  return l.users.held.lock().get();  // a container keeps it
}

const Layer& LayerObjects::behind(const Layer& layer) {
  const Layer* other = other_object(layer);
  const LayerImpl& l = *layer.impl_;
  const bool has_own_behaviour = l.of_library && l.is_model() && !l.users.own_call;
  RILL_CHECK(other || has_own_behaviour || !l.users.type || is_users_class(layer),
             failed_precondition,
             "[{}] the object of your class {} is gone, and this is a handle without it. Keep the "
             "object, or make it with std::make_shared<{}>(...)",
             l.name(), l.class_name(), l.class_name());
  return other ? *other : layer;
}

// Not where containers hold a copy: calls of short-lived copies, in other threads perhaps, must not
// become the behaviour of a model.
void LayerObjects::note_live(const Layer& layer) {
  UsersObject& users = layer.impl_->users;
  if (users.live.load(std::memory_order_relaxed) || !users.held.expired()) return;
  Layer* none = nullptr;
  users.live.compare_exchange_strong(none, const_cast<Layer*>(&layer));
}
void LayerObjects::note_drawn(const Layer& layer) {
  layer.impl_->users.live = const_cast<Layer*>(&layer);
}
void LayerObjects::note_copied(const Layer& from, Layer& handle) {
  if (!is_users_class(from)) return note_handle(from);
  introduce(from);
  note_live(from);
  handle.object_ = std::const_pointer_cast<Layer>(from.weak_from_this().lock());
}
void LayerObjects::note_moved(const Layer& from, Layer& to) {
  Layer* was = const_cast<Layer*>(&from);
  to.impl_->users.live.compare_exchange_strong(was, &to);
}
void LayerObjects::forget_live(const Layer& layer) {
  std::atomic<Layer*>& live = layer.impl_->users.live;
  if (live.load(std::memory_order_relaxed) == &layer) live = nullptr;
}

// ---- what keeps it alive
LayerRef LayerObjects::hold(const Layer& layer) {
  LayerRef ref;
  if (std::shared_ptr<Layer> object = LayerRef::shared(layer))
    ref.layer_ = std::move(object);
  else if (const auto copy = copy_of(layer).copy)
    ref.hold(copy(layer));
  return ref;
}
LayerRef LayerObjects::of(LayerImpl& l) {
  LayerRef ref;
  ref.layer_ = l.users.held.lock();
  if (!ref.defined()) ref.layer_ = new_handle(l);
  return ref.defined() ? ref : LayerRef(LayerHandle(share(l)));
}

// ---- handles of the library's classes
namespace {

// An object of each class that has been met, on no layer in particular: the others are its copies,
// since nothing else can make an object of a class that is not known here.
struct KnownHandles {
  std::mutex mutex;
  std::unordered_map<std::type_index, std::shared_ptr<Layer>> of;
};
KnownHandles& known_handles() {
  static auto* known = new KnownHandles;
  return *known;
}

}  // namespace

void LayerObjects::note_handle(const Layer& layer) {
  LayerImpl& l = *layer.impl_;
  if (!l.copy_handle || l.handle_noted.load(std::memory_order_relaxed)) return;
  if (typeid(layer) != *l.library_class) return;
  if (l.handle_noted.exchange(true, std::memory_order_relaxed)) return;
  static auto* const none = new Ref<LayerImpl>(new LayerImpl("Layer", {.name = "none"}));
  KnownHandles& known = known_handles();
  {
    const std::lock_guard lock(known.mutex);
    if (known.of.contains(typeid(layer))) return;
  }
  const std::shared_ptr<Layer> copy = l.copy_handle(layer);
  copy->impl_ = *none;
  copy->bound_ = false;
  const std::lock_guard lock(known.mutex);
  known.of.emplace(typeid(layer), copy);
}
std::shared_ptr<Layer> LayerObjects::new_handle(LayerImpl& l) {
  if (!l.copy_handle) return nullptr;
  KnownHandles& known = known_handles();
  std::shared_ptr<Layer> one;
  {
    const std::lock_guard lock(known.mutex);
    const auto at = known.of.find(*l.library_class);
    if (at == known.of.end()) return nullptr;
    one = at->second;
  }
  std::shared_ptr<Layer> handle = l.copy_handle(*one);
  handle->impl_ = share(l);
  handle->object_ = l.users.held.lock();
  return handle;
}

std::shared_ptr<Layer> LayerRef::of_its_class() const {
  return layer_ ? LayerObjects::of(layer_->impl()).layer_ : nullptr;
}
void LayerRef::fail_undefined() {
  RILL_FAIL(failed_precondition, "[LayerRef] it refers to no layer: it was made without one");
}
void LayerRef::fail_other_class(const Layer* layer, const std::type_info& asked) {
  if (!layer) fail_undefined();
  const std::string wanted = class_name_of(asked);
  const std::string found = layer->class_name();
  RILL_FAIL(
      invalid_argument, "[{}] the layer is a {}; as<{}>() asked for a {}. {}", layer->name(), found,
      wanted, wanted,
      found == wanted
          ? "There is no object of that class any more: keep it, or make it with std::make_shared"
          : "An if (auto l = layer.as<..>()) tells without an error");
}
std::size_t Layers::place(std::ptrdiff_t i) const {
  const auto n = static_cast<std::ptrdiff_t>(size());
  RILL_CHECK(i >= -n && i < n, out_of_range,
             "[layers] was asked for layer {}, but there are only {} layers", i, n);
  return static_cast<std::size_t>(i < 0 ? i + n : i);
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
  if (!held || typeid(*held) != typeid(layer)) return nullptr;
  // The program may have changed the object since: its fields count as they are now.
  if (const auto assign = copy_of(layer).assign; assign && held.get() != &layer) {
    assign(*held, layer);
    if (layer.impl_->built) LayerCalls::build(*held, layer.impl_->built_for);  // learns its members
  }
  return held;
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
