// Places where a condition holds.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void where_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  c.set_output(0, TensorShape(Dims{-1, in.has_rank() ? in.rank() : -1}));
}
const Op& where_op =
    OpBuilder("Where", "where")
        .input("input: T")
        .output("index: int64")
        .type("T", kPlainTypes, bool_)
        .doc("The coordinates of the elements that are not zero, one row each, in row-major order.")
        .shape(where_shape)
        .no_gradient()
        .define();

}  // namespace

Tensor where(const Operand& condition) { return execute(where_op, {Arg(condition)}); }

Tensor boolean_mask(const Operand& tensor, const Operand& mask, int axis) {
  const Arg t(tensor), m(mask);
  RILL_CHECK(m->dtype() == bool_, invalid_argument,
             "[boolean_mask] mask has dtype {}; expected bool", m->dtype());
  RILL_CHECK(t->shape().has_rank() && m->shape().has_rank(), invalid_argument,
             "[boolean_mask] ranks must be known, got shapes {} and {}", t->shape(), m->shape());
  RILL_CHECK(m->ndim() >= 1, invalid_argument,
             "[boolean_mask] mask must have rank 1 or more, got a scalar");
  const int at = normalize_axis(axis, t->ndim(), "boolean_mask");
  RILL_CHECK(at + m->ndim() <= t->ndim(), invalid_argument,
             "[boolean_mask] mask of shape {} does not fit shape {} from axis {}", m->shape(),
             t->shape(), at);
  for (int i = 0; i < m->ndim(); ++i)
    RILL_CHECK(m->shape().dim(i) < 0 || t->shape().dim(at + i) < 0 ||
                   m->shape().dim(i) == t->shape().dim(at + i),
               invalid_argument,
               "[boolean_mask] mask of shape {} does not fit shape {} from axis {}", m->shape(),
               t->shape(), at);
  // The masked axes become one, of which rows are picked.
  Tensor flat = *t;
  if (m->ndim() > 1) {
    const TensorShape& s = t->shape();
    if (s.is_fully_defined()) {
      Dims dims;
      for (int i = 0; i < at; ++i) dims.push_back(s.dim(i));
      dims.push_back(m->size());
      for (int i = at + m->ndim(); i < s.rank(); ++i) dims.push_back(s.dim(i));
      flat = reshape(*t, TensorShape(dims));
    } else {
      const Tensor sizes = rill::shape(*t);
      flat = reshape(*t, concat({sizes(slice(0, at)), reshape(size(*m), {1}),
                                 sizes(slice(at + m->ndim(), None))},
                                0));
    }
  }
  return gather(flat, squeeze(where(reshape(*m, {-1})), 1), at);
}

}  // namespace rill
