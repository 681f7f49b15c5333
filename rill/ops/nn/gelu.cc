// Activations that are composed of others.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void require_floating(const Tensor& x, std::string_view tag) {
  RILL_CHECK(x.dtype().is_floating(), invalid_argument,
             "[{}] x is {}; expected a floating-point dtype. Write tf::cast(x, tf::float32)", tag,
             x.dtype());
}

}  // namespace

namespace nn {

Tensor gelu(const Operand& x) { return gelu(x, false); }
Tensor gelu(const Operand& input, bool approximate) {
  const Arg x(input);
  require_floating(*x, "gelu");
  if (approximate) return 0.5 * *x * (1 + tanh(0.7978845608028654 * (*x + 0.044715 * pow(*x, 3))));
  return 0.5 * *x * (1 + erf(*x / 1.4142135623730951));
}

Tensor swish(const Operand& input) {
  const Arg x(input);
  require_floating(*x, "swish");
  return *x * sigmoid(*x);
}
Tensor swish(const Operand& input, double beta) {
  const Arg x(input);
  require_floating(*x, "swish");
  return *x * sigmoid(beta * *x);
}
Tensor silu(const Operand& x) { return swish(x); }
Tensor silu(const Operand& x, double beta) { return swish(x, beta); }

Tensor zero_fraction(const Operand& value) {
  const Arg x(value);
  const Tensor count = x->shape().is_fully_defined() ? constant(x->size(), int64) : size(*x, int64);
  return cast(count - math::count_nonzero(*x), float32) / cast(count, float32);
}

}  // namespace nn

}  // namespace rill
