#pragma once
#include "rill/keras/engine/call_state_impl.h"
#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

// The layers whose calls run in this thread, the innermost last. A layer with weights that a
// user's class calls and nobody around it holds is never trained nor saved, which is mostly a
// forgotten track().
class RunningCall {
 public:
  RunningCall(LayerImpl& layer, bool users);
  ~RunningCall() { call_state().running = around_; }
  RunningCall(const RunningCall&) = delete;

  // At the end of the call: FailedPrecondition where it has made weights that nothing holds; a
  // warning, once per layer, where they were there before.
  void check_tracked() const;

 private:
  bool knows(const LayerImpl& wanted) const;

  LayerImpl& layer_;
  const bool users_;
  const RunningCall* const around_;
  bool stranger_ = false;
  std::size_t weights_before_ = 0;
};

}  // namespace rill::keras
