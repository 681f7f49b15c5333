#include "rill/compat/v1/math.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill::compat::v1 {

Tensor div(const Operand& x, const Operand& y) { return binary(find_op("Div"), x, y); }

Tensor clip_by_average_norm(const Operand& t, const Operand& clip_norm) {
  const Arg x(t);
  RILL_CHECK(x->dtype().is_floating(), invalid_argument,
             "[clip_by_average_norm] t is {}; expected a floating-point dtype. Write tf::cast(t, "
             "tf::float32)",
             x->dtype());
  const Arg limit(clip_norm, x->dtype());
  const Tensor count = cast(size(*x), x->dtype());
  return *x * *limit * minimum(rsqrt(reduce_sum(square(*x))) * count, 1 / *limit);
}

}  // namespace rill::compat::v1
