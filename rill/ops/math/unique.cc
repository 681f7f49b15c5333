// Distinct values, and how often values come.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void unique_shape(ShapeContext& c) {
  require_rank(c, 0, 1, "x");
  const TensorShape some(Dims{-1});
  c.set_output(0, some);
  c.set_output(1, c.input(0).has_rank() ? c.input(0) : some);
  if (c.num_outputs() > 2) c.set_output(2, some);
}
const Op& unique_op = OpBuilder("Unique", "unique")
                          .input("x: T")
                          .output("y: T")
                          .output("idx: out_idx")
                          .type("T", kAllTypes)
                          .type("out_idx", kIndexTypes, int32)
                          .doc(
                              "The distinct elements of a vector in the order in which they come, "
                              "and for each element its place among them.")
                          .shape(unique_shape)
                          .no_gradient()
                          .define();
const Op& unique_with_counts_op = OpBuilder("UniqueWithCounts", "unique_with_counts")
                                      .input("x: T")
                                      .output("y: T")
                                      .output("idx: out_idx")
                                      .output("count: out_idx")
                                      .type("T", kAllTypes)
                                      .type("out_idx", kIndexTypes, int32)
                                      .doc("As Unique, and how often each distinct element comes.")
                                      .shape(unique_shape)
                                      .no_gradient()
                                      .define();

void bincount_shape(ShapeContext& c) {
  const TensorShape &in = c.input(0), &weights = c.input(2);
  require_rank(c, 1, 0, "size");
  std::int64_t size = -1;
  RILL_CHECK(!c.input_as_int(1, &size) || size >= 0, invalid_argument,
             "[bincount] size is {}; expected 0 or more", size);
  if (!in.has_rank()) return c.set_output(0, TensorShape::unknown_rank());
  RILL_CHECK(in.rank() == 1 || in.rank() == 2, invalid_argument,
             "[bincount] arr must have rank 1 or 2, got shape {}", in);
  RILL_CHECK(weights.num_elements() <= 0 || in.is_compatible_with(weights), invalid_argument,
             "[bincount] weights have shape {}, arr {}; expected equal shapes", weights, in);
  c.set_output(0, in.rank() == 1 ? TensorShape(Dims{size}) : TensorShape(Dims{in.dim(0), size}));
}
const Op& bincount_op = OpBuilder("DenseBincount", "bincount")
                            .input("input: Tidx")
                            .input("size: Tidx")
                            .input("weights: T")
                            .output("output: T")
                            .attr("binary_output: bool = false")
                            .type("Tidx", kIndexTypes)
                            .type("T", {int32, int64, float32, float64})
                            .doc(
                                "How often each of 0 .. size - 1 comes in a vector or in each row "
                                "of a matrix; with weights their sums. Larger values are left out.")
                            .shape(bincount_shape)
                            .no_gradient()
                            .host("size")
                            .define();

}  // namespace

UniqueResult unique(const Operand& x, DType out_idx) {
  auto out = execute_all(unique_op, {Arg(x)}, {{"out_idx", out_idx}});
  return {out[0], out[1]};
}
UniqueWithCountsResult unique_with_counts(const Operand& x, DType out_idx) {
  auto out = execute_all(unique_with_counts_op, {Arg(x)}, {{"out_idx", out_idx}});
  return {out[0], out[1], out[2]};
}

Tensor bincount(const Operand& input, BincountOptions o) {
  RILL_CHECK(o.axis == 0 || o.axis == -1, invalid_argument,
             "[bincount] axis is {}; expected 0 or -1", o.axis);
  RILL_CHECK(!o.weights.defined() || !o.binary_output, invalid_argument,
             "[bincount] weights and binary_output exclude each other; expected only one");
  Tensor arr = to_tensor(input);
  if (arr.dtype() != int64 && arr.dtype() != int32) arr = cast(arr, int32);
  const DType index = arr.dtype();
  const Tensor some = rill::size(arr) > 0;
  Tensor length = cast(some, index) * (reduce_max(arr) + 1);
  if (o.minlength >= 0) length = maximum(length, o.minlength);
  if (o.maxlength >= 0) length = minimum(length, o.maxlength);
  Tensor weights = o.weights.defined() ? o.weights : zeros({0}, o.dtype);
  if (o.axis == 0) {
    arr = reshape(arr, {-1});
    if (o.weights.defined()) weights = reshape(weights, {-1});
  }
  return execute(bincount_op, {arr, length, weights}, {{"binary_output", o.binary_output}});
}

}  // namespace rill
