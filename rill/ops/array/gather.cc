// Rows picked by index. The gradient of a gather along axis 0 stays sparse.
#include "rill/ops/array/gathered_rows_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void gather_shape(ShapeContext& c) {
  const TensorShape &params = c.input(0), &indices = c.input(1);
  std::int64_t axis_value = 0;
  if (!params.has_rank() || !indices.has_rank() || !c.input_as_int(2, &axis_value))
    return unknown_shape(c);
  RILL_CHECK(params.rank() >= 1, invalid_argument,
             "[gather] params must have rank 1 or more, got a scalar");
  const int axis = normalize_axis(axis_value, params.rank(), c.tag());
  std::int64_t batch = c.int_attr("batch_dims");
  if (batch < 0) batch += indices.rank();
  RILL_CHECK(batch >= 0 && batch <= indices.rank() && batch <= axis, invalid_argument,
             "[gather] batch_dims {} must be at most axis {} and the rank of indices {}", batch,
             axis, indices.rank());
  for (int i = 0; i < batch; ++i)
    merge_dims(params.dim(i), indices.dim(i), c.tag(), format("batch sizes of axis {}", i));
  Dims out;
  for (int i = 0; i < axis; ++i) out.push_back(params.dim(i));
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.push_back(indices.dim(i));
  for (int i = axis + 1; i < params.rank(); ++i) out.push_back(params.dim(i));
  c.set_output(0, TensorShape(out));
}

void gather_grad(GradContext& g) {
  const TensorShape& shape = g.input_shape(0);
  const Tensor& indices = g.input(1);
  const bool rows_of_all = value_known(g.input(2)) && g.input(2).item<std::int64_t>() == 0 &&
                           g.int_attr("batch_dims") == 0;
  if (rows_of_all && shape.is_fully_defined())
    return g.set(0, gathered_rows(g.dy(), indices, shape));
  if (rows_of_all)
    return g.set(0, unsorted_segment_sum(g.dy(), indices, g.input_shape_tensor(0)[0]));
  RILL_CHECK(value_known(g.input(2)) && shape.has_rank() && indices.shape().has_rank(),
             unimplemented,
             "[gather] the gradient along another axis than 0 needs the axis and the ranks of "
             "params ({}) and indices ({}) while it is traced",
             shape, indices.shape());
  const int axis = normalize_axis(g.input(2).item<std::int64_t>(), shape.rank(), "gather");
  // dy is [batch.., outer.., picked.., inner..]. With batch and picked first it
  // is summed by place (batch entry, index), and its axes go back.
  const int picked_axes = static_cast<int>(indices.ndim());
  int batch = static_cast<int>(g.int_attr("batch_dims"));
  if (batch < 0) batch += picked_axes;
  const int rank = g.output_shape().rank(), picked = picked_axes - batch;
  std::vector<int> to_front, back;
  auto add = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) to_front.push_back(i);
  };
  add(0, batch), add(axis, axis + picked), add(batch, axis), add(axis + picked, rank);
  const Tensor sizes = g.input_shape_tensor(0);
  Tensor places = cast(indices, int64), count = cast(sizes[axis], int64);
  if (batch > 0) {
    Tensor entry = zeros({}, int64), entries = ones({}, int64);
    for (int i = 0; i < batch; ++i) {
      std::vector<int> line(static_cast<std::size_t>(picked_axes), 1);
      line[static_cast<std::size_t>(i)] = -1;
      const Tensor n = cast(sizes[i], int64);
      entry = entry * n + reshape(range(n), constant(line));
      entries = entries * n;
    }
    places = places + entry * count;
    count = count * entries;
  }
  const Tensor sums = unsorted_segment_sum(transpose(g.dy(), to_front), places, count);
  // [batch * size, outer.., inner..] -> [batch.., size, outer.., inner..] -> as params
  for (int i = 0; i < shape.rank(); ++i)
    back.push_back(i < batch ? i : i < axis ? i + 1 : i == axis ? batch : i);
  const Tensor whole = concat({sizes(slice(0, batch)), sizes(slice(axis, axis + 1)),
                               sizes(slice(batch, axis)), sizes(slice(axis + 1, None))},
                              0);
  g.set(0, transpose(reshape(sums, whole), back));
}

const Op& gather_op = OpBuilder("GatherV2", "gather")
                          .input("params: Tparams")
                          .input("indices: Tindices")
                          .input("axis: Taxis")
                          .output("output: Tparams")
                          .attr("batch_dims: int = 0")
                          .type("Tparams", kAllTypes)
                          .type("Tindices", kIndexTypes)
                          .type("Taxis", kIndexTypes)
                          .doc("Slices of params along axis, picked by indices.")
                          .shape(gather_shape)
                          .gradient(gather_grad, "indices axis")
                          .host("axis")
                          .define();

}  // namespace

Tensor gather(const Operand& params, const Operand& indices, GatherOptions o) {
  return execute(gather_op, {Arg(params), Arg(indices), to_tensor(o.axis)},
                 {{"batch_dims", o.batch_dims}});
}
Tensor gather(const Operand& params, const Operand& indices, int axis) {
  return gather(params, indices, GatherOptions{.axis = axis});
}

}  // namespace rill
