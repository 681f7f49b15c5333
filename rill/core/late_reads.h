#pragma once
#include "rill/core/tensor.h"

namespace rill {

// A symbol whose ops run later than they are called. A variable that meets it in an op must be read
// then, not now.
class ReadsVariablesLater {
 public:
  virtual ~ReadsVariablesLater() = default;
  // What stands for the variable's value in the op.
  virtual Tensor reading(const Variable& v) const = 0;
};

// The value of a variable as a partner of this tensor in an op.
Tensor read_beside(const Variable& v, const Tensor& partner);

}  // namespace rill
