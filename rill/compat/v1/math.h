#pragma once
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace compat::v1 {

Tensor div(const Operand& x, const Operand& y);  // integers: toward zero
// As clip_by_norm with the norm divided by the number of elements.
Tensor clip_by_average_norm(const Operand& t, const Operand& clip_norm);

}  // namespace compat::v1
}  // namespace RILL_API
