#pragma once
#include <deque>

#include "rill/core/device_tracer.h"
#include "rill/core/observer.h"
#include "rill/graph/profiler/profiler.h"

namespace rill::profiler {

// Immutable once the profile has stopped.
class Report::Data {
 public:
  std::deque<CallKind> kinds;  // events point at them
  std::vector<Event> events;
  std::int64_t dropped = 0, wall_ns = 0;
  int threads = 0;
  std::vector<Activity> activities;
  std::string why_no_activities;
};

// A call without what belongs to a single run of it.
CallKind kind_of(const OpCall& call);
std::string describe(const std::vector<Value>& values);  // "float32 (2, 3), int32 ()"

}  // namespace rill::profiler
