#pragma once
#include <string>
#include <utility>

namespace rill::keras {

class RunningCall;
class TrainableAsked;
class UsersCall;
class WeightSource;

// What a thread knows of the calls of layers that it is in. Guards set the fields and put back
// what was there.
struct CallState {
  std::string name_path;                      // "model/block/": see NameStack
  int training = -1;                          // as the layer around was called; -1: none is
  const RunningCall* running = nullptr;       // the innermost call
  UsersCall* users = nullptr;                 // the innermost call of a user-defined class
  TrainableAsked* trainable_asked = nullptr;  // notes what calls ask
  WeightSource* weights = nullptr;            // gives weights instead of initializers
};
CallState& call_state();

// One field for a time.
template <class T>
class CallStateScope {
 public:
  CallStateScope(T CallState::*field, T value)
      : field_(field), before_(std::exchange(call_state().*field, value)) {}
  ~CallStateScope() { call_state().*field_ = before_; }
  CallStateScope(const CallStateScope&) = delete;

 private:
  T CallState::*field_;
  T before_;
};

}  // namespace rill::keras
