#include "rill/core/observer.h"

#include <chrono>

#include "rill/base/parallel.h"

namespace rill {

constinit std::atomic<OpObserver*> op_observer_storage{nullptr};

namespace {

struct Watching {
  std::int64_t inside_ns = 0;  // of finished calls inside the one that is running
  CallNotes notes;
  // The node of the next call.
  bool has_node = false;
  std::string_view node, why;
  Ran how = Ran::eager;
};
thread_local Watching watching;

}  // namespace

const char* ran_name(Ran how) {
  switch (how) {
    case Ran::eager:
      return "eager";
    case Ran::handles:
      return "handles";
    case Ran::node:
      return "node";
    case Ran::kernel:
      return "kernel";
    case Ran::update:
      return "update";
    case Ran::read:
      return "read";
    case Ran::view:
      return "view";
    case Ran::general:
      return "general";
    case Ran::group:
      return "group";
    case Ran::function:
      return "function";
    case Ran::trace:
      return "trace";
    case Ran::plan:
      return "plan";
  }
  return "";
}

std::int64_t bytes_of(const std::vector<ObservedValue>& values) {
  std::int64_t n = 0;
  for (const ObservedValue& v : values)
    if (kPlainTypes.contains(v.dtype) && v.shape.is_fully_defined())
      n += v.shape.num_elements() * static_cast<std::int64_t>(v.dtype.itemsize());
  return n;
}

// Plug-ins ask it too.
RILL_API std::int64_t observer_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CallWatch::CallWatch(OpObserver& observer, OpCall& call)
    : observer_(observer),
      call_(call),
      outer_inside_(watching.inside_ns),
      outer_notes_(watching.notes) {
  watching.inside_ns = 0;
  watching.notes = {};
  call.failed = true;
  call.width = compute_width();
  call.start_ns = observer_clock_ns();
}

CallWatch::~CallWatch() {
  call_.end_ns = observer_clock_ns();
  call_.self_ns = call_.end_ns - call_.start_ns - watching.inside_ns;
  call_.notes = watching.notes;
  observer_.record(call_);
  // What describing and recording took is nobody's time.
  watching.inside_ns = outer_inside_ + (observer_clock_ns() - call_.described_since_ns);
  watching.notes = outer_notes_;
}

NodeOfNextCall::NodeOfNextCall(std::string_view node, Ran how, std::string_view why) {
  if (!op_observer()) return;
  watching.has_node = true;
  watching.node = node;
  watching.how = how;
  watching.why = why;
}
NodeOfNextCall::~NodeOfNextCall() { watching.has_node = false; }
void NodeOfNextCall::take(OpCall& call) {
  if (!watching.has_node) return;
  watching.has_node = false;
  call.node = watching.node;
  call.how = watching.how;
  call.detail = watching.why;
}

void note_moved(std::int64_t bytes) {
  if (op_observer()) watching.notes.moved_bytes += bytes;
}
void note_copied(std::int64_t bytes) {
  if (op_observer()) watching.notes.copied_bytes += bytes;
}
void note_widened() {
  if (op_observer()) watching.notes.widened = true;
}
// Plug-ins tell it too.
RILL_API void note_refused(const char* why) {
  if (op_observer()) watching.notes.refused = why;
}

}  // namespace rill
