// Rows joined by the id that they carry, and what gradients of gathers become
// when they are made dense.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// ---- schemas. Sorted ops have no num_segments: the last id says how many.
void sorted_shape(ShapeContext& c) {
  const TensorShape &data = c.input(0), &ids = c.input(1);
  require_rank(c, 1, 1, "segment_ids");
  if (!data.has_rank()) return unknown_shape(c);
  RILL_CHECK(data.rank() >= 1, invalid_argument, "[{}] data must have rank 1 or more, got a scalar",
             c.tag());
  if (ids.has_rank())
    merge_dims(data.dim(0), ids.dim(0), c.tag(), "the number of rows of data and of segment_ids");
  TensorShape out = data;
  out.set_dim(0, -1);
  c.set_output(0, out);
}
OpBuilder sorted_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("data: T").input("segment_ids: Tindices").output("output: T");
  b.type("T", types).type("Tindices", kIndexTypes).shape(sorted_shape);
  return b;
}

void unsorted_shape(ShapeContext& c) {
  const TensorShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank() || !ids.has_rank()) return unknown_shape(c);
  RILL_CHECK(ids.rank() <= data.rank(), invalid_argument,
             "[{}] segment_ids {} must be a prefix of data's shape {}", c.tag(), ids, data);
  for (int i = 0; i < ids.rank(); ++i)
    merge_dims(data.dim(i), ids.dim(i), c.tag(),
               format("sizes of axis {} of data and segment_ids", i));
  std::int64_t n = -1;
  c.input_as_int(2, &n);
  RILL_CHECK(n >= 0 || !c.input_value(2), invalid_argument,
             "[{}] num_segments is {}; expected 0 or more", c.tag(), n);
  Dims out{n};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data.dim(i));
  c.set_output(0, TensorShape(out));
}
OpBuilder unsorted_op(std::string_view name, std::string_view tag, TypeSet types) {
  OpBuilder b(name, tag);
  b.input("data: T")
      .input("segment_ids: Tindices")
      .input("num_segments: Tnumsegments")
      .output("output: T");
  b.type("T", types)
      .type("Tindices", kIndexTypes)
      .type("Tnumsegments", kIndexTypes, int32)
      .shape(unsorted_shape)
      .host("num_segments");
  return b;
}

// ---- gradients, for both kinds. A negative id (unsorted) joins no segment and
// gets no gradient.
bool is_sorted(GradContext& g) { return g.num_inputs() == 2; }

// One value an id, with axes of size 1 so that it broadcasts with data.
Tensor with_axes_of_data(GradContext& g, Tensor t) {
  if (!g.input_shape(0).has_rank() || !t.shape().has_rank()) {
    const Tensor more = size(g.input_shape_tensor(0)) - rank(t);
    return reshape(t, concat({shape(t), fill(reshape(more, {1}), 1)}, 0));
  }
  for (int i = t.ndim(); i < g.input_shape(0).rank(); ++i) t = expand_dims(t, -1);
  return t;
}
// Which rows of data count, of a shape that broadcasts with data.
Tensor counted_rows(GradContext& g) {
  const Tensor& ids = g.input(1);
  return with_axes_of_data(g, greater_equal(ids, 0));
}
// To each row of data the row of its segment; 0 without one.
Tensor spread(GradContext& g, const Tensor& segments) {
  const Tensor& ids = g.input(1);
  if (is_sorted(g)) return gather(segments, ids);
  const Tensor rows = gather(segments, maximum(ids, 0));
  return where(counted_rows(g), rows, zeros_like(rows));
}
Tensor sums(GradContext& g, const Tensor& data) {
  return is_sorted(g) ? segment_sum(data, g.input(1))
                      : unsorted_segment_sum(data, g.input(1), g.input(2));
}
Tensor products(GradContext& g, const Tensor& data) {
  return is_sorted(g) ? segment_prod(data, g.input(1))
                      : unsorted_segment_prod(data, g.input(1), g.input(2));
}

void segment_sum_grad(GradContext& g) { g.set(0, spread(g, g.dy())); }

void segment_mean_grad(GradContext& g) {
  const Tensor ones = with_axes_of_data(g, ones_like(g.input(1), g.dy().dtype()));
  g.set(0, spread(g, g.dy() / maximum(sums(g, ones), 1)));
}

// Elements that tie share the gradient.
void extreme_grad(GradContext& g) {
  Tensor winners = equal(g.input(0), spread(g, g.output()));
  if (!is_sorted(g)) winners = logical_and(winners, counted_rows(g));
  const Tensor weights = cast(winners, g.dy().dtype());
  g.set(0, weights * spread(g, divide_no_nan(g.dy(), sums(g, weights))));
}

// The product of the others: product / x; beside a single 0 only that one gets some.
void prod_grad(GradContext& g) {
  const Tensor &x = g.input(0), zero = equal(x, zeros_like(x)), one = ones_like(x);
  const Tensor zeros_of = sums(g, cast(zero, int32));
  const Tensor dy = where(greater(zeros_of, 1), zeros_like(g.dy()), g.dy());
  const Tensor rest = where(zero, one, x);
  const Tensor others = where(zero, spread(g, products(g, rest)), spread(g, g.output()) / rest);
  g.set(0, spread(g, dy) * conj(others));
}

// ---- the ops
const Op& segment_sum_op =
    sorted_op("SegmentSum", "segment_sum", kNumericTypes)
        .doc("output[i] is the sum of data[j] over all j with segment_ids[j] == i; ids are sorted.")
        .gradient(segment_sum_grad, "segment_ids")
        .define();
