#pragma once
#include <memory>

#include "rill/compat/v1/variable_scope.h"
#include "rill/core/call_context.h"

namespace rill::compat::v1 {

// The scopes of TensorFlow 1 that a thread is in.
struct CallState {
  Ref<VariableStoreImpl> store;                 // null: none
  std::shared_ptr<VariableScope::State> scope;  // null: outside every scope
  bool records_summaries = false;
};
using ScopedCallState = ScopedRoom<&CallContext::compat>;

}  // namespace rill::compat::v1
