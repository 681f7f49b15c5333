#pragma once
#include "rill/ops/op_helpers.h"
#include "rill/ops/state_ops.h"

namespace rill {

// The schema of an optimizer's update: variables `slots` (the first is the one
// that is trained), then `inputs`, in TensorFlow's order; "grad" and "indices"
// among them. Every slot must have the variable's shape.
OpBuilder apply_op(std::string_view name, std::string_view tag,
                   std::initializer_list<const char*> slots,
                   std::initializer_list<const char*> inputs);

}  // namespace rill