const Op& segment_mean_op =
    sorted_op("SegmentMean", "segment_mean", kNumericTypes)
        .doc(
            "output[i] is the mean of data[j] over all j with segment_ids[j] == i; ids are sorted.")
        .gradient(segment_mean_grad, "segment_ids")
        .define();
const Op& segment_prod_op = sorted_op("SegmentProd", "segment_prod", kNumericTypes)
                                .doc(
                                    "output[i] is the product of data[j] over all j with "
                                    "segment_ids[j] == i; ids are sorted. 1 where there is none.")
                                .gradient(prod_grad, "data segment_ids output")
                                .define();
const Op& segment_max_op = sorted_op("SegmentMax", "segment_max", kRealTypes)
                               .doc(
                                   "output[i] is the largest of data[j] over all j with "
                                   "segment_ids[j] == i; ids are sorted. 0 where there is none.")
                               .gradient(extreme_grad, "data segment_ids output")
                               .define();
const Op& segment_min_op = sorted_op("SegmentMin", "segment_min", kRealTypes)
                               .doc(
                                   "output[i] is the smallest of data[j] over all j with "
                                   "segment_ids[j] == i; ids are sorted. 0 where there is none.")
                               .gradient(extreme_grad, "data segment_ids output")
                               .define();
const Op& unsorted_sum_op = unsorted_op("UnsortedSegmentSum", "unsorted_segment_sum", kNumericTypes)
                                .doc(
                                    "output[i] is the sum of data[j] over all j with "
                                    "segment_ids[j] == i. Negative ids are dropped.")
                                .gradient(segment_sum_grad, "segment_ids")
                                .define();
const Op& unsorted_prod_op =
    unsorted_op("UnsortedSegmentProd", "unsorted_segment_prod", kNumericTypes)
        .doc(
            "output[i] is the product of data[j] over all j with segment_ids[j] == i, 1 where "
            "there is none. Negative ids are dropped.")
        .gradient(prod_grad, "data segment_ids num_segments output")
        .define();
const Op& unsorted_max_op =
    unsorted_op("UnsortedSegmentMax", "unsorted_segment_max", kRealTypes)
        .doc(
            "output[i] is the largest of data[j] over all j with segment_ids[j] == i, the lowest "
            "number where there is none. Negative ids are dropped.")
        .gradient(extreme_grad, "data segment_ids num_segments output")
        .define();
const Op& unsorted_min_op =
    unsorted_op("UnsortedSegmentMin", "unsorted_segment_min", kRealTypes)
        .doc(
            "output[i] is the smallest of data[j] over all j with segment_ids[j] == i, the highest "
            "number where there is none. Negative ids are dropped.")
        .gradient(extreme_grad, "data segment_ids num_segments output")
        .define();

Tensor sorted_segment(const Op& op, const Operand& data, const Operand& ids) {
  return execute(op, {Arg(data), Arg(ids)});
}
Tensor unsorted_segment(const Op& op, const Operand& data, const Operand& ids, const Operand& n) {
  return execute(op, {Arg(data), Arg(ids), Arg(n)});
}
// How many rows each segment has, at least 1, of a shape that broadcasts with the sums.
Tensor row_counts(const Tensor& data, const Tensor& ids, const Operand& n) {
  Tensor count = maximum(unsorted_segment_sum(ones_like(ids, data.dtype()), ids, n), 1);
  for (int i = ids.ndim(); i < data.ndim(); ++i) count = expand_dims(count, -1);
  return count;
}

}  // namespace

Tensor segment_sum(const Operand& data, const Operand& segment_ids) {
  return sorted_segment(segment_sum_op, data, segment_ids);
}
Tensor segment_mean(const Operand& data, const Operand& segment_ids) {
  return sorted_segment(segment_mean_op, data, segment_ids);
}
Tensor segment_prod(const Operand& data, const Operand& segment_ids) {
  return sorted_segment(segment_prod_op, data, segment_ids);
}
Tensor segment_max(const Operand& data, const Operand& segment_ids) {
  return sorted_segment(segment_max_op, data, segment_ids);
}
Tensor segment_min(const Operand& data, const Operand& segment_ids) {
  return sorted_segment(segment_min_op, data, segment_ids);
}

Tensor unsorted_segment_sum(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments) {
  return unsorted_segment(unsorted_sum_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_prod(const Operand& data, const Operand& segment_ids,
                             const Operand& num_segments) {
  return unsorted_segment(unsorted_prod_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_max(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments) {
  return unsorted_segment(unsorted_max_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_min(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments) {
  return unsorted_segment(unsorted_min_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_mean(const Operand& data, const Operand& segment_ids,
                             const Operand& num_segments) {
  const Arg d(data), ids(segment_ids);
  return unsorted_segment_sum(*d, *ids, num_segments) / row_counts(*d, *ids, num_segments);
}
Tensor unsorted_segment_sqrt_n(const Operand& data, const Operand& segment_ids,
                               const Operand& num_segments) {
  const Arg d(data), ids(segment_ids);
  return unsorted_segment_sum(*d, *ids, num_segments) / sqrt(row_counts(*d, *ids, num_segments));
}

Tensor densify(const IndexedSlices& s) {
  return unsorted_segment_sum(s.values, s.indices, s.dense_shape.dim(0));
}

}  // namespace rill
