// Evenly spaced numbers.
#include <cmath>

#include "rill/core/type_dispatch.h"
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

void range_shape(ShapeContext& c) {
  const char* names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) require_rank(c, i, 0, names[i]);
  if (!c.input_value(0) || !c.input_value(1) || !c.input_value(2))
    return c.set_output(0, TensorShape::unknown_dims(1));
  auto size = [&](auto start, auto limit, auto delta) -> std::int64_t {
    RILL_CHECK(delta != 0, invalid_argument, "[range] delta is 0; expected a step");
    RILL_CHECK(delta > 0 ? start <= limit : start >= limit, invalid_argument,
               "[range] start {} is beyond limit {} for delta {}", start, limit, delta);
    if constexpr (std::is_integral_v<decltype(start)>) {
      // Unsigned, because the distance of two int64 may need 64 bits.
      const auto distance =
          delta > 0 ? static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(start)
                    : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(limit);
      const auto step =
          delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
      const std::uint64_t n = distance / step + (distance % step != 0);
      RILL_CHECK(n <= INT64_MAX, invalid_argument,
                 "[range] {} numbers are more than 63 bits can count", n);
      return static_cast<std::int64_t>(n);
    } else {
      const double n = std::ceil(std::abs((limit - start) / delta));
      RILL_CHECK(n < 9e18, invalid_argument, "[range] {} numbers are more than 63 bits can count",
                 n);
      return static_cast<std::int64_t>(n);
    }
  };
  const Tensor &start = *c.input_value(0), &limit = *c.input_value(1), &delta = *c.input_value(2);
  const std::int64_t n =
      start.dtype().is_floating()
          ? size(start.item<double>(), limit.item<double>(), delta.item<double>())
          : size(start.item<std::int64_t>(), limit.item<std::int64_t>(),
                 delta.item<std::int64_t>());
  c.set_output(0, TensorShape(Dims{n}));
}
const Op& range_op = OpBuilder("Range", "range")
                         .input("start: Tidx")
                         .input("limit: Tidx")
                         .input("delta: Tidx")
                         .output("output: Tidx")
                         .type("Tidx", kFloatTypes | kSignedTypes | TypeSet{uint16, uint32}, int32)
                         .doc(
                             "start, start + delta, start + 2 delta, ... below limit (above it for "
                             "a negative delta).")
                         .shape(range_shape)
                         .no_gradient()
                         .host("start limit delta")
                         .define();

void linspace_shape(ShapeContext& c) {
  require_rank(c, 0, 0, "start");
  require_rank(c, 1, 0, "stop");
  require_rank(c, 2, 0, "num");
  std::int64_t n = -1;
  RILL_CHECK(!c.input_as_int(2, &n) || n > 0, invalid_argument,
             "[linspace] num is {}; expected 1 or more", n);
  c.set_output(0, TensorShape(Dims{n}));
}
const Op& linspace_op = OpBuilder("LinSpace", "linspace")
                            .input("start: T")
                            .input("stop: T")
                            .input("num: Tidx")
                            .output("output: T")
                            .type("T", kFloatTypes)
                            .type("Tidx", kIndexTypes, int32)
                            .doc("num numbers evenly spaced from start to stop, both included.")
                            .shape(linspace_shape)
                            .no_gradient()
                            .host("start stop num")
                            .define();

// TensorFlow's rule: the widest of the dtypes in int32 < int64 < float32 <
// float64. A tensor of another dtype gives its own to the literals beside it.
DType common_dtype(const Operand* const (&operands)[3], const Tensor* const (&tensors)[3]) {
  auto level = [](DType d) {
    return d == float64 ? 4 : d == float32 ? 3 : d == int64 ? 2 : d == int32 ? 1 : 0;
  };
  DType best = int32;
  for (int i = 0; i < 3; ++i) {
    const DType d = tensors[i]->dtype();
    if (level(d) == 0 && !operands[i]->is_literal()) return d;
    if (level(d) > level(best)) best = d;
  }
  return best;
}

}  // namespace

Tensor range(const Operand& limit) { return range(0, limit, 1); }
Tensor range(const Operand& limit, DType dtype) { return range(0, limit, 1, dtype); }
Tensor range(const Operand& start, const Operand& limit, const Operand& delta, DType dtype) {
  const Arg s(start), l(limit), d(delta);
  if (!dtype.defined()) dtype = common_dtype({&start, &limit, &delta}, {&*s, &*l, &*d});
  return execute(range_op, {cast(*s, dtype), cast(*l, dtype), cast(*d, dtype)});
}

Tensor linspace(const Operand& start, const Operand& stop, const Operand& num) {
  const bool first = !start.is_literal();
  const bool whole =
      start.kind() == Operand::Kind::integer && stop.kind() == Operand::Kind::integer;
  const Arg a(start, first               ? DType()
                     : whole             ? float64
                     : stop.is_literal() ? float32
                                         : to_tensor(stop).dtype());
  const Arg b(stop, a->dtype());
  const DType d = a->dtype().is_integer() ? float64 : a->dtype();
  return execute(linspace_op, {cast(*a, d), cast(*b, d), Arg(num)});
}

}  // namespace rill
