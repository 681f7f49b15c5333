#include "rill/keras/optimizers/number_impl.h"

#include <algorithm>

#include "rill/eager/context.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Number Number::of(const Tensor& scalar) {
  if (!scalar.is_symbolic()) return Number(scalar.item<double>());
  Number n(0);
  n.symbol_ = cast(scalar, float64);
  return n;
}

Tensor Number::as(DType dtype) const {
  return symbol_.defined() ? cast(symbol_, dtype) : to_tensor(value_, dtype);
}

namespace {

// By the op, as a graph has it: the C library's function has other last bits. On the host
// in every scope: a GPU's answer would have to be waited for at each step.
double power(double a, double b) {
  const DeviceScope host("/cpu:0");
  return rill::pow(to_tensor(a, float64), to_tensor(b, float64)).item<double>();
}

}  // namespace

// Defines `name` by a function of doubles and one of tensors.
#define RILL_NUMBER_FUNCTION(name, of_doubles, of_tensors) \
  Number name(const Number& x, const Number& y) {          \
    if (!x.symbol_.defined() && !y.symbol_.defined()) {    \
      const double a = x.value_, b = y.value_;             \
      return Number(of_doubles);                           \
    }                                                      \
    const Tensor a = x.as(float64), b = y.as(float64);     \
    Number n(0);                                           \
    n.symbol_ = of_tensors;                                \
    return n;                                              \
  }
RILL_NUMBER_FUNCTION(operator+, a + b, a + b)
RILL_NUMBER_FUNCTION(operator-, a - b, a - b)
RILL_NUMBER_FUNCTION(operator*, a* b, a* b)
RILL_NUMBER_FUNCTION(operator/, a / b, a / b)
RILL_NUMBER_FUNCTION(pow, power(a, b), rill::pow(a, b))
RILL_NUMBER_FUNCTION(min, std::min(a, b), minimum(a, b))
#undef RILL_NUMBER_FUNCTION

}  // namespace rill::keras
