#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(math_order) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  for (const char* name : {"ArgMax", "ArgMin"})
    row(name)
        .sample({x({3, 4}), i32_scalar(0)})
        .sample({x({3, 4}), i32_scalar(-1)}, {{"output_type", int32}})
        .sample({x({2, 3, 2}), i32_scalar(1)})
        .sample({x({2, 3}, {1, 2, 2, 0, 0, 1}), i32_scalar(1)})
        .sample({x({2, 140}), i32_scalar(0)})
        .sample({values(float32, {2, 2}, {nan, 1, -inf, inf}), i32_scalar(1)})
        .sample({x({0, 2}), i32_scalar(1)})
        .dtypes(kRealTypes | TypeSet{bool_})
        .error({x({2, 3}), i32_scalar(2)}, {}, "axis 2 is out of range for rank 2")
        .error({x({0, 3}), i32_scalar(0)}, {}, "axis 0 of shape \\[0, 3\\] is empty");
  row("argmax")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{argmax(in[0]), argmax(in[0], -1),
                                   argmin(in[0], {.axis = 1, .output_type = int32}), argmin(in[0])};
      })
      .tf("[tf.argmax(x0), tf.argmax(x0, -1), tf.argmin(x0, axis=1, output_type=tf.int32), "
          "tf.argmin(x0)]")
      .sample({x({3, 4})});
  row("TopKV2")
      .sample({x({2, 5}), i32_scalar(3)})
      .sample({fixed(x({6}, {1, 3, 2, 3, 1, 3})), i32_scalar(4)})
      .sample({x({2, 2, 3}), i32_scalar(3)})
      .sample({x({2, 3}), i32_scalar(1)})
      .sample({x({2, 40}), i32_scalar(2)})
      .sample({x({2, 3}), i32_scalar(0)})
      .sample({x({0, 3}), i32_scalar(2)})
      .sample({values(float32, {4}, {1, inf, -inf, 2}), i32_scalar(4)})
      .dtypes(kRealTypes)
      .error({x({2, 3}), i32_scalar(4)}, {},
             "k is 4, the last axis of shape \\[2, 3\\] has only 3 elements")
      .error({x({2, 3}), i32_scalar(-1)}, {}, "k is -1; expected 0 or more")
      .error({x({}), i32_scalar(0)}, {}, "input must have rank 1 or more");
  row("top_k")
      .call([](const std::vector<Tensor>& in) {
        const auto [values, indices] = math::top_k(in[0], 2);
        return std::vector<Tensor>{values, indices, nn::top_k(in[0]).values,
                                   sort(math::top_k(in[0], 3, false).values)};
      })
      .tf("[*tf.math.top_k(x0, 2), tf.math.top_k(x0)[0], tf.sort(tf.math.top_k(x0, 3, False)[0])]")
      .sample({x({2, 7})});
  row("sort")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{sort(in[0]), sort(in[0], 0, "DESCENDING"), sort(in[0], 1),
                                   argsort(in[0]),
                                   argsort(in[0], 0, "DESCENDING", {.stable = true})};
      })
      .tf("[tf.sort(x0), tf.sort(x0, 0, 'DESCENDING'), tf.sort(x0, 1), tf.argsort(x0), "
          "tf.argsort(x0, 0, 'DESCENDING', True)]")
      .sample({x({3, 4})})
      .sample({x({2, 3, 2})})
      .sample({x({2, 3}, {1, 2, 1, 2, 1, 2})})
      .dtypes(kRealTypes)
      .tolerance(0)
      .no_gradient_check("equal elements have no derivative; top_k checks the rest");
  row("sort_errors")
      .call(
          [](const std::vector<Tensor>& in) { return std::vector<Tensor>{sort(in[0], -1, "UP")}; })
      .not_in_tensorflow("errors only")
      .error({x({2})}, {}, "direction is \"UP\"; expected \"ASCENDING\" or \"DESCENDING\"");
  row("InTopKV2")
      .sample({values(float32, {3, 4}, {0.1, 0.3, 0.2, 0.4, 0.1, 0.1, 0.5, 0.2, 1, 2, 3, 4}),
               values(int32, {3}, {1, 0, 3}), i32_scalar(2)})
      .sample({values(float32, {3, 2}, {0.1, 0.1, nan, 1, 1, inf}), values(int32, {3}, {1, 1, 0}),
               i32_scalar(1)})
      .sample({values(float32, {2, 2}, {1, 2, 3, 4}), values(int32, {2}, {2, -1}), i32_scalar(2)})
      .sample({values(float32, {2, 2}, {1, 2, 3, 4}), values(int64, {2}, {0, 1}),
               values(int64, {}, {1})})
      .dtypes({float32})
      .error({x({2, 3}), values(int32, {3}, {0, 0, 0}), i32_scalar(1)}, {},
             "the numbers of predictions and targets differ: 2 and 3");
  row("in_top_k")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{math::in_top_k({0, 1}, in[0], 1),
                                   nn::in_top_k(constant({2, 1}, int64), in[0], 2)};
      })
      .tf("[tf.math.in_top_k([0, 1], x0, 1), tf.nn.in_top_k(tf.constant([2, 1], tf.int64), x0, 2)]")
      .sample({x({2, 4})})
      .dtypes({float32});
  for (const char* name : {"Unique", "UniqueWithCounts"})
    row(name)
        .sample({x({7}, {1, 0, 1, 2, 0, 1, 1})})
        .sample({x({3}, {2, 1, 0})}, {{"out_idx", int64}})
        .sample({x({0})})
        .sample({values(float32, {4}, {0.0, -0.0, nan, nan})})
        .sample({strings({4}, {"a", "bc", "a", ""})})
        .dtypes(kPlainTypes)
        .error({x({2, 3})}, {}, "x must have rank 1, got shape \\[2, 3\\]");
  row("unique")
      .call([](const std::vector<Tensor>& in) {
        const auto [y, idx] = unique(in[0]);
        const auto [values, index, count] = unique_with_counts(in[0], int64);
        return std::vector<Tensor>{y, idx, values, index, count};
      })
      .tf("[*tf.unique(x0), *tf.unique_with_counts(x0, tf.int64)]")
      .sample({x({4}, {4, 5, 4, 6})})
      .no_gradient_check("there is none");
  row("DenseBincount")
      .sample({values(int32, {5}, {1, 0, 1, 5, 2}), i32_scalar(4), x({0})})
      .sample({values(int32, {4}, {1, 0, 1, 2}), i32_scalar(3), x({4})})
      .sample({values(int64, {2, 3}, {1, 0, 1, 2, 2, 2}), values(int64, {}, {3}), x({0})})
      .sample({values(int32, {2, 2}, {1, 1, 0, 2}), i32_scalar(3), x({0})},
              {{"binary_output", true}})
      .sample({values(int32, {2, 2}, {1, 1, 0, 2}), i32_scalar(2), x({2, 2})})
      .sample({values(int32, {0}, {}), i32_scalar(2), x({0})})
      .dtypes({float32, float64, int32, int64})
      .error({values(int32, {2}, {1, -1}), i32_scalar(2), x({0})}, {},
             "arr\\[1\\] = -1 is negative")
      .error({values(int32, {2}, {1, 1}), i32_scalar(2), x({3})}, {},
             "weights have shape \\[3\\], arr \\[2\\]; expected equal shapes")
      .error({values(int32, {2}, {1, 1}), i32_scalar(-2), x({0})}, {},
             "size is -2; expected 0 or more");
  row("bincount")
      .call([](const std::vector<Tensor>& in) {
        const Tensor a = constant({{1, 3}, {1, 0}});
        return std::vector<Tensor>{bincount(a),
                                   bincount(a, {.weights = in[0]}),
                                   bincount(a, {.minlength = 6, .dtype = int64}),
                                   bincount(a, {.maxlength = 2}),
                                   math::bincount(a, {.axis = -1, .binary_output = true}),
                                   bincount(a, {.weights = in[0], .axis = -1})};
      })
      .tf("(lambda a, x0: [tf.math.bincount(a), tf.math.bincount(a, x0), tf.math.bincount(a, "
          "minlength=6, dtype=tf.int64), tf.math.bincount(a, maxlength=2), "
          "tf.math.bincount(a, axis=-1, binary_output=True), tf.math.bincount(a, x0, "
          "axis=-1)])(tf.constant([[1, 3], [1, 0]]), x0)")
      .sample({x({2, 2})})
      .dtypes({float32, float64})
      .no_gradient_check("counting is not differentiated");
  row("math.is_non_decreasing")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{math::is_non_decreasing(in[0]),
                                   math::is_strictly_increasing(in[0])};
      })
      .tf("[tf.math.is_non_decreasing(x0), tf.math.is_strictly_increasing(x0)]")
      .sample({x({4}, {1, 1, 2, 3})})
      .sample({x({2, 2}, {-1, 0, 2, 3})})
      .sample({x({3}, {1, 3, 2})})
      .sample({x({1}, {1})})
      .sample({x({0, 2})})
      .sample({x({}, {1})})
      .sample({values(float32, {3}, {-inf, nan, inf})})
      .sample({values(float32, {3}, {-inf, 0, inf})})
      .dtypes({float16, float32, float64, int32, int64})
      .no_gradient_check("claims are not differentiated");
}

}  // namespace rill::conformance
