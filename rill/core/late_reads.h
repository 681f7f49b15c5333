#pragma once
#include "rill/core/tensor.h"

namespace rill {

// Some ops run later than they are called: those that draw a Keras model. A variable among their
// operands must be read when they run. So from the first such op on, every value that an operand
// reads from a variable says which one it was (TensorImpl::read_from). Programs that draw no model
// pay nothing.
void note_late_reads();

// The value of a variable that is an operand.
Tensor read_operand(const Variable& v);

}  // namespace rill
