// Ops of elements: those on the flat values.
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// `f` is called with flat values alone, so the rows cost nothing.
template <class F>
RaggedTensor both_ragged(F f, const RaggedTensor& x, const RaggedTensor& y, const char* tag) {
  if (x.rows() == y.rows() && x.defined())
    return RaggedTensor::of_rows(f(x.flat_values(), y.flat_values()), x.rows());
  if (levels_of(x).size() >= levels_of(y).size())
    return x.with_flat_values(f(x.flat_values(), flat_partner(x, y, tag)));
  return y.with_flat_values(f(flat_partner(y, x, tag), y.flat_values()));
}
// A number, or a tensor of no axes, needs no place in the rows.
bool is_scalar(const Operand& y) {
  using Kind = Operand::Kind;
  switch (y.kind()) {
    case Kind::integer:
    case Kind::floating:
    case Kind::boolean:
    case Kind::text:
      return true;
    case Kind::tensor:
      return y.tensor().shape().has_rank() && y.tensor().ndim() == 0;
    default:
      return false;
  }
}
Tensor beside(const RaggedTensor& x, const Operand& y, const char* tag) {
  const ArgPair pair(x.flat_values(), y);
  return flat_partner(x, pair.second(), tag);
}
template <class F>
RaggedTensor with_dense(F f, const RaggedTensor& x, const Operand& y, const char* tag) {
  if (x.defined() && is_scalar(y)) return RaggedTensor::of_rows(f(x.flat_values(), y), x.rows());
  levels_of(x);  // says so where it is undefined
  return x.with_flat_values(f(x.flat_values(), beside(x, y, tag)));
}
template <class F>
RaggedTensor dense_with(F f, const Operand& x, const RaggedTensor& y, const char* tag) {
  return with_dense([&](const Operand& flat, const Operand& other) { return f(other, flat); }, y, x,
                    tag);
}

}  // namespace

#define RILL_RAGGED_BINARY(name, tag)                                                             \
  RaggedTensor name(const RaggedTensor& x, const RaggedTensor& y) {                               \
    return both_ragged([](const Operand& a, const Operand& b) { return rill::name(a, b); }, x, y, \
                       tag);                                                                      \
  }                                                                                               \
  RaggedTensor name(const RaggedTensor& x, const Operand& y) {                                    \
    return with_dense([](const Operand& a, const Operand& b) { return rill::name(a, b); }, x, y,  \
                      tag);                                                                       \
  }                                                                                               \
  RaggedTensor name(const Operand& x, const RaggedTensor& y) {                                    \
    return dense_with([](const Operand& a, const Operand& b) { return rill::name(a, b); }, x, y,  \
                      tag);                                                                       \
  }
RILL_RAGGED_BINARY(operator+, "add")
RILL_RAGGED_BINARY(operator-, "subtract")
RILL_RAGGED_BINARY(operator*, "multiply")
RILL_RAGGED_BINARY(operator/, "divide")
RILL_RAGGED_BINARY(operator%, "floormod")
RILL_RAGGED_BINARY(operator<, "less")
RILL_RAGGED_BINARY(operator<=, "less_equal")
RILL_RAGGED_BINARY(operator>, "greater")
RILL_RAGGED_BINARY(operator>=, "greater_equal")
RILL_RAGGED_BINARY(operator==, "equal")
RILL_RAGGED_BINARY(operator!=, "not_equal")
RILL_RAGGED_BINARY(operator&, "logical_and")
RILL_RAGGED_BINARY(operator|, "logical_or")
RILL_RAGGED_BINARY(operator^, "logical_xor")
#define RILL_RAGGED_NAMED(name) RILL_RAGGED_BINARY(name, #name)
RILL_RAGGED_NAMED(add)
RILL_RAGGED_NAMED(subtract)
RILL_RAGGED_NAMED(multiply)
RILL_RAGGED_NAMED(divide)
RILL_RAGGED_NAMED(truediv)
RILL_RAGGED_NAMED(floordiv)
RILL_RAGGED_NAMED(floormod)
RILL_RAGGED_NAMED(divide_no_nan)
RILL_RAGGED_NAMED(squared_difference)
RILL_RAGGED_NAMED(pow)
RILL_RAGGED_NAMED(maximum)
RILL_RAGGED_NAMED(minimum)
RILL_RAGGED_NAMED(equal)
RILL_RAGGED_NAMED(not_equal)
RILL_RAGGED_NAMED(less)
RILL_RAGGED_NAMED(less_equal)
RILL_RAGGED_NAMED(greater)
RILL_RAGGED_NAMED(greater_equal)
RILL_RAGGED_NAMED(logical_and)
RILL_RAGGED_NAMED(logical_or)
RILL_RAGGED_NAMED(logical_xor)

