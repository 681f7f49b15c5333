#include "rill/ops/random/random_helpers.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

void sizes_shape(ShapeContext& c) {
  const TensorShape out = c.input_as_shape(0);
  if (c.input_value(0)) checked_num_elements(out.dims(), c.tag());
  c.set_output(0, out);
}

void multinomial_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "logits");
  std::int64_t n = -1;
  c.input_as_int(1, &n);
  RILL_CHECK(n >= 0 || !c.input_value(1), invalid_argument,
             "[{}] num_samples is {}; expected 0 or more", c.tag(), n);
  RILL_CHECK(!c.input(0).has_rank() || c.input(0).dim(1) != 0, invalid_argument,
             "[{}] logits {} have no classes", c.tag(), c.input(0));
  c.set_output(0, TensorShape(Dims{c.input(0).has_rank() ? c.input(0).dim(0) : -1, n}));
}

void require_two_words(const ShapeContext& c, int i) {
  RILL_CHECK(!c.input(i).is_fully_defined() || c.input(i) == TensorShape({2}), invalid_argument,
             "[{}] seed must be two integers, got shape {}", c.tag(), c.input(i));
}
void require_key_and_counter(const ShapeContext& c) {
  RILL_CHECK(!c.input(1).is_fully_defined() || c.input(1) == TensorShape({1}), invalid_argument,
             "[{}] key must have shape [1], got {}", c.tag(), c.input(1));
  RILL_CHECK(!c.input(2).is_fully_defined() || c.input(2) == TensorShape({2}), invalid_argument,
             "[{}] counter must have shape [2], got {}", c.tag(), c.input(2));
}

Tensor sizes_of(const Operand& shape) {
  const Arg s(shape, sizes_dtype(shape));
  RILL_CHECK(s->dtype().is_integer(), invalid_argument,
             "[random] shape must be integers, got {} {}", s->dtype(), s->to_string());
  return s->ndim() == 0 ? reshape(*s, {1}) : *s;
}

Tensor affine(const Tensor& x, double scale, double shift) {
  const Tensor y = scale == 1 ? x : x * scale;
  return shift == 0 ? y : y + shift;
}

}  // namespace rill
