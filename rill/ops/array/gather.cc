// Rows picked by index. The gradient of a gather along axis 0 stays sparse.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void gather_shape(ShapeContext& c) {
  const TensorShape &params = c.input(0), &indices = c.input(1);
  std::int64_t axis_value = 0;
  if (!params.has_rank() || !indices.has_rank() || !c.input_as_int(2, &axis_value)) return unknown_shape(c);
  RILL_CHECK(params.rank() >= 1, invalid_argument, "[gather] params must have rank 1 or more, got a scalar");
  const int axis = normalize_axis(axis_value, params.rank(), c.tag());
  std::int64_t batch = c.int_attr("batch_dims");
  if (batch < 0) batch += indices.rank();
  RILL_CHECK(batch >= 0 && batch <= indices.rank() && batch <= axis, invalid_argument,
             "[gather] batch_dims {} must be at most axis {} and the rank of indices {}", batch, axis, indices.rank());
  for (int i = 0; i < batch; ++i) merge_dims(params.dim(i), indices.dim(i), c.tag(), format("batch sizes of axis {}", i));
  Dims out;
  for (int i = 0; i < axis; ++i) out.push_back(params.dim(i));
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.push_back(indices.dim(i));
  for (int i = axis + 1; i < params.rank(); ++i) out.push_back(params.dim(i));
  c.set_output(0, TensorShape(out));
}

void gather_grad(GradContext& g) {
  const TensorShape& shape = g.input_shape(0);
  const int axis = normalize_axis(g.input(2).item<std::int64_t>(), shape.rank(), "gather");
  const Tensor& indices = g.input(1);
  if (axis == 0 && g.int_attr("batch_dims") == 0) {
    // values: one row an index
    Dims rows = shape.dims();
    rows[0] = indices.size();
    g.set(0, IndexedSlices{reshape(g.dy(), TensorShape(rows)), reshape(indices, {-1}), shape});
    return;
  }
  RILL_CHECK(g.int_attr("batch_dims") == 0, unimplemented, "[gather] no gradient for batch_dims {}", g.int_attr("batch_dims"));
  // The picked axis first, summed by index, and back.
  const int rank = g.output_shape().rank();
  std::vector<int> to_front, back;
  for (int i = 0; i < indices.ndim(); ++i) to_front.push_back(axis + i);
  for (int i = 0; i < rank; ++i)
    if (i < axis || i >= axis + indices.ndim()) to_front.push_back(i);
  for (int i = 0; i < shape.rank(); ++i) back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  const Tensor sums = unsorted_segment_sum(transpose(g.dy(), to_front), indices, shape.dim(axis));
  g.set(0, transpose(sums, back));
}

const Op& gather_op = OpBuilder("GatherV2", "gather")
                          .input("params: Tparams").input("indices: Tindices").input("axis: Taxis").output("output: Tparams")
                          .attr("batch_dims: int = 0")
                          .type("Tparams", kAllTypes).type("Tindices", kIndexTypes).type("Taxis", kIndexTypes)
                          .doc("Slices of params along axis, picked by indices.")
                          .shape(gather_shape)
                          .gradient(gather_grad, "indices axis")
                          .host("axis")
                          .define();

}  // namespace

Tensor gather(const Operand& params, const Operand& indices, GatherOptions o) {
  return execute(gather_op, {Arg(params), Arg(indices), to_tensor(o.axis)}, {{"batch_dims", o.batch_dims}});
}
Tensor gather(const Operand& params, const Operand& indices, int axis) { return gather(params, indices, GatherOptions{.axis = axis}); }

}  // namespace rill