#define RILL_RAGGED_UNARY(name)                                \
  RaggedTensor name(const RaggedTensor& x) {                   \
    return x.with_flat_values(name(Operand(x.flat_values()))); \
  }
RILL_RAGGED_UNARY(operator-)
RILL_RAGGED_UNARY(operator~)
RILL_RAGGED_UNARY(abs)
RILL_RAGGED_UNARY(negative)
RILL_RAGGED_UNARY(sign)
RILL_RAGGED_UNARY(square)
RILL_RAGGED_UNARY(sqrt)
RILL_RAGGED_UNARY(rsqrt)
RILL_RAGGED_UNARY(reciprocal)
RILL_RAGGED_UNARY(exp)
RILL_RAGGED_UNARY(expm1)
RILL_RAGGED_UNARY(log)
RILL_RAGGED_UNARY(log1p)
RILL_RAGGED_UNARY(sin)
RILL_RAGGED_UNARY(cos)
RILL_RAGGED_UNARY(tan)
RILL_RAGGED_UNARY(tanh)
RILL_RAGGED_UNARY(sigmoid)
RILL_RAGGED_UNARY(erf)
RILL_RAGGED_UNARY(floor)
RILL_RAGGED_UNARY(ceil)
RILL_RAGGED_UNARY(rint)
RILL_RAGGED_UNARY(round)
RILL_RAGGED_UNARY(is_nan)
RILL_RAGGED_UNARY(is_inf)
RILL_RAGGED_UNARY(is_finite)
RILL_RAGGED_UNARY(logical_not)
RILL_RAGGED_UNARY(identity)
RILL_RAGGED_UNARY(stop_gradient)
RILL_RAGGED_UNARY(zeros_like)
RILL_RAGGED_UNARY(ones_like)

namespace nn {
RILL_RAGGED_UNARY(relu)
}  // namespace nn
RaggedTensor cast(const RaggedTensor& x, DType dtype) {
  return x.with_flat_values(cast(x.flat_values(), dtype));
}
RaggedTensor clip_by_value(const RaggedTensor& t, const Operand& low, const Operand& high) {
  return minimum(maximum(t, low), high);
}

RaggedTensor where(const RaggedTensor& condition, const RaggedTensor& x, const RaggedTensor& y) {
  return x.with_flat_values(
      where(flat_partner(x, condition, "where"), x.flat_values(), flat_partner(x, y, "where")));
}
RaggedTensor where(const RaggedTensor& condition, const RaggedTensor& x, const Operand& y) {
  return x.with_flat_values(
      where(flat_partner(x, condition, "where"), x.flat_values(), beside(x, y, "where")));
}
RaggedTensor where(const RaggedTensor& condition, const Operand& x, const RaggedTensor& y) {
  return y.with_flat_values(
      where(flat_partner(y, condition, "where"), beside(y, x, "where"), y.flat_values()));
}
RaggedTensor where(const RaggedTensor& condition, const Operand& x, const Operand& y) {
  const ArgPair pair(x, y);
  return condition.with_flat_values(where(condition.flat_values(),
                                          flat_partner(condition, pair.first(), "where"),
                                          flat_partner(condition, pair.second(), "where")));
}

}  // namespace rill
