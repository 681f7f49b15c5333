// Order between elements.
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

const Op& greater_equal_op = compare_op("GreaterEqual", "greater_equal", kRealTypes).doc("x >= y.").define();

}  // namespace

Tensor greater_equal(const Operand& x, const Operand& y) { return binary(greater_equal_op, x, y); }

}  // namespace rill
