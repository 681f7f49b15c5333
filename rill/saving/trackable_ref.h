#pragma once
#include <concepts>
#include <string>
#include <vector>

#include "rill/core/trackable.h"
#include "rill/eager/variable.h"

namespace rill RILL_API {
namespace train {

template <class T>
concept HasTrackable = requires(const T& object) {
  { object.trackable() } -> std::convertible_to<Ref<TrackableNode>>;
};

// An object that a checkpoint can hold, kept alive: a variable; an optimizer, a layer, a
// model or anything else with a `Ref<TrackableNode> trackable() const`; or a list of such,
// whose parts are called "0", "1", ...
class TrackableRef {
 public:
  TrackableRef(const Variable& variable);
  template <HasTrackable T>
  TrackableRef(const T& object) : node_(object.trackable()) {}
  template <class T>
  requires std::constructible_from<TrackableRef, const T&> TrackableRef(const std::vector<T>& list)
      : node_(empty_list()) {
    for (std::size_t i = 0; i < list.size(); ++i) add_to_list(i, TrackableRef(list[i]));
  }
  const Ref<TrackableNode>& trackable() const { return node_; }

 private:
  static Ref<TrackableNode> empty_list();
  void add_to_list(std::size_t i, const TrackableRef& part);
  Ref<TrackableNode> node_;
};

}  // namespace train
}  // namespace RILL_API
