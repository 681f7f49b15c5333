// NumPy's array functions, by the ops.
#include "rill/ops/np.h"

#include <cmath>

#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill::np {
namespace {

// Whether the leaves of a literal are integers and floats; tensors are neither.
bool holds(const Operand& x, Operand::Kind kind) {
  if (x.kind() != Operand::Kind::list) return x.kind() == kind;
  for (const Operand& e : x)
    if (holds(e, kind)) return true;
  return false;
}
DType natural(const Operand& x) {
  if (!x.is_literal()) return {};
  if (holds(x, Operand::Kind::tensor) || holds(x, Operand::Kind::variable)) return {};
  if (holds(x, Operand::Kind::floating)) return float64;
  if (holds(x, Operand::Kind::integer) || x.kind() == Operand::Kind::shape) return int64;
  return x.kind() == Operand::Kind::list && !holds(x, Operand::Kind::text) &&
                 !holds(x, Operand::Kind::boolean)
             ? float64
             : DType();
}
Tensor as_array(const Operand& x) { return to_tensor(x, natural(x)).cpu(); }

}  // namespace

Tensor array(const Operand& value, DType dtype) {
  const Tensor t = as_array(value);
  return dtype.defined() && t.dtype() != dtype ? cast(t, dtype) : t;
}
Tensor array(std::initializer_list<Operand> value, DType dtype) {
  return array(Operand(value), dtype);
}
template <class T>
Tensor array(const std::vector<T>& value, DType dtype) {
  return constant(value, dtype);
}
#define RILL_INSTANTIATE(T) template RILL_API Tensor array<T>(const std::vector<T>&, DType);
RILL_INSTANTIATE(float)
RILL_INSTANTIATE(double)
RILL_INSTANTIATE(std::uint8_t)
RILL_INSTANTIATE(std::int32_t)
RILL_INSTANTIATE(std::int64_t)
RILL_INSTANTIATE(bool)
RILL_INSTANTIATE(std::string)

Tensor zeros(const Operand& shape, DType dtype) { return rill::zeros(shape, dtype); }
Tensor ones(const Operand& shape, DType dtype) { return rill::ones(shape, dtype); }
Tensor arange(const Operand& stop) { return arange(0, stop, 1); }
Tensor arange(const Operand& start, const Operand& stop, const Operand& step) {
  const Tensor a = as_array(start), b = as_array(stop), c = as_array(step);
  const DType d = a.dtype().is_floating() || b.dtype().is_floating() || c.dtype().is_floating()
                      ? float64
                      : int64;
  return range(cast(a, d), cast(b, d), cast(c, d), d);
}
Tensor linspace(double start, double stop, std::int64_t num) {
  RILL_CHECK(num >= 0, invalid_argument, "[np.linspace] num is {}; expected 0 or more", num);
  Tensor t = make_tensor(float64, TensorShape(Dims{num}));
  const double step = num > 1 ? (stop - start) / static_cast<double>(num - 1) : 0;
  for (std::int64_t i = 0; i < num; ++i)
    mutable_data<double>(t)[i] = static_cast<double>(i) * step + start;
  if (num > 1) mutable_data<double>(t)[num - 1] = stop;
  return t;
}

TensorShape shape(const Operand& a) { return as_array(a).shape(); }
Tensor reshape(const Operand& a, const Operand& shape) { return rill::reshape(as_array(a), shape); }
Tensor expand_dims(const Operand& a, int axis) { return rill::expand_dims(as_array(a), axis); }
Tensor concatenate(const TensorList& arrays, int axis) { return concat(arrays, axis); }
Tensor astype(const Operand& a, DType dtype) { return cast(as_array(a), dtype); }
Tensor take(const Operand& a, const Operand& indices) {
  return gather(as_array(a), to_tensor(indices, int64));
}

Tensor min(const Operand& a) { return reduce_min(as_array(a)); }
Tensor max(const Operand& a) { return reduce_max(as_array(a)); }
Tensor sum(const Operand& a) { return reduce_sum(as_array(a)); }
Tensor min(const Operand& a, int axis) { return reduce_min(as_array(a), axis); }
Tensor max(const Operand& a, int axis) { return reduce_max(as_array(a), axis); }
Tensor sum(const Operand& a, int axis) { return reduce_sum(as_array(a), axis); }
namespace {
Tensor fractional(const Operand& a) {
  const Tensor t = as_array(a);
  return t.dtype().is_floating() || t.dtype().is_complex() ? t : cast(t, float64);
}
}  // namespace
Tensor mean(const Operand& a) { return reduce_mean(fractional(a)); }
Tensor mean(const Operand& a, int axis) { return reduce_mean(fractional(a), axis); }

namespace {
Tensor ordered(const Operand& a) {
  const Tensor t = as_array(a);
  return t.dtype() == bool_ ? cast(t, uint8) : t;
}
}  // namespace
Tensor argmax(const Operand& a) { return np::argmax(rill::reshape(ordered(a), {-1}), 0); }
// A NaN counts as the largest.
Tensor argmax(const Operand& a, int axis) {
  const Tensor t = ordered(a), largest = rill::argmax(t, axis);
  if (!t.dtype().is_floating()) return largest;
  const Tensor nan = is_nan(t);
  return where(reduce_any(nan, axis), rill::argmax(cast(nan, uint8), axis), largest);
}

Tensor multiply(const Operand& a, const Operand& b) { return rill::multiply(a, b); }
Tensor divide(const Operand& a, const Operand& b) {
  const ArgPair p(a, b);
  return rill::divide(fractional(p.first()), fractional(p.second()));
}
Tensor matmul(const Operand& a, const Operand& b) {
  const ArgPair p(a, b);
  Tensor x = p.first(), y = p.second();
  RILL_CHECK(x.ndim() > 0 && y.ndim() > 0, invalid_argument,
             "[np.matmul] of shapes {} and {}; expected no scalar. Use np::multiply", x.shape(),
             y.shape());
  const bool row = x.ndim() == 1, column = y.ndim() == 1;
  if (row) x = rill::expand_dims(x, 0);
  if (column) y = rill::expand_dims(y, -1);
  Tensor z = rill::matmul(x, y);
  if (column) z = squeeze(z, {-1});
  return row ? squeeze(z, {column ? -1 : -2}) : z;
}
Tensor dot(const Operand& a, const Operand& b) {
  const ArgPair p(a, b);
  if (p.first().ndim() == 1 && p.second().ndim() == 1) {
    RILL_CHECK(p.first().size() == p.second().size(), invalid_argument,
               "[np.dot] vectors of {} and {} elements; expected equal lengths", p.first().size(),
               p.second().size());
    return reduce_sum(p.first() * p.second());
  }
  if (p.first().ndim() == 0 || p.second().ndim() == 0) return p.first() * p.second();
  if (p.second().ndim() == 1)
    return squeeze(rill::matmul(p.first(), rill::expand_dims(p.second(), 1)), -1);
  return rill::matmul(p.first(), p.second());
}
bool allclose(const Operand& a, const Operand& b, double rtol, double atol) {
  const Tensor x = cast(as_array(a), float64), y = cast(as_array(b), float64);
  const Tensor near = less_equal(abs(x - y), atol + rtol * abs(y));
  return static_cast<bool>(reduce_all(logical_or(near, equal(x, y))));
}

}  // namespace rill::np
