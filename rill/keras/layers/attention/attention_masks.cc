#include "rill/keras/layers/attention/attention_masks_impl.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Tensor causal_mask(const Tensor& query_length, const Tensor& value_length) {
  const Tensor q = expand_dims(range(query_length), 1), v = expand_dims(range(value_length), 0);
  return expand_dims(q >= v, 0);
}
Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return logical_and(a, b);
}
Tensor mask_penalty(const Tensor& mask, DType dtype) {
  const double large = dtype == float16 ? 65504 : 1e9;
  return (1 - cast(mask, dtype)) * cast(constant(-large), dtype);
}

}  // namespace rill::keras
