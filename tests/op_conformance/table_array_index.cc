// Rows of the ops that pick parts and say shapes.
#include "rill/ops/array_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(array_index) {
  row("StridedSlice")
      .sample({x({3, 4}), i32({1, 0}), i32({3, 3}), i32({1, 2})})
      .sample({x({3, 4}), i32({0, -1}), i32({0, -5}), i32({1, -2})},
              {{"begin_mask", 1}, {"end_mask", 1}})
      .sample({x({3, 4}), i32({-1}), i32({0}), i32({1})}, {{"shrink_axis_mask", 1}})
      .sample({x({2, 3, 4}), i32({0, 1}), i32({0, 2}), i32({1, 1})},
              {{"ellipsis_mask", 1}, {"shrink_axis_mask", 2}})
      .sample({x({2, 3}), i32({0, 0, 0}), i32({0, 0, 2}), i32({1, 1, 1})},
              {{"new_axis_mask", 2}, {"begin_mask", 5}, {"end_mask", 1}})
      .sample({x({4}), i32({3}), i32({1}), i32({1})})
      .sample({x({5}), i32({100}), i32({-100}), i32({-1})})
      .sample({x({0, 3}), i32({0, 2}), i32({5, 3}), i32({1, 1})})
      .sample({x({}), i32({0}), i32({0}), i32({1})}, {{"new_axis_mask", 1}})
      .dtypes(kPlainTypes)
      .error({x({3}), i32({3}), i32({4}), i32({1})}, {{"shrink_axis_mask", 1}},
             "slice index 3 of dimension 0 out of bounds: axis 0 of shape \\[3\\] has 3")
      .error({x({3}), i32({0}), i32({4}), i32({0})}, {}, "step of index 0 is 0")
      .error({x({3}), i32({0}), i32({4}), i32({-1})}, {{"shrink_axis_mask", 1}},
             "only 1 makes sense")
      .error({x({3}), i32({0, 0}), i32({1, 1}), i32({1, 1})}, {},
             "2 indices are too many for a tensor of shape \\[3\\]")
      .error({x({3}), i32({0, 0}), i32({1, 1}), i32({1, 1})}, {{"ellipsis_mask", 3}},
             "one ellipsis")
      .error({x({3}), i32({0, 0}), i32({1}), i32({1, 1})}, {},
             "lengths of begin, end and strides differ: 2 and 1")
      .error({x({3}), i32_scalar(0), i32_scalar(1), i32_scalar(1)}, {}, "must be lists");
  row("StridedSliceGrad")
      .sample({i32({3, 4}), i32({1, 0}), i32({3, 3}), i32({1, 2}), x({2, 2})})
      .sample({i32({3, 4}), i32({0, -1}), i32({0, -5}), i32({1, -2}), x({3, 2})},
              {{"begin_mask", 1}, {"end_mask", 1}})
      .sample({i32({3, 4}), i32({-1}), i32({0}), i32({1}), x({4})}, {{"shrink_axis_mask", 1}})
      .dtypes(kPlainTypes)
      .error({i32({3}), i32({0}), i32({2}), i32({1}), x({3})}, {},
             "dy has shape \\[3\\], the slice \\[2\\]");
  row("Shape")
      .sample({x({2, 3})})
      .sample({x({})}, {{"out_type", int64}})
      .sample({x({0, 4})})
      .dtypes(kPlainTypes);
  row("ShapeN").sample({x({2, 3}), x({})}, {}, 2).sample({x({1})}, {{"out_type", int64}}, 1);
  row("Size")
      .sample({x({2, 3})})
      .sample({x({})}, {{"out_type", int64}})
      .sample({x({0, 4})})
      .dtypes(kPlainTypes);
  row("Rank").sample({x({2, 3})}).sample({x({})}).dtypes(kPlainTypes);
  row("ExpandDims")
      .sample({x({2, 3}), i32_scalar(0)})
      .sample({x({2, 3}), i32_scalar(-1)})
      .sample({x({}), i32_scalar(0)})
      .sample({x({2, 3}), i32_scalar(1)})
      .dtypes(kPlainTypes)
      .error({x({2, 3}), i32_scalar(3)}, {}, "axis 3 is out of range for rank 3");
  const std::int64_t last[] = {-1}, first[] = {0};
  row("Squeeze")
      .sample({x({1, 2, 1, 3})})
      .sample({x({1, 2, 1})}, {{"squeeze_dims", std::span<const std::int64_t>(last)}})
      .sample({x({1, 1})})
      .sample({x({})})
      .sample({x({2, 0, 1})})
      .dtypes(kPlainTypes)
      .error({x({2, 3})}, {{"squeeze_dims", std::span<const std::int64_t>(first)}},
             "axis 0 of shape \\[2, 3\\] has 2 elements");
  const TensorShape half_known({2, None}), wrong({3, None});
  row("EnsureShape")
      .sample({x({2, 3})}, {{"shape", half_known}})
      .dtypes(kPlainTypes)
      .error({x({2, 3})}, {{"shape", wrong}}, "has shape \\[2, 3\\], expected \\[3, \\?\\]");
  row("Where")
      .sample({x({2, 3}, {0, 1, 0, 2, 0, 3})})
      .sample({x({4}, {0, 0, 0, 0})})
      .sample({x({0, 2})})
      .sample({x({2, 1, 2}, {0, 1, 1, 1})})
      .dtypes(kRealFloatTypes | TypeSet{bfloat16} | kIntegerTypes | kComplexTypes | TypeSet{bool_});
  row("boolean_mask")
      .sample({x({4, 2}), bools({4}, {1, 0, 0, 1})})
      .sample({x({3}), bools({3}, {0, 0, 0})})
      .call([](const std::vector<Tensor>& in) { return std::vector{boolean_mask(in[0], in[1])}; })
      .tf("tf.boolean_mask(x0, x1)")
      .error({x({3}), bools({2}, {0, 1})}, {},
             "mask of shape \\[2\\] does not fit shape \\[3\\] from axis 0");
  row("boolean_mask_two_axes")
      .sample({x({2, 2, 3}), bools({2, 3}, {1, 0, 0, 1, 1, 0})})
      .call(
          [](const std::vector<Tensor>& in) { return std::vector{boolean_mask(in[0], in[1], 1)}; })
      .tf("tf.boolean_mask(x0, x1, axis=1)");
  row("getitem")
      .sample({x({3, 4, 2})})
      .call([](const std::vector<Tensor>& in) {
        const Tensor& t = in[0];
        return std::vector{t[1],
                           t(all, 2),
                           t(slice(1, None)),
                           t(ellipsis, newaxis),
                           t(slice(None, None, -1), ellipsis, -1),
                           t(newaxis, 0, slice(-3, -1)),
                           t(to_tensor(2), to_tensor(-1, int64)),
                           t(slice(0, 0)),
                           t(0, 1, 1)};
      })
      .tf("[x0[1], x0[:, 2], x0[1:], x0[..., tf.newaxis], x0[::-1, ..., -1], x0[tf.newaxis, 0, "
          "-3:-1], x0[2, -1], x0[0:0], x0[0, 1, 1]]");
}

}  // namespace rill::conformance
