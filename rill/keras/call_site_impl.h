#pragma once
#include "rill/core/execute.h"

namespace rill::keras {

// The line of the user's program that is at work, as it is now, comes back at the end: what a layer
// or a loss of the user's notes for its ops is not said of those that follow.
class CallSiteScope {
 public:
  CallSiteScope() : file_(thread_state().file), line_(thread_state().line) {}
  ~CallSiteScope() { put(file_, line_); }
  CallSiteScope(const CallSiteScope&) = delete;
  // No line is at work from here on.
  static void forget() { put(nullptr, 0); }

 private:
  static void put(const char* file, int line) {
    thread_state().file = file;
    thread_state().line = line;
  }
  const char* file_;
  int line_;
};

}  // namespace rill::keras
