// Rows sent to one of several tensors, and put together again.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// ---- partition
void partition_shape(ShapeContext& c) {
  const TensorShape &data = c.input(0), &parts = c.input(1);
  RILL_CHECK(c.num_outputs() >= 1, invalid_argument,
             "[{}] num_partitions is {}; expected 1 or more", c.tag(), c.num_outputs());
  if (!data.has_rank() || !parts.has_rank()) return unknown_shape(c);
  RILL_CHECK(parts.rank() <= data.rank(), invalid_argument,
             "[{}] partitions has shape {}, data {}; expected the first axes of data", c.tag(),
             parts, data);
  for (int i = 0; i < parts.rank(); ++i)
    merge_dims(data.dim(i), parts.dim(i), c.tag(),
               format("sizes of axis {} of data and partitions", i));
  Dims out{-1};
  for (int i = parts.rank(); i < data.rank(); ++i) out.push_back(data.dim(i));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape(out));
}
// The numbers of the rows take the same ways, and tell where the gradients belong.
void partition_grad(GradContext& g) {
  const Tensor& parts = g.input(1);
  const auto n = static_cast<int>(g.int_attr("num_partitions"));
  const Tensor rows = reshape(range(size(parts)), sizes_of(parts));
  std::vector<Tensor> dy;
  for (int i = 0; i < n; ++i) dy.push_back(g.dy(i));
  g.set(0, reshape(dynamic_stitch(dynamic_partition(rows, parts, n), dy), g.input_shape_tensor(0)));
}
const Op& partition_op = OpBuilder("DynamicPartition", "dynamic_partition")
                             .input("data: T")
                             .input("partitions: int32")
                             .output("outputs: num_partitions * T")
                             .type("T", kAllTypes)
                             .doc("The rows of data, each in the tensor that partitions names.")
                             .shape(partition_shape)
                             .gradient(partition_grad, "partitions")
                             .define();

// ---- stitch
void stitch_shape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  RILL_CHECK(n >= 1, invalid_argument, "[{}] needs at least one pair of indices and data", c.tag());
  TensorShape row;
  for (int i = 0; i < n; ++i) {
    const TensorShape &index = c.input(i), &data = c.input(n + i);
    if (!index.has_rank() || !data.has_rank()) continue;
    RILL_CHECK(index.rank() <= data.rank(), invalid_argument,
               "[{}] indices[{}] has shape {}, data[{}] {}; expected the first axes of data",
               c.tag(), i, index, i, data);
    for (int k = 0; k < index.rank(); ++k)
      RILL_CHECK(index.dim(k) < 0 || data.dim(k) < 0 || index.dim(k) == data.dim(k),
                 invalid_argument,
                 "[{}] indices[{}] has shape {}, data[{}] {}; expected the first axes of data",
                 c.tag(), i, index, i, data);
    Dims rest;
    for (int k = index.rank(); k < data.rank(); ++k) rest.push_back(data.dim(k));
    const TensorShape mine(rest);
    RILL_CHECK(mine.is_compatible_with(row), invalid_argument,
               "[{}] the rows of data[{}] have shape {}, those before {}; expected equal shapes",
               c.tag(), i, mine, row);
    row = row.has_rank() ? merge_shapes(row, mine) : mine;
  }
  if (!row.has_rank()) return unknown_shape(c);
  Dims out{-1};  // the largest index says how many
  for (std::int64_t d : row.dims()) out.push_back(d);
  c.set_output(0, TensorShape(out));
}
void stitch_grad(GradContext& g) {
  const int n = g.num_inputs() / 2;
  for (int i = 0; i < n; ++i)
    if (g.needs(n + i)) g.set(n + i, gather(g.dy(), g.input(i)));
}
OpBuilder stitch(const char* name) {
  OpBuilder b(name, "dynamic_stitch");
  b.input("indices: N * int32")
      .input("data: N * T")
      .output("merged: T")
      .type("T", kAllTypes)
      .shape(stitch_shape)
      .gradient(stitch_grad, "indices data");  // of two lists a tape keeps both or none
  return b;
}
const Op& stitch_op = stitch("DynamicStitch")
                          .doc(
                              "One tensor of rows at given places; of two rows at one place the "
                              "last, zeros at a place without one.")
                          .define();
[[maybe_unused]] const Op& parallel_stitch_op =
    stitch("ParallelDynamicStitch").doc("DynamicStitch where no place is named twice.").define();

}  // namespace

std::vector<Tensor> dynamic_partition(const Operand& data, const Operand& partitions,
                                      int num_partitions) {
  const Arg d(data), p(partitions, int32);
  const std::vector<In> in{*d, *p};
  const Attr n{"num_partitions", num_partitions};
  RILL_CHECK(num_partitions >= 1, invalid_argument,
             "[dynamic_partition] num_partitions is {}; expected 1 or more", num_partitions);
  return execute_all(partition_op, in, AttrList(&n, 1), num_partitions);
}
Tensor dynamic_stitch(const TensorList& indices, const TensorList& data) {
  RILL_CHECK(indices.size() == data.size(), invalid_argument,
             "[dynamic_stitch] {} indices and {} data; expected as many", indices.size(),
             data.size());
  std::vector<In> in;
  for (const TensorList* list : {&indices, &data})
    for (const Tensor& t : list->tensors()) in.push_back(t);
  return execute(stitch_op, in, {});
}

}  // namespace rill
