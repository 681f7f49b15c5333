#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(nn_more_activations) {
  constexpr double inf = __builtin_inf();
  row("nn.gelu")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::gelu(in[0]), nn::gelu(in[0], true)};
      })
      // TensorFlow rounds its constants to float32 even for float64.
      .tf("[tf.nn.gelu(x0), tf.nn.gelu(x0, approximate=True)] if x0.dtype != tf.float64 else"
          " [0.5 * x0 * (1 + tf.math.erf(x0 / 2**0.5)), 0.5 * x0 * (1 + tf.tanh((2 / math.pi)**0.5 "
          "* (x0 + 0.044715 * x0**3)))]")
      .sample({x({2, 3})})
      .sample({x({4}, {30, -30, 0, inf})})
      .sample({x({})})
      .sample({x({0, 2})})
      .dtypes(kFloatTypes)
      .error({values(int32, {2}, {1, 2})}, {}, "x is int32; expected a floating-point dtype");
  row("nn.swish")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::swish(in[0]), nn::silu(in[0]), nn::silu(in[0], 0.5)};
      })
      .tf("[tf.nn.swish(x0), tf.nn.silu(x0), tf.nn.silu(x0, beta=0.5)]")
      .sample({x({2, 3})})
      .sample({x({3}, {100, -200, 0})})
      .sample({x({})})
      .dtypes(kFloatTypes)
      .error({values(int32, {2}, {1, 2})}, {}, "x is int32; expected a floating-point dtype");
  row("nn.sigmoid")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::sigmoid(in[0]), nn::tanh(in[0])};
      })
      .tf("[tf.nn.sigmoid(x0), tf.nn.tanh(x0)]")
      .sample({x({2, 3})});
  row("nn.zero_fraction")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::zero_fraction(in[0])};
      })
      .tf("tf.nn.zero_fraction(x0)")
      .sample({x({2, 3}, {0, 1, 0, 2, -1, 0})})
      .sample({x({}, {1})})
      .dtypes(kFloatTypes | kIntegerTypes)
      .no_gradient_check("counts have no gradient");
}

RILL_ROWS(nn_moments) {
  row("nn.moments")
      .call([](const std::vector<Tensor>& in) {
        const auto a = nn::moments(in[0], {0}), b = nn::moments(in[0], {0, -1}, {.keepdims = true}),
                   d = nn::moments(in[0], {0, 1, 2});
        return std::vector<Tensor>{a.t[0], a.t[1], b.t[0], b.t[1], d.t[0], d.t[1]};
      })
      .tf("[tf.nn.moments(x0, [0]), tf.nn.moments(x0, [0, -1], keepdims=True), tf.nn.moments(x0, "
          "[0, 1, 2])]")
      .sample({x({2, 3, 4})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .error({values(int32, {2}, {1, 2})}, {}, "x is int32; expected a floating-point dtype")
      .error({x({2})}, {}, "axis");
  row("nn.moments_far_from_zero")  // where a single pass would lose the variance
      .call([](const std::vector<Tensor>& in) {
        const auto a = nn::moments(in[0], {0, 1});
        return std::vector<Tensor>{a.t[0], a.t[1]};
      })
      .tf("tf.nn.moments(x0, [0, 1])")
      .sample({x({5, 4, 2}, 9999, 10001)})
      .tolerance(1e-5);
  row("nn.weighted_moments")
      .call([](const std::vector<Tensor>& in) {
        const auto a = nn::weighted_moments(in[0], {0}, in[1]),
                   b = nn::weighted_moments(in[0], {0, -1}, in[1], {.keepdims = true});
        return std::vector<Tensor>{a.t[0], a.t[1], b.t[0], b.t[1]};
      })
      .tf("[tf.nn.weighted_moments(x0, [0], x1), tf.nn.weighted_moments(x0, [0, -1], x1, "
          "keepdims=True)]")
      .sample({x({2, 3, 2}), x({2, 3, 2}, 0.5, 2)})
      .sample({x({3, 2, 2}), x({3, 1, 1}, 0.5, 2)})
      .dtypes(kFloatTypes)
      .tolerance(1e-5);
  row("nn.sufficient_statistics")
      .call([](const std::vector<Tensor>& in) {
        const auto a = nn::sufficient_statistics(in[0], {0, 2}),
                   b = nn::sufficient_statistics(in[0], {1}, in[1], {.keepdims = true});
        const auto m = nn::normalize_moments(a.t[0], a.t[1], a.t[2]),
                   n = nn::normalize_moments(b.t[0], b.t[1], b.t[2], b.t[3]);
        return std::vector<Tensor>{a.t[0], a.t[1], a.t[2], b.t[0], b.t[1],
                                   b.t[2], m.t[0], m.t[1], n.t[0], n.t[1]};
      })
      .tf("(lambda a, b: [a[:3], b[:3], tf.nn.normalize_moments(*a), tf.nn.normalize_moments(*b)])"
          "(tf.nn.sufficient_statistics(x0, [0, 2]), tf.nn.sufficient_statistics(x0, [1], "
          "shift=x1, keepdims=True))")
      .sample({x({2, 3, 2}), x({}, {0.5})})
      .tolerance(1e-5)
      .error({x({2}), x({}, {0.5})}, {}, "axis 2 is out of range for rank 1");
  row("nn.l2_normalize")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::l2_normalize(in[0]), nn::l2_normalize(in[0], 0),
                                   nn::l2_normalize(in[0], {0, -1}, 0.5)};
      })
      .tf("[tf.nn.l2_normalize(x0), tf.nn.l2_normalize(x0, 0), tf.nn.l2_normalize(x0, [0, -1], "
          "0.5)]")
      .sample({x({2, 3})})
      .sample({x({2, 2, 2})})
      .sample({fixed(x({2, 2}, {0, 0, 0, 0}))})
      .dtypes(kFloatTypes)
      .error({x({})}, {}, "axis");
  row("nn.batch_normalization")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::batch_normalization(in[0], in[1], in[2], in[3], in[4], 0.01),
                                   nn::batch_normalization(in[0], in[1], in[2], {}, {}, 0.01),
                                   nn::batch_normalization(in[0], in[1], in[2], {}, in[4], 0.01)};
      })
      .tf("[tf.nn.batch_normalization(x0, x1, x2, x3, x4, 0.01), tf.nn.batch_normalization(x0, x1, "
          "x2, None, None, 0.01),"
          " tf.nn.batch_normalization(x0, x1, x2, None, x4, 0.01)]")
      .sample({x({2, 2, 3}), x({3}), x({3}, 0.5, 2), x({3}), x({3})})
      .sample({x({2, 3}), x({}), x({}, 0.5, 2), x({2, 1}), x({})})
      .dtypes(kFloatTypes);
}

