#pragma once
#include "rill/ops/op_helpers.h"

// What the files of array ops share.
namespace rill {

// Sets output i; InvalidArgument when known sizes multiply beyond 63 bits.
inline void set_checked(ShapeContext& c, int i, const Dims& dims) {
  std::int64_t n = 1;
  for (std::int64_t d : dims)
    RILL_CHECK(d <= 0 || !__builtin_mul_overflow(n, d, &n), invalid_argument,
               "[{}] shape {} has more elements than 63 bits can count", c.tag(),
               TensorShape(dims));
  c.set_output(i, TensorShape(dims));
}

// a * b and a + b of sizes, -1 meaning unknown; InvalidArgument beyond 63 bits.
inline std::int64_t mul_sizes(std::int64_t a, std::int64_t b, std::string_view tag) {
  std::int64_t n = -1;
  if (a < 0 || b < 0) return -1;
  RILL_CHECK(!__builtin_mul_overflow(a, b, &n), invalid_argument,
             "[{}] a size of {} times {} is more than 63 bits can count", tag, a, b);
  return n;
}
inline std::int64_t add_sizes(std::int64_t a, std::int64_t b, std::string_view tag) {
  std::int64_t n = -1;
  if (a < 0 || b < 0) return -1;
  RILL_CHECK(!__builtin_add_overflow(a, b, &n), invalid_argument,
             "[{}] a size of {} plus {} is more than 63 bits can count", tag, a, b);
  return n;
}

// t(begin, .., end).
Tensor index_tensor(const Tensor& t, const Index* begin, const Index* end);

// The largest element of an integer tensor; 0 when it is empty.
Tensor largest(const Tensor& x);

// The shape of input i of a gradient as an operand: fixed where it is known,
// else the tensor that holds it.
inline Tensor shape_of_input(GradContext& g, int i) {
  return g.input_shape(i).is_fully_defined() ? to_tensor(g.input_shape(i))
                                             : g.input_shape_tensor(i);
}

}  // namespace rill
