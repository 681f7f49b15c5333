#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/trackable.h"

namespace rill {

// What a checkpoint has for the slots of one owner.
class SlotOffer {
 public:
  virtual ~SlotOffer() = default;
  // The saved slot of that name beside the variable; null when there is none, or when the
  // variable itself has not been restored yet.
  virtual Ref<RestorePosition> slot(const TrackableNode& variable, std::string_view name) = 0;
  virtual bool exhausted() const = 0;  // nothing will come of it any more
  RefCount refs;
};
inline void retain(SlotOffer* o) noexcept { o->refs.retain(); }
inline void release(SlotOffer* o) noexcept {
  if (o->refs.release()) delete o;
}

// A node that keeps variables beside those of others, as TensorFlow 1's optimizers keep
// "m" and "v" beside a kernel. A checkpoint knows them by owner, variable and name; they
// are not below the owner in the graph of objects.
class SlotOwner {
 public:
  struct Slot {
    Ref<TrackableNode> variable;
    std::string name;
    Ref<TrackableNode> slot;
  };
  virtual ~SlotOwner() = default;
  virtual std::vector<Slot> slot_variables() = 0;
  // The owner keeps the offer for slots that it makes later.
  virtual void offer_slots(const Ref<SlotOffer>& offer) = 0;
  // Slots that are there take what is offered for them.
  virtual void take_slots() = 0;
};

}  // namespace rill
