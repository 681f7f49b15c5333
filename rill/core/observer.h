#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/api.h"
#include "rill/core/execute.h"
#include "rill/core/op.h"
#include "rill/core/shape.h"

// Watches calls of ops: the profiler. Without one, an eager op pays nothing (the
// executor that reports is put in the place of the other), a function one load of a pointer.
namespace rill {

// How a call was carried out.
enum class Ran : unsigned char {
  eager,     // a kernel, at once
  handles,   // an op without a kernel, at once: control flow, reshapes
  node,      // a function that ran node by node
  kernel,    // steps of a plan, from here
  update,    // a kernel that changes variables
  read,      // of a variable
  view,      // another shape of the same memory
  general,   // as an eager call: something about it is known at run time only
  group,     // elementwise kernels, together, tile by tile
  function,  // the call of a traced function, around its steps
  trace,     // writing a function down
  plan,      // optimising and planning it
};
const char* ran_name(Ran how);

// Slow paths that a call took, reported where they are taken, on the thread of the call.
struct CallNotes {
  std::int64_t moved_bytes = 0;   // copied from one device to another
  std::int64_t copied_bytes = 0;  // of variables, whose old value somebody held
  bool widened = false;           // computed in a wider type, by way of scratch memory
  const char* refused = nullptr;  // why the fast primitive did not take it
};

struct ObservedValue {
  DType dtype;
  TensorShape shape;
};

RILL_API std::int64_t observer_clock_ns();  // also for plug-ins

// One call, as an observer sees it. Views live for the time of record().
struct OpCall {
  std::string_view op;      // "MatMul"; "Mul+Add" for a group; "(call)", "(trace)", "(plan)"
  FlopsFn flops = nullptr;  // of that op
  std::string_view node;    // empty: called outside a graph
  Ran how = Ran::eager;
  bool elementwise = false;
  std::vector<ObservedValue> inputs, outputs;
  std::int64_t bytes = 0;   // read and written, by the sizes of inputs and outputs
  std::string_view detail;  // why a step is general; why a function was traced again
  const Device* device = nullptr;
  // Describing a call takes time, which is not that of the call around it.
  std::int64_t described_since_ns = observer_clock_ns();
  // Filled by CallWatch.
  int width = 1;  // cores that it could use
  bool failed = false;
  CallNotes notes;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t self_ns = 0;  // without the calls inside it
};
std::int64_t bytes_of(const std::vector<ObservedValue>& values);

class OpObserver {
 public:
  virtual ~OpObserver() = default;
  // On the thread of the call; any number of them at once. Also after a failure, and
  // for calls that began before the observer was taken away.
  virtual void record(const OpCall& call) noexcept = 0;
  // An op that ran at once, or as a node of a function that ran node by node, right after it:
  // with its tensors, where a variable has the value that the op left.
  virtual void record_values(const Op& /*op*/, const OpCall& /*call*/,
                             std::span<const In> /*inputs*/,
                             std::span<const Tensor> /*outputs*/) noexcept {}
};

// Makes `o` the observer; null: none. REQUIRES: it lives as long as the process.
void observe_ops(OpObserver* o);
extern constinit std::atomic<OpObserver*> op_observer_storage;
inline OpObserver* op_observer() { return op_observer_storage.load(std::memory_order_relaxed); }

// Eager execution that reports; registered at start-up.
void install_observed_executor(Executor* executor);

// For the time of a call. What happens between its birth and its end is the call's; an
// end without done() is a failure.
class CallWatch {
 public:
  CallWatch(OpObserver& observer, OpCall& call);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  void done() { call_.failed = false; }

 private:
  OpObserver& observer_;
  OpCall& call_;
  std::int64_t outer_inside_;
  CallNotes outer_notes_;
};

// The next call that this thread makes at once stands for a node of a graph. Does
// nothing while nobody watches.
class NodeOfNextCall {
 public:
  NodeOfNextCall(std::string_view node, Ran how, std::string_view why = {});
  ~NodeOfNextCall();
  NodeOfNextCall(const NodeOfNextCall&) = delete;
  // Gives the node to `call`, once.
  static void take(OpCall& call);
};

// What slow paths call.
void note_moved(std::int64_t bytes);
void note_copied(std::int64_t bytes);
void note_widened();
void note_refused(const char* why);  // a literal

}  // namespace rill
