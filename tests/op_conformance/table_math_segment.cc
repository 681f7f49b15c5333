#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(math_segment) {
  for (const char* name :
       {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"}) {
    Row& r = row(name);
    r.dtypes(r.name == "SegmentMax" || r.name == "SegmentMin" ? kRealTypes : kNumericTypes)
        .sample({x({4, 2}), values(int32, {4}, {0, 0, 1, 1})})
        .sample({x({4, 2, 2}, {3, 1, 0.5, 2, -1, 4, 3, 2, 2, 1.5, -2, 1, 1, 0, 2.5, -3}),
                 values(int64, {4}, {0, 2, 2, 2})})
        .sample({x({3}, {1, 2, 4}), values(int32, {3}, {1, 1, 1})})
        .sample({x({0, 2}), values(int32, {0}, {})})
        .error({x({3}), values(int32, {3}, {0, 2, 1})}, {},
               "segment_ids\\[2\\] = 1 is less than 2; expected sorted ids")
        .error({x({2}), values(int32, {2}, {-1, 1})}, {},
               "segment_ids\\[0\\] = -1 is less than 0; expected sorted ids")
        .error({x({3}), values(int32, {2}, {0, 2})}, {},
               "the number of rows of data and of segment_ids differ: 3 and 2")
        .error({x({}), values(int32, {2}, {0, 2})}, {}, "data must have rank 1 or more");
  }
  for (const char* name :
       {"UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"}) {
    Row& r = row(name);
    const bool extreme = r.name == "UnsortedSegmentMax" || r.name == "UnsortedSegmentMin";
    // An empty segment holds the extreme number, which drowns finite differences.
    auto x_of = [&](const TensorShape& s) { return extreme ? fixed(x(s)) : x(s); };
    r.dtypes(extreme ? kRealTypes : kNumericTypes)
        .sample({x_of({4, 2}), values(int32, {4}, {0, 2, 0, -1}), i32_scalar(3)})
        .sample({x({4, 2}), values(int32, {4}, {0, 1, 0, -1}), i32_scalar(2)})
        .sample({x({2, 2, 3}), values(int64, {2, 2}, {1, 0, 1, 1}), i32_scalar(2)})
        .sample({x_of({3}), values(int32, {3}, {3, 0, 3}), values(int64, {}, {4})})
        .sample({x({0, 2}), values(int32, {0}, {}), i32_scalar(2)})
        .sample({x_of({}), values(int32, {}, {1}), i32_scalar(2)})
        .error({x({2}), values(int32, {2}, {0, 3}), i32_scalar(3)}, {},
               "segment_ids\\[1\\] = 3 is not below num_segments 3")
        .error({x({2}), values(int32, {2}, {0, 3}), i32_scalar(-3)}, {},
               "num_segments is -3; expected 0 or more")
        .error({x({2}), values(int32, {2, 2}, {0, 1, 1, 1}), i32_scalar(3)}, {},
               "segment_ids \\[2, 2\\] must be a prefix of data's shape \\[2\\]");
  }
  row("segment_prod_of_zeros")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{math::segment_prod(in[0], {0, 0, 1, 1, 1}),
                                   math::unsorted_segment_prod(in[0], {1, 0, 0, -1, 1}, 2)};
      })
      .tf("[tf.math.segment_prod(x0, [0, 0, 1, 1, 1]), tf.math.unsorted_segment_prod(x0, [1, 0, 0, "
          "-1, 1], 2)]")
      .sample({x({5}, {0, 2, 0, 0, 3})})
      .sample({x({5, 2}, {0, 1, 2, 2, 0, 3, 1, 4, 3, 5})})
      .first_order();
  row("segment_means")
      .call([](const std::vector<Tensor>& in) {
        const Tensor ids = constant({{1, -1}, {1, 0}}), line = constant({0, 0});
        return std::vector<Tensor>{math::unsorted_segment_mean(in[0], ids, 3),
                                   unsorted_segment_sqrt_n(in[0], ids, 3),
                                   segment_mean(in[0], line),
                                   segment_sum(in[0], line),
                                   segment_max(in[0], line),
                                   math::segment_min(in[0], line),
                                   unsorted_segment_max(in[0], line, 1),
                                   unsorted_segment_min(in[0], line, 1)};
      })
      .tf("(lambda x, i, l: [tf.math.unsorted_segment_mean(x, i, 3), "
          "tf.math.unsorted_segment_sqrt_n(x, i, 3), tf.math.segment_mean(x, l), "
          "tf.math.segment_sum(x, l), "
          "tf.math.segment_max(x, l), tf.math.segment_min(x, l), tf.math.unsorted_segment_max(x, "
          "l, 1), tf.math.unsorted_segment_min(x, l, 1)])"
          "(x0, tf.constant([[1, -1], [1, 0]]), tf.constant([0, 0]))")
      .sample({x({2, 2, 3})});
}

}  // namespace rill::conformance
