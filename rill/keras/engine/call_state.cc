#include "rill/keras/engine/call_state_impl.h"

namespace rill::keras {

CallState& call_state() {
  static thread_local CallState state;
  return state;
}

}  // namespace rill::keras
