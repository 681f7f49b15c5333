// Sparse tensors are three dense ones, so all of this is composed of ops on those.
#include <algorithm>
#include <ostream>
#include <span>

#include "rill/base/check.h"
#include "rill/core/composite_printer.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/sparse/sparse_impl.h"

namespace rill {

SparseTensor::SparseTensor(const Operand& i, const Operand& v, const Operand& s)
    : indices(to_tensor(i, int64)), values(convert_to_tensor(v)), dense_shape(to_tensor(s, int64)) {
  RILL_CHECK(indices.ndim() == 2 && values.ndim() == 1 && dense_shape.ndim() == 1, invalid_argument,
             "[SparseTensor] indices have shape {}, values {}, dense_shape {}; expected [n, rank], "
             "[n] and [rank]",
             indices.shape(), values.shape(), dense_shape.shape());
  // In a graph sizes may be unknown.
  const auto same = [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; };
  RILL_CHECK(same(indices.shape().dim(0), values.shape().dim(0)), invalid_argument,
             "[SparseTensor] {} coordinates for {} values", indices.shape().dim(0),
             values.shape().dim(0));
  RILL_CHECK(same(indices.shape().dim(1), dense_shape.shape().dim(0)), invalid_argument,
             "[SparseTensor] coordinates have {} numbers each, dense_shape {}",
             indices.shape().dim(1), dense_shape.shape().dim(0));
}

TensorShape SparseTensor::shape() const {
  if (!dense_shape.is_symbolic() || dense_shape.impl()->symbol->known_value())
    return TensorShape(Dims(as_dims(dense_shape, "SparseTensor")));
  TensorShape known = dense_shape.impl()->symbol->known_sizes();
  if (known.has_rank()) return known;
  const TensorShape& at = indices.shape();
  return at.has_rank() && at.dim(1) >= 0 ? TensorShape::unknown_dims(static_cast<int>(at.dim(1)))
                                         : TensorShape::unknown_rank();
}

Nest SparseTensor::to_nest() const {
  return Nest::composite("sparse", {indices, values, dense_shape});
}
SparseTensor SparseTensor::from_nest(const Nest& nest) {
  RILL_CHECK(nest.composite_kind() == "sparse", invalid_argument,
             "[SparseTensor] expected a sparse tensor, got {}", nest.to_string());
  SparseTensor t;
  t.indices = nest.part(0).as_tensor();
  t.values = nest.part(1).as_tensor();
  t.dense_shape = nest.part(2).as_tensor();
  return t;
}
SparseTensor Nest::as_sparse() const { return as<SparseTensor>(); }

std::ostream& operator<<(std::ostream& os, const SparseTensor& t) {
  return os << "SparseTensor(indices=" << t.indices << ", values=" << t.values
            << ", dense_shape=" << t.dense_shape << ')';
}

namespace {
[[maybe_unused]] const bool sparse_printed = register_composite_printer(
    "sparse", [](std::ostream& os, const Nest& n) { os << SparseTensor::from_nest(n); });
}  // namespace

SparseTensor cast(const SparseTensor& x, DType dtype) {
  SparseTensor out = x;
  out.values = cast(x.values, dtype);
  return out;
}
IndexedSlices cast(const IndexedSlices& x, DType dtype) {
  return {cast(x.values, dtype), x.indices, x.dense_shape};
}

namespace {

// Coordinates inside the shape, in the order of a dense tensor, none twice.
void check_coordinates(const SparseTensor& sp, const char* tag) {
  if (!sp.indices.defined() || sp.indices.is_symbolic() || sp.dense_shape.is_symbolic()) return;
  const auto at = sp.indices.to_vector<std::int64_t>(),
             shape = sp.dense_shape.to_vector<std::int64_t>();
  const std::size_t rank = shape.size(), n = rank ? at.size() / rank : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = std::span(at).subspan(i * rank, rank);
    for (std::size_t k = 0; k < rank; ++k)
      RILL_CHECK(row[k] >= 0 && row[k] < shape[k], invalid_argument,
                 "[{}] indices[{}] = {} is not inside shape {}", tag, i, sp.indices[i].to_string(),
                 sp.dense_shape.to_string());
    if (i == 0) continue;
    const auto before = std::span(at).subspan((i - 1) * rank, rank);
    RILL_CHECK(!std::ranges::equal(before, row), invalid_argument,
               "[{}] indices[{}] = {} is repeated", tag, i, sp.indices[i].to_string());
    RILL_CHECK(std::ranges::lexicographical_compare(before, row), invalid_argument,
               "[{}] indices[{}] = {} is out of order; use tf::sparse::reorder", tag, i,
               sp.indices[i].to_string());
  }
}

}  // namespace

namespace sparse {

SparseTensor from_dense(const Operand& tensor) {
  const Tensor t = convert_to_tensor(tensor);
  RILL_CHECK(t.ndim() > 0, invalid_argument,
             "[sparse.from_dense] a scalar has no coordinates; expected rank 1 or more");
  const Tensor at = where(t.dtype() == bool_ ? t : not_equal(t, zeros_like(t)));
  return SparseTensor(at, gather_nd(t, at), rill::shape(t, int64));
}

Tensor to_dense(const SparseTensor& sp, const Operand& default_value) {
  check_coordinates(sp, "sparse.to_dense");
  const Tensor background = fill(sp.dense_shape, to_tensor(default_value, sp.dtype()));
  return tensor_scatter_nd_update(background, sp.indices, sp.values);
}

SparseTensor reorder(const SparseTensor& sp) {
  const Tensor order =
      argsort(linear_places(sp.indices, sp.dense_shape), -1, "ASCENDING", {.stable = true});
  return SparseTensor(gather(sp.indices, order), gather(sp.values, order), sp.dense_shape);
}

}  // namespace sparse
}  // namespace rill
