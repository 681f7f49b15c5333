// Tensors from literals and from vectors.
#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

Tensor shaped(Tensor t, const TensorShape& shape) {
  if (!shape.has_rank()) return t;
  if (t.size() == 1 && shape.num_elements() != 1) return fill(shape, reshape(t, {}));
  RILL_CHECK(t.size() == shape.num_elements(), invalid_argument,
             "[constant] {} elements do not fill shape {}", t.size(), shape);
  return reshape(t, shape);
}

}  // namespace

void detail::require_row(std::size_t size, std::size_t first) {
  RILL_CHECK(size == first, invalid_argument,
             "[constant] ragged list: rows of {} and {} elements; all must have one length", first,
             size);
}

Tensor constant(const Operand& value, DType dtype, const TensorShape& shape) {
  return shaped(convert_to_tensor(value, dtype), shape);
}
Tensor constant(std::initializer_list<Operand> value, DType dtype, const TensorShape& shape) {
  return shaped(convert_to_tensor(value, dtype), shape);
}

template <class T>
Tensor constant(const std::vector<T>& value, DType dtype, const TensorShape& shape) {
  const auto n = static_cast<std::int64_t>(value.size());
  // In its shape from the start: a graph that is being traced then sees a value and no op.
  const bool fits = shape.has_rank() && shape.num_elements() == n;
  Tensor t = make_tensor(dtype_of<T>(), fits ? shape : TensorShape(Dims{n}));
  std::copy(value.begin(), value.end(), mutable_data<T>(t));
  if (dtype.defined() && dtype != t.dtype()) t = cast(t, dtype);
  return fits ? t : shaped(t, shape);
}
#define RILL_INSTANTIATE(T) \
  template RILL_API Tensor constant<T>(const std::vector<T>&, DType, const TensorShape&);
RILL_INSTANTIATE(float)
RILL_INSTANTIATE(double)
RILL_INSTANTIATE(std::int8_t)
RILL_INSTANTIATE(std::int16_t)
RILL_INSTANTIATE(std::int32_t)
RILL_INSTANTIATE(std::int64_t)
RILL_INSTANTIATE(std::uint8_t)
RILL_INSTANTIATE(std::uint16_t)
RILL_INSTANTIATE(std::uint32_t)
RILL_INSTANTIATE(std::uint64_t)
RILL_INSTANTIATE(bool)
RILL_INSTANTIATE(std::string)
RILL_INSTANTIATE(std::complex<float>)
RILL_INSTANTIATE(std::complex<double>)

Tensor convert_to_tensor(const Operand& value, DType dtype) {
  const Tensor t = to_tensor(value, dtype);
  RILL_CHECK(!dtype.defined() || t.dtype() == dtype, invalid_argument,
             "[convert_to_tensor] the tensor is {}, asked for {}; write tf::cast(x, tf::{})",
             t.dtype(), dtype, dtype);
  return t;
}
Tensor convert_to_tensor(std::initializer_list<Operand> value, DType dtype) {
  return convert_to_tensor(Operand(value), dtype);
}

}  // namespace rill