RILL_ROWS(nn_batch_norm) {
  row("FusedBatchNormV3")
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})})
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({2}), x({2}, 0.5, 2)},
              {{"epsilon", 0.01}, {"exponential_avg_factor", 0.75}})
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})}, {{"data_format", "NCHW"}})
      .sample({x({1, 2, 2, 5, 3}), x({3}), x({3}), x({0}), x({0})}, {{"data_format", "NDHWC"}})
      .no_gradient_check(
          "batch_mean and batch_variance are given out without a gradient, as in TensorFlow; "
          "nn.fused_batch_norm checks y")
      .tolerance(1e-5)
      .error({x({2, 3}), x({2}), x({2}), x({0}), x({0})}, {}, "x.*rank 4")
      .error({x({2, 2, 3, 2}), x({3}), x({2}), x({0}), x({0})}, {},
             "scale has 3 elements; expected 2, the channels of x of shape \\[2, 2, 3, 2\\]")
      .error({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})}, {{"is_training", false}},
             "mean has 0 elements; expected 2")
      .error({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})}, {{"data_format", "HWCN"}},
             "data_format is \"HWCN\"");
  row("FusedBatchNormGradV3")
      .sample({x({2, 2, 3, 2}), x({2, 2, 3, 2}), x({2}), x({2}), x({2}, 0.5, 2), x({})},
              {{"is_training", false}})
      .sample({x({2, 2, 3, 2}), x({2, 2, 3, 2}), x({2}), x({2}), x({2}, 0.5, 2), x({})},
              {{"epsilon", 0.01}})
      .sample({x({2, 2, 3, 2}), x({2, 2, 3, 2}), x({2}), x({2}), x({2}, 0.5, 2), x({})},
              {{"data_format", "NCHW"}})
      .no_gradient_check(
          "the reserves are functions of x; nn.fused_batch_norm checks the second order")
      .tolerance(1e-5)
      .error({x({2, 2, 3, 2}), x({2, 2, 2, 2}), x({2}), x({2}), x({2}), x({})}, {},
             "expected equal shapes");
  const char* passes = "made by passes over graphs";
  row("_BatchNormRelu")
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})})
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0}), x({2, 2, 3, 2})},
              {{"epsilon", 0.01}})
      .sample({x({3, 1, 3, 3}), x({3}), x({3}), x({0}), x({0}), x({3, 1, 3, 3})})
      .sample({x({2, 2, 4, 8}), x({8}), x({8}), x({0}), x({0}), x({2, 2, 4, 8})})
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0})}, {{"data_format", "NCHW"}})
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({2}), x({2}, 0.5, 2)}, {{"is_training", false}})
      .no_gradient_check(passes)
      .not_in_tensorflow(passes)
      .tolerance(1e-5)
      .error({x({2, 2, 3, 2}), x({2}), x({2}), x({0}), x({0}), x({2, 2, 3, 1})}, {},
             "side has shape \\[2, 2, 3, 1\\], x \\[2, 2, 3, 2\\]; expected equal shapes");
  row("_BatchNormReluGrad")
      .sample({x({2, 2, 3, 2}), x({2, 2, 3, 2}), x({2}), x({2}), x({2}, 0.5, 2), x({1})})
      .sample({x({2, 2, 4, 8}), x({2, 2, 4, 8}), x({8}), x({8}), x({8}, 0.5, 2), x({4})},
              {{"epsilon", 0.01}})
      .no_gradient_check(passes)
      .not_in_tensorflow(passes)
      .tolerance(1e-5)
      .error({x({2, 2, 3, 2}), x({2, 2, 2, 2}), x({2}), x({2}), x({2}), x({1})}, {},
             "expected equal shapes");
  // The signs that one writes are those that the other reads.
  row("batch_norm_relu")
      .call([](const std::vector<Tensor>& in) {
        const Tensor none = zeros({0}, in[1].dtype());
        const auto y = execute_all(find_op("_BatchNormRelu"), {in[0], in[1], in[2], none, none},
                                   {{"signs", true}});
        const auto g =
            execute_all(find_op("_BatchNormReluGrad"), {in[3], in[0], in[1], y[3], y[4], y[5]}, {});
        return std::vector<Tensor>{y[0], y[1], y[2], g[0], g[1], g[2]};
      })
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({2, 2, 3, 2})})
      .sample({x({2, 2, 4, 8}), x({8}), x({8}), x({2, 2, 4, 8})})
      .sample({x({1, 3, 3, 3}), x({3}), x({3}), x({1, 3, 3, 3})})
      .no_gradient_check(passes)
      .not_in_tensorflow(passes)
      .tolerance(1e-5);
  row("nn.fused_batch_norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::fused_batch_norm(in[0], in[1], in[2]).t[0],
            nn::fused_batch_norm(
                in[0], in[1], in[2],
                {.mean = in[3], .variance = in[4], .epsilon = 0.1, .is_training = false})
                .t[0]};
      })
      .tf("[tf.cast(tf.compat.v1.nn.fused_batch_norm(tf.cast(x0, tf.float32), tf.cast(x1, "
          "tf.float32), tf.cast(x2, tf.float32))[0], x0.dtype),"
          " tf.cast(tf.compat.v1.nn.fused_batch_norm(tf.cast(x0, tf.float32), tf.cast(x1, "
          "tf.float32), tf.cast(x2, tf.float32), tf.cast(x3, tf.float32),"
          " tf.cast(x4, tf.float32), epsilon=0.1, is_training=False)[0], x0.dtype)] if x0.dtype != "
          "tf.float64 else"
          " [tf.nn.batch_normalization(x0, *tf.nn.moments(x0, [0, 1, 2]), x2, x1, 0.001), "
          "tf.nn.batch_normalization(x0, x3, x4, x2, x1, 0.1)]")
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({2}), x({2}, 0.5, 2)})
      .tolerance(1e-5)
      .error({x({2, 3}), x({2}), x({2}), x({2}), x({2})}, {}, "x.*rank 4");
  row("nn.fused_batch_norm_channels_first")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::fused_batch_norm(in[0], in[1], in[2], {.data_format = "NCHW"}).t[0],
            nn::fused_batch_norm(in[0], in[1], in[2],
                                 {.mean = in[3],
                                  .variance = in[4],
                                  .epsilon = 0.1,
                                  .data_format = "NCHW",
                                  .is_training = false})
                .t[0]};
      })
      .tf("(lambda c, x, s, b, n, v: [tf.transpose(tf.nn.batch_normalization(c, *tf.nn.moments(c, "
          "[0, 1, 2]), b, s, 0.001), [0, 3, 1, 2]),"
          " tf.transpose(tf.nn.batch_normalization(c, n, v, b, s, 0.1), [0, 3, 1, "
          "2])])(tf.transpose(x0, [0, 2, 3, 1]), x0, x1, x2, x3, x4)")
      .sample({x({2, 2, 3, 2}), x({2}), x({2}), x({2}), x({2}, 0.5, 2)})
      .sample({x({2, 2, 3, 20}), x({2}), x({2}), x({2}), x({2}, 0.5, 2)})
      .tolerance(1e-5);
  row("nn.fused_batch_norm_half")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::fused_batch_norm(in[0], in[1], in[2]).t[0],
            nn::fused_batch_norm(in[0], in[1], in[2],
                                 {.mean = in[3], .variance = in[4], .is_training = false})
                .t[0]};
      })
      .tf("[tf.compat.v1.nn.fused_batch_norm(x0, x1, x2)[0], tf.compat.v1.nn.fused_batch_norm(x0, "
          "x1, x2, x3, x4, is_training=False)[0]]")
      .sample({x({2, 2, 3, 2}), random(float32, {2}, -2, 2), random(float32, {2}, -2, 2),
               random(float32, {2}, -2, 2), random(float32, {2}, 0.5, 2)})
      .dtypes(kHalfTypes | TypeSet{float32})
      .tolerance(1e-5);
  const char* composed =
      "(lambda x, s, b, a: (lambda m, v: (x - m) * tf.math.rsqrt(v + 0.01) * s + "
      "b)(*tf.nn.moments(x, a, keepdims=True)))"
      "(x0, x1, x2, list(range(x0.shape.rank - x1.shape.rank, x0.shape.rank)))";
  row("LayerNorm")
      .tf(composed)
      .sample({x({2, 3}), x({3}), x({3})}, {{"epsilon", 0.01}})
      .sample({x({2, 2, 3}), x({2, 3}), x({2, 3})}, {{"epsilon", 0.01}})
      .sample({x({5, 37}), x({37}), x({37})}, {{"epsilon", 0.01}})
      .sample({x({4}), x({4}), x({4})}, {{"epsilon", 0.01}})
      .sample({x({0, 3}), x({3}), x({3})}, {{"epsilon", 0.01}})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .error({x({2, 3}), x({2}), x({2})}, {},
             "gamma has shape \\[2\\]; expected that of the last axes of x, which has shape \\[2, "
             "3\\]")
      .error({x({2, 3}), x({3}), x({2})}, {}, "beta has shape \\[2\\]");
  row("LayerNormGrad")
      .sizes_must_be_known("its gradient works along the axes of gamma, counted from the last")
      .tf("(lambda t, x, s, dy: [t.__enter__(), t.watch([x, s]), 0.5 * tf.zeros_like(s)] and "
          "(lambda b: (t.watch(b), (lambda y: (t.__exit__(None, None, None), list(t.gradient(y, "
          "[x, s, b], dy)))[1])"
          "((lambda m, v: (x - m) * tf.math.rsqrt(v + 0.01) * s + b)(*tf.nn.moments(x, [-1], "
          "keepdims=True))))[1])(tf.zeros_like(s)))"
          "(tf.GradientTape(), x1, x2, x0)")
      .sample({x({2, 3}), x({2, 3}), x({3})}, {{"epsilon", 0.01}})
      .sample({x({70, 5}), x({70, 5}), x({5})}, {{"epsilon", 0.01}})
      .tolerance(1e-5)
      .error({x({2, 3}), x({2, 2}), x({2})}, {}, "expected equal shapes");
  row("nn.layer_norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::layer_norm(in[0], in[1], in[2], {.begin_axis = 1})};
      })
      .tf("(lambda x, s, b, m, v: (x - m) * tf.math.rsqrt(v + 0.001) * s + b)(x0, x1, x2, "
          "*tf.nn.moments(x0, [1, 2], keepdims=True))")
      .sample({x({2, 2, 3}), x({2, 3}), x({2, 3})})
      .tolerance(1e-5)
      .error(
          {x({2, 2, 3}), x({3}), x({3})}, {},
          "gamma has shape \\[3\\]; expected rank 2, for begin_axis 1 of x of shape \\[2, 2, 3\\]");
}

