// Sums by segment, and what gradients of gathers become when they are made dense.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void segment_shape(ShapeContext& c) {
  const TensorShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank() || !ids.has_rank()) return unknown_shape(c);
  RILL_CHECK(ids.rank() <= data.rank(), invalid_argument, "[unsorted_segment_sum] segment_ids {} must be a prefix of data's shape {}", ids, data);
  for (int i = 0; i < ids.rank(); ++i) merge_dims(data.dim(i), ids.dim(i), c.tag(), format("sizes of axis {} of data and segment_ids", i));
  std::int64_t n = -1;
  c.input_as_int(2, &n);
  RILL_CHECK(n >= 0 || !c.input_value(2), invalid_argument, "[unsorted_segment_sum] num_segments is {}; expected 0 or more", n);
  Dims out{n};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data.dim(i));
  c.set_output(0, TensorShape(out));
}

// A negative id adds to no segment and gets no gradient.
void segment_grad(GradContext& g) {
  const Tensor ids = g.input(1);
  const Tensor rows = gather(g.dy(), maximum(ids, 0));
  Dims mask = ids.shape().dims();
  while (mask.size() < g.input_shape(0).size()) mask.push_back(1);
  const Tensor keep = cast(reshape(greater_equal(ids, 0), TensorShape(mask)), g.dy().dtype());
  g.set(0, rows * keep);
}

const Op& segment_op = OpBuilder("UnsortedSegmentSum", "unsorted_segment_sum")
                           .input("data: T").input("segment_ids: Tindices").input("num_segments: Tnumsegments").output("output: T")
                           .type("T", kNumericTypes).type("Tindices", kIndexTypes).type("Tnumsegments", kIndexTypes, int32)
                           .doc("output[i] is the sum of data[j] over all j with segment_ids[j] == i. Negative ids are dropped.")
                           .shape(segment_shape)
                           .gradient(segment_grad, "segment_ids")
                           .host("num_segments")
                           .define();

}  // namespace

Tensor unsorted_segment_sum(const Operand& data, const Operand& segment_ids, const Operand& num_segments) {
  return execute(segment_op, {Arg(data), Arg(segment_ids), Arg(num_segments)});
}

Tensor densify(const IndexedSlices& s) { return unsorted_segment_sum(s.values, s.indices, s.dense_shape.dim(0)); }

}  // namespace rill
