#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(math_reduce) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  for (const char* name : {"Prod", "Max", "Min", "EuclideanNorm"}) {
    Row& r = row(name);
    r.sample({x({2, 3}), i32({0, 1})})
        .sample({x({2, 3}), i32({1})})
        .sample({x({2, 3}), i32({-2})}, {{"keep_dims", true}})
        .sample({x({2, 3, 2, 2}), i32({0, 2})})
        .sample({x({2, 2, 3, 2}), i32({1, 3})})
        .sample({x({2, 3}), i32({})})
        .sample({x({}), i32({})})
        .sample({x({0, 2}), i32({0})})
        .sample({values(float32, {2, 2}, {nan, 1, inf, 2}), i32({0})})
        .error({x({2, 3}), i32({2})}, {}, "axis 2 is out of range for rank 2");
    r.dtypes(r.name == "Prod" || r.name == "EuclideanNorm" ? kNumericTypes : kRealTypes)
        .tolerance(4e-6);
  }
  // Long rows, many columns, short columns: each has its own path.
  for (const char* name : {"Sum", "Mean"}) {
    row(std::string(name) + "_long")
        .call([mean = name[0] == 'M'](const std::vector<Tensor>& in) {
          auto f = [&](const Tensor& a, const std::vector<int>& axes) {
            return mean ? reduce_mean(a, axes) : reduce_sum(a, axes);
          };
          const Tensor big =
              reshape(cumsum(ones({70000}), 0, {.exclusive = true}), {7, 100, 100}) * 1e-3f + in[0];
          const Tensor flat = reshape(big, {35000, 2});
          return std::vector<Tensor>{f(big, {0, 1, 2}),
                                     f(big, {1, 2}),
                                     f(reshape(big, {2, 35000}), {1}),
                                     reduce_max(f(big, {0})),
                                     f(flat, {0}),
                                     f(reshape(big, {7, 10, 10, 100}), {0, 2, 3})};
        })
        .tf(std::string("(lambda big, f: [f(big), f(big, [1, 2]), f(tf.reshape(big, [2, 35000]), "
                        "1), tf.reduce_max(f(big, 0)), "
                        "f(tf.reshape(big, [35000, 2]), 0), f(tf.reshape(big, [7, 10, 10, 100]), "
                        "[0, 2, 3])])(") +
            "tf.cast(tf.reshape(tf.range(0, 70000), [7, 100, 100]), tf.float32) * 1e-3 + x0, "
            "tf.reduce_" +
            (name[0] == 'M' ? "mean" : "sum") + ")")
        .sample({x({}, {0.5})})
        .dtypes({float32})
        .tolerance(1e-5);
  }
  // Ties share the gradient of a maximum.
  row("reduce_max_ties")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{reduce_max(
            in[0] * constant({{1., 1.}, {0., 0.}}, in[0].dtype()) + stop_gradient(in[0]), 1)};
      })
      .tf("tf.reduce_max(x0 * tf.constant([[1., 1.], [0., 0.]], x0.dtype) + x0, 1)")
      .sample({x({2, 2}, {3, 1, 2, 2})})
      .no_gradient_check("a maximum has no derivative at a tie");
  row("prod_of_zeros")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{reduce_prod(in[0]), reduce_prod(in[0], 0),
                                   reduce_prod(in[0], 1)};
      })
      .tf("[tf.reduce_prod(x0), tf.reduce_prod(x0, 0), tf.reduce_prod(x0, 1)]")
      .sample({x({2, 3}, {0, 2, 3, 4, 0, 6})})
      .first_order();  // the gradient of cumprod, as TensorFlow's, divides by the element
  for (const char* name : {"All", "Any"})
    row(name)
        .sample({bools({2, 3}, {1, 0, 1, 1, 1, 1}), i32({1})})
        .sample({bools({2, 3}, {1, 0, 1, 0, 0, 0}), i32({0, 1})})
        .sample({bools({0, 3}, {}), i32({0})}, {{"keep_dims", true}})
        .dtypes({float32})
        .error({bools({2}, {1, 0}), i32({1})}, {}, "axis 1 is out of range");
  row("L2Loss").sample({x({2, 3})}).sample({x({})}).sample({x({0})}).dtypes(kFloatTypes);
  row("reduce_logsumexp")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{reduce_logsumexp(in[0]), reduce_logsumexp(in[0], 0),
                                   reduce_logsumexp(in[0], {-1}, {.keepdims = true})};
      })
      .tf("[tf.reduce_logsumexp(x0), tf.reduce_logsumexp(x0, 0), tf.reduce_logsumexp(x0, [-1], "
          "keepdims=True)]")
      .sample({x({2, 3})})
      .sample({x({2, 2}, {-inf, 500, -inf, 501})})
      .sample({x({1, 2}, {-inf, -inf})});
  row("reduce_std")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{reduce_std(in[0]), reduce_variance(in[0], 0),
                                   reduce_std(in[0], {0, 1}, {.keepdims = true}),
                                   reduce_euclidean_norm(in[0], 1)};
      })
      .tf("[tf.math.reduce_std(x0), tf.math.reduce_variance(x0, 0), tf.math.reduce_std(x0, [0, 1], "
          "keepdims=True), tf.math.reduce_euclidean_norm(x0, 1)]")
      .sample({x({2, 3})})
      .sample({x({3, 2}, 0.5, 3)})
      .error({values(int32, {2}, {1, 2})}, {}, "x is int32; expected a floating-point dtype");
  row("norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{norm(in[0]),
                                   norm(in[0], {.ord = 1}),
                                   norm(in[0], {.ord = __builtin_inf(), .axis = {1}}),
                                   norm(in[0], {.ord = 2, .axis = {0}, .keepdims = true}),
                                   norm(in[0], {.ord = 3}),
                                   norm(in[0], {.ord = "fro", .axis = {0, 1}}),
                                   norm(in[0], {.ord = 1, .axis = {0, 1}}),
                                   norm(in[0], {.ord = __builtin_inf(), .axis = {-2, -1}})};
      })
      .tf("[tf.norm(x0), tf.norm(x0, 1), tf.norm(x0, np.inf, 1), tf.norm(x0, 2, 0, True), "
          "tf.norm(x0, 3), tf.norm(x0, 'fro', (0, 1)), "
          "tf.norm(x0, 1, (0, 1)), tf.norm(x0, np.inf, (-2, -1))]")
      .sample({x({2, 3})})
      .tolerance(4e-6);
  row("count_nonzero")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{math::count_nonzero(in[0]),
                                   math::count_nonzero(in[0], 0, {.dtype = int32}),
                                   math::count_nonzero(in[0], {.axis = {1}, .keepdims = true})};
      })
      .tf("[tf.math.count_nonzero(x0), tf.math.count_nonzero(x0, 0, dtype=tf.int32), "
          "tf.math.count_nonzero(x0, [1], keepdims=True)]")
      .sample({x({2, 3}, {0, 1, 2, 0, 0, 1})})
      .dtypes(kPlainTypes);

  for (const char* name : {"Cumsum", "Cumprod"})
    row(name)
        .sample({x({2, 3}, 1, 3), i32_scalar(0)})
        .sample({x({2, 3}, 1, 3), i32_scalar(-1)}, {{"exclusive", true}})
        .sample({x({2, 3, 2}, 1, 3), i32_scalar(1)}, {{"reverse", true}})
        .sample({x({4}, 1, 3), i32_scalar(0)}, {{"reverse", true}, {"exclusive", true}})
        .sample({x({0, 2}), i32_scalar(0)})
        .dtypes(kNumericTypes)
        .tolerance(4e-6)
        .error({x({2, 3}), i32_scalar(2)}, {}, "axis 2 is out of range for rank 2");
}

}  // namespace rill::conformance