RILL_ROWS(nn_lrn) {
  row("LRN")
      .sample({x({1, 2, 2, 4})})
      .sample({x({1, 2, 1, 7})},
              {{"depth_radius", 1}, {"bias", 0.5}, {"alpha", 0.25}, {"beta", 0.75}})
      .sample({x({0, 2, 1, 7})})
      .dtypes(kFloatTypes)
      .first_order()
      .tolerance(1e-5)
      .error({x({2, 3})}, {}, "input.*rank 4")
      .error({x({1, 1, 2, 3})}, {{"depth_radius", -1}}, "depth_radius is -1");
  row("LRNGrad")
      .sample({x({1, 2, 2, 4}), x({1, 2, 2, 4}), x({1, 2, 2, 4}, -1, 1)})
      .sample({x({1, 1, 2, 7}), x({1, 1, 2, 7}), x({1, 1, 2, 7}, -1, 1)},
              {{"depth_radius", 1}, {"alpha", 0.25}, {"beta", 0.75}})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .error({x({1, 2, 2, 4}), x({1, 2, 2, 3}), x({1, 2, 2, 4})}, {}, "expected equal shapes");
  row("nn.local_response_normalization")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::lrn(in[0]), nn::local_response_normalization(
                                                       in[0], {.depth_radius = 1, .beta = 1})};
      })
      .tf("[tf.nn.lrn(x0), tf.nn.local_response_normalization(x0, depth_radius=1, beta=1)]")
      .sample({x({1, 2, 2, 4})})
      .dtypes(TypeSet{float32})
      .tolerance(1e-5);
}

}  // namespace rill::conformance
