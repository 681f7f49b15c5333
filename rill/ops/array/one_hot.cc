// Indices as rows that are 1 in one place.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

void one_hot_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  require_rank(c, 1, 0, "depth");
  require_rank(c, 2, 0, "on_value");
  require_rank(c, 3, 0, "off_value");
  std::int64_t depth = -1;
  RILL_CHECK(!c.input_as_int(1, &depth) || depth >= 0, invalid_argument,
             "[one_hot] depth is {}; expected 0 or more", depth);
  if (!in.has_rank()) return unknown_shape(c);
  const std::int64_t axis = c.int_attr("axis");
  RILL_CHECK(
      axis >= -1 && axis <= in.rank(), invalid_argument,
      "[one_hot] axis {} is out of range for indices of shape {}: expected a value in [-1, {}]",
      axis, in, in.rank());
  Dims out = in.dims();
  out.insert(static_cast<std::size_t>(axis < 0 ? in.rank() : axis), depth);
  set_checked(c, 0, out);
}
const Op& one_hot_op = OpBuilder("OneHot", "one_hot")
                           .input("indices: TI")
                           .input("depth: int32")
                           .input("on_value: T")
                           .input("off_value: T")
                           .output("output: T")
                           .attr("axis: int = -1")
                           .type("T", kAllTypes)
                           .type("TI", TypeSet{uint8, int8, int32, int64}, int64)
                           .doc(
                               "on_value at the place that an index names along a new axis of size "
                               "depth, off_value elsewhere.")
                           .shape(one_hot_shape)
                           .no_gradient()
                           .host("depth")
                           .define();

}  // namespace

Tensor one_hot(const Operand& indices, const Operand& depth) {
  return one_hot(indices, depth, OneHotOptions{});
}
Tensor one_hot(const Operand& indices, const Operand& depth, OneHotOptions o) {
  const Tensor &on = o.on_value.tensor(), &off = o.off_value.tensor();
  RILL_CHECK(o.dtype.defined() || !on.defined() || !off.defined() || on.dtype() == off.dtype(),
             invalid_argument,
             "[one_hot] on_value is {} and off_value {}; expected one dtype, or say dtype",
             on.dtype(), off.dtype());
  const DType d = o.dtype.defined() ? o.dtype
                  : on.defined()    ? on.dtype()
                  : off.defined()   ? off.dtype()
                                    : float32;
  const auto value = [&](const Tensor& given, int otherwise) {
    return given.defined() ? cast(given, d) : to_tensor(otherwise, d);
  };
  return one_hot(indices, depth, value(on, 1), value(off, 0), o.axis);
}
Tensor one_hot(const Operand& indices, const Operand& depth, const Operand& on_value,
               const Operand& off_value, int axis) {
  const ArgPair values(on_value, off_value);
  const Arg d(depth);
  RILL_CHECK(d->is_symbolic() || d->size() != 1 || d->item<std::int64_t>() <= INT32_MAX,
             invalid_argument, "[one_hot] depth is {}; expected at most {}",
             d->item<std::int64_t>(), INT32_MAX);
  return execute(one_hot_op, {Arg(indices), cast(*d, int32), values.first(), values.second()},
                 {{"axis", axis}});
}

Tensor sequence_mask(const Operand& lengths, DType dtype) {
  const Arg n(lengths);
  return sequence_mask(*n, maximum(largest(*n), 0), dtype);
}
Tensor sequence_mask(const Operand& lengths, const Operand& maxlen, DType dtype) {
  const Arg n(lengths), m(maxlen, n->dtype());
  RILL_CHECK(n->dtype().is_integer(), invalid_argument,
             "[sequence_mask] lengths have dtype {}; expected integers", n->dtype());
  RILL_CHECK(!m->shape().has_rank() || m->ndim() == 0, invalid_argument,
             "[sequence_mask] maxlen must be a scalar, got shape {}", m->shape());
  const Tensor places = range(1, cast(*m, n->dtype()) + 1);  // place i is kept when length >= i + 1
  const Tensor mask = greater_equal(expand_dims(*n, -1), cast(places, n->dtype()));
  return dtype == bool_ ? mask : cast(mask, dtype);
}

}  // namespace rill
