// Places in sorted rows, and counts by bins of equal width.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// ---- LowerBound and UpperBound: rows of both inputs belong together
void bound_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "sorted_inputs");
  require_rank(c, 1, 2, "values");
  if (c.input(0).has_rank() && c.input(1).has_rank())
    merge_dims(c.input(0).dim(0), c.input(1).dim(0), c.tag(),
               "the numbers of rows of sorted_inputs and values");
  c.set_output(0, c.input(1).has_rank() ? c.input(1) : TensorShape::unknown_dims(2));
}
OpBuilder bound(const char* name) {
  OpBuilder b(name, "searchsorted");
  b.input("sorted_inputs: T")
      .input("values: T")
      .output("output: out_type")
      .type("T", kRealTypes)
      .type("out_type", kIndexTypes, int32)
      .shape(bound_shape)
      .no_gradient();
  return b;
}
const Op& lower_bound_op =
    bound("LowerBound").doc("The first place of a sorted row that is not below a value.").define();
const Op& upper_bound_op =
    bound("UpperBound").doc("The first place of a sorted row that is above a value.").define();

// ---- histograms
void histogram_shape(ShapeContext& c) {
  RILL_CHECK(!c.input(1).is_fully_defined() || c.input(1) == TensorShape({2}), invalid_argument,
             "[{}] value_range has shape {}; expected two numbers", c.tag(), c.input(1));
  require_rank(c, 2, 0, "nbins");
  std::int64_t n = -1;
  if (c.input_as_int(2, &n))
    RILL_CHECK(n > 0, invalid_argument, "[{}] nbins is {}; expected 1 or more", c.tag(), n);
  c.set_output(0, TensorShape(Dims{n}));
}
const Op& histogram_op = OpBuilder("HistogramFixedWidth", "histogram_fixed_width")
                             .input("values: T")
                             .input("value_range: T")
                             .input("nbins: int32")
                             .output("out: dtype")
                             .type("T", {int32, int64, float32, float64})
                             .type("dtype", kIndexTypes, int32)
                             .doc(
                                 "How many values fall into each of nbins equal parts of a range; "
                                 "what is outside goes into the first or the last.")
                             .shape(histogram_shape)
                             .no_gradient()
                             .host("nbins")
                             .define();

// [.., n] as [rows, n].
Tensor as_rows(const Tensor& t) {
  if (t.shape().has_rank() && t.shape().rank() == 2) return t;
  const Tensor sizes = sizes_of(t);
  return reshape(t, stack({constant(-1, sizes.dtype()), sizes[-1]}));
}

}  // namespace

Tensor searchsorted(const Operand& sorted_sequence, const Operand& values, std::string_view side,
                    DType out_type) {
  const ArgPair p(sorted_sequence, values);
  const Tensor &s = p.first(), &v = p.second();
  RILL_CHECK(side == "left" || side == "right", invalid_argument,
             "[searchsorted] side is \"{}\"; expected \"left\" or \"right\"", side);
  for (const Tensor* t : {&s, &v})
    RILL_CHECK(!t->shape().has_rank() || t->ndim() >= 1, invalid_argument,
               "[searchsorted] {} is a scalar; expected rank 1 or more",
               t == &s ? "sorted_sequence" : "values");
  const Tensor out = execute(side == "left" ? lower_bound_op : upper_bound_op,
                             {as_rows(s), as_rows(v)}, {{"out_type", out_type}});
  return reshape(out, sizes_of(v));
}

Tensor histogram_fixed_width(const Operand& values, const Operand& value_range,
                             const Operand& nbins, DType dtype) {
  const Arg v(values);
  return execute(histogram_op, {*v, Arg(value_range, v->dtype()), Arg(nbins, int32)},
                 {{"dtype", dtype}});
}
Tensor histogram_fixed_width_bins(const Operand& values, const Operand& value_range,
                                  const Operand& nbins, DType dtype) {
  const Arg v(values);
  const Arg range(value_range, v->dtype()), bins(nbins, int32);
  const Tensor scaled = truediv(*v - (*range)[0], (*range)[1] - (*range)[0]),
               n = cast(*bins, scaled.dtype());
  const Tensor index = floor(n * scaled);
  return cast(minimum(maximum(index, zeros_like(n)), n - 1), dtype);
}

}  // namespace rill
