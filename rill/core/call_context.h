#pragma once
#include <string>
#include <type_traits>
#include <utility>

namespace rill {

class Device;
class ElementRandomScope;
class Executor;
class Graph;
class Recorder;
namespace compat::v1 {
struct CallState;
}

// What a thread is doing: all that decides, beside the arguments, what a call means. It points
// at objects that the scopes of the program own, so that it is copied and put aside by plain
// assignment. Set it by ScopedContext and ScopedRoom, which put back what was.
struct CallContext {
  // Every op asks for these.
  Executor* executor = nullptr;  // a tracing scope; null: eager
  Recorder* recorder = nullptr;  // null: nothing is being taped
  Device* device = nullptr;      // innermost device scope; null: where the inputs are
  const char* file = nullptr;    // the user's line at work
  int line = 0;

  bool closes_gradients = false;       // what is saved for the way back needs a way back itself
  bool checks_numerics = false;        // each result must be finite: debugging
  bool inferring_spec = false;         // a dataset is made for its element_spec alone
  Graph* graph = nullptr;              // being traced; null: eager
  const std::string* names = nullptr;  // prefix of node names: "outer/inner/"; null: none
  ElementRandomScope* element_random = nullptr;  // of the element that a dataset makes

  // State that only one room knows; null: as at the start of a thread.
  compat::v1::CallState* compat = nullptr;
};

// Initial-exec: one instruction instead of a call. A few words of the room that
// the loader keeps for libraries that are loaded late.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local CallContext call_context_storage;
inline CallContext& call_context() { return call_context_storage; }

// Sets a field for the time of its life:
//   const ScopedContext<&CallContext::device> scope(&device);
template <auto field>
class ScopedContext {
  using T = std::remove_reference_t<decltype(std::declval<CallContext&>().*field)>;

 public:
  explicit ScopedContext(T value) : before_(std::exchange(call_context().*field, value)) {}
  ~ScopedContext() { call_context().*field = before_; }
  ScopedContext(const ScopedContext&) = delete;
  T before() const { return before_; }

 private:
  T before_;
};

// A room's state, copied from the one in force and in force itself for the time of its life:
//   ScopedRoom<&CallContext::compat> scope;
//   scope->in_summary = true;
template <auto field>
class ScopedRoom {
  using State =
      std::remove_pointer_t<std::remove_reference_t<decltype(std::declval<CallContext&>().*field)>>;

 public:
  ScopedRoom() : state_(now()), scope_(&state_) {}
  State* operator->() { return &state_; }
  // What is in force on this thread.
  static const State& now() {
    static const State start{};
    const State* s = call_context().*field;
    return s ? *s : start;
  }

 private:
  State state_;
  ScopedContext<field> scope_;
};

// For code that must not see what runs around it, as on its own thread.
class FreshContext {
 public:
  FreshContext() : before_(std::exchange(call_context(), CallContext{})) {}
  ~FreshContext() { call_context() = before_; }
  FreshContext(const FreshContext&) = delete;

 private:
  CallContext before_;
};

// The line of the user's program that is at work, as it is now, comes back at the end.
class CallSiteScope {
 public:
  CallSiteScope() : file_(call_context().file), line_(call_context().line) {}
  ~CallSiteScope() { put(file_, line_); }
  CallSiteScope(const CallSiteScope&) = delete;
  // This line is at work from here on; by default none.
  static void put(const char* file = nullptr, int line = 0) {
    call_context().file = file;
    call_context().line = line;
  }

 private:
  const char* file_;
  int line_;
};

}  // namespace rill
