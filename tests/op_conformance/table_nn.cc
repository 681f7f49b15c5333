#include "rill/ops/nn_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(nn_activations) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  row("Relu")
      .sample({x({2, 3})})
      .sample({x({5}, {inf, -inf, nan, 0, -1})})
      .sample({x({0, 2})})
      .dtypes(kRealTypes);
  row("Relu6")
      .sample({x({2, 3}, -4, 12)})
      .sample({x({5}, {inf, -inf, nan, 6, 7})})
      .dtypes(kRealTypes);
  row("LeakyRelu")
      .sample({x({2, 3})})
      .sample({x({2, 3})}, {{"alpha", 0.5}})
      .sample({x({4}, {inf, -inf, nan, 0})})
      .sample({x({})})
      .dtypes(kFloatTypes);
  for (const char* name : {"Elu", "Selu", "Softplus", "Softsign"})
    row(name)
        .sample({x({2, 3})})
        .sample({x({5}, {inf, -inf, nan, 50, -120})})
        .sample({x({0})})
        .dtypes(kFloatTypes);
  for (const char* name : {"ReluGrad", "Relu6Grad"})
    row(name)
        .sample({x({2, 3}), x({2, 3}, -4, 12)})
        .sample({x({4}, {1, 1, 1, 1}), x({4}, {0, 6, -1, 3})})
        .dtypes(kRealTypes)
        .no_gradient_check("the second input steps; its gradient is zero by definition")
        .error({x({2, 3}), x({3})}, {},
               "gradients have shape \\[2, 3\\], features \\[3\\]; expected equal shapes");
  row("LeakyReluGrad")
      .sample({x({2, 3}), x({2, 3}, -4, 12)})
      .sample({x({2, 3}), x({2, 3}, -4, 12)}, {{"alpha", -1.0}})
      .dtypes(kFloatTypes)
      .error({x({2, 3}), x({3})}, {}, "expected equal shapes");
  row("EluGrad")
      .sample({x({2, 3}), x({2, 3}, -0.9, 2)})
      .dtypes(kFloatTypes)
      .error({x({2}), x({3})}, {}, "expected equal shapes");
  row("SeluGrad")
      .sample({x({2, 3}), x({2, 3}, -1.7, 2)})
      .dtypes(kFloatTypes)
      .error({x({2}), x({3})}, {}, "expected equal shapes");
  row("SoftplusGrad")
      .sample({x({2, 3}), x({2, 3})})
      .sample({x({3}, {1, 1, 1}), x({3}, {inf, -inf, nan})})
      .dtypes(kFloatTypes);
  row("SoftsignGrad")
      .sample({x({2, 3}), x({2, 3})})
      .sample({x({3}, {1, 1, 1}), x({3}, {inf, -inf, nan})})
      .dtypes(kFloatTypes);
  row("nn.crelu")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::crelu(in[0]), nn::crelu(in[0], 0)};
      })
      .tf("[tf.nn.crelu(x0), tf.nn.crelu(x0, axis=0)]")
      .sample({x({2, 3})});
}

RILL_ROWS(nn_softmax) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  for (const char* name : {"Softmax", "LogSoftmax"})
    row(name)
        .sample({x({2, 3})})
        .sample({x({3, 19}, -20, 20)})
        .sample({x({2, 1, 5})})
        .sample({x({0, 3})})
        .sample({x({3, 3}, {1000, 999, -1000, 1, 2, nan, 1, -inf, 2})})
        .dtypes(kFloatTypes)
        .error({x({})}, {}, "logits must have rank 1 or more, got a scalar");
  row("nn.softmax")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::softmax(in[0], 0), nn::softmax(in[0], -1),
                                   nn::softmax(in[0], 1), nn::log_softmax(in[0], -3)};
      })
      .tf("[tf.nn.softmax(x0, axis=0), tf.nn.softmax(x0, axis=-1), tf.nn.softmax(x0, axis=1), "
          "tf.nn.log_softmax(x0, axis=-3)]")
      .sample({x({2, 3, 4})})
      .error({x({2})}, {}, "axis 1 is out of range for rank 1");
  row("BiasAdd")
      .sample({x({2, 3}), x({3})})
      .sample({x({2, 2, 2, 3}), x({3})})
      .sample({x({2, 3, 2, 2}), x({3})}, {{"data_format", "NCHW"}})
      .sample({x({0, 3}), x({3})})
      .dtypes(kNumericTypes)
      .error({x({2, 3}), x({2})}, {},
             "bias has 2 elements, value of shape \\[2, 3\\] has 3 channels")
      .error({x({2, 3}), x({3, 1})}, {}, "bias must have rank 1, got shape \\[3, 1\\]")
      .error({x({2, 3}), x({3})}, {{"data_format", "HWC"}}, "data_format must be");
  row("BiasAddGrad")
      .sample({x({2, 3})})
      .sample({x({2, 3, 2, 5})}, {{"data_format", "NCHW"}})
      .sample({x({2, 2, 5, 3})})
      .sample({x({0, 3})})
      .dtypes(kNumericTypes)
      .error({x({2})}, {}, "out_backprop must have rank 2 or more");
}

RILL_ROWS(nn_cross_entropy) {
  // Rows of labels sum to 1: else the gradient is not that of the loss, by definition.
  row("SoftmaxCrossEntropyWithLogits")
      .sample({x({2, 3}), x({2, 3}, {0.2, 0.3, 0.5, 0, 1, 0})})
      .sample({x({2, 3}), x({1, 3}, {0.2, 0.3, 0.5})})
      .sample({x({3}), x({2, 1}, {1 / 3., 1 / 3.})})
      .sample({x({3, 17}, -30, 30), x({3, 17}, std::vector<double>(51, 1 / 17.))})
      .sample({x({0, 3}), x({0, 3})})
      .dtypes(kFloatTypes)
      .error({x({2, 3}), x({2, 4})}, {}, "shapes \\[2, 3\\] and \\[2, 4\\] cannot be broadcast")
      .error({x({3}), x({3})}, {}, "must be matrices \\[batch, classes\\]");
  row("SparseSoftmaxCrossEntropyWithLogits")
      .sample({x({2, 3}), values(int32, {2}, {2, 0})})
      .sample({x({3, 17}, -30, 30), values(int64, {3}, {0, 16, 5})})
      .sample({x({0, 3}), values(int64, {0}, {})})
      .dtypes(kFloatTypes)
      .error({x({2, 3}), values(int32, {2}, {1, 3})}, {}, "labels\\[1\\] = 3 is not in \\[0, 3\\)")
      .error({x({2, 3}), values(int32, {2}, {-1, 0})}, {},
             "labels\\[0\\] = -1 is not in \\[0, 3\\)")
      .error({x({2, 3}), values(int32, {3}, {0, 0, 0})}, {}, "batch sizes of logits and labels")
      .error({x({2, 3}), values(float32, {2}, {0, 1})}, {}, "labels.*float32");
  row("nn.softmax_cross_entropy_with_logits_v2")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::softmax_cross_entropy_with_logits_v2({.labels = in[1], .logits = in[0]}),
            nn::softmax_cross_entropy_with_logits_v2(
                {.labels = in[1], .logits = in[0], .axis = 1})};
      })
      .tf("[tf.nn.softmax_cross_entropy_with_logits(labels=x1, logits=x0),"
          " tf.nn.softmax_cross_entropy_with_logits(labels=x1, logits=x0, axis=1)]")
      .sample({x({2, 2, 2}), x({2, 2, 2}, {0.3, 0.7, 0.7, 0.3, 1, 0, 0, 1})})
      .dtypes(kFloatTypes);
  row("nn.sparse_softmax_cross_entropy_with_logits")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::sparse_softmax_cross_entropy_with_logits({.labels = in[1], .logits = in[0]})};
      })
      .tf("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x1, logits=x0)")
      .sample({x({2, 3}), values(int32, {2}, {2, 0})})
      .sample({x({2, 2, 3}), values(int64, {2, 2}, {2, 0, 1, 1})})
      .sample({x({3}), values(int32, {}, {1})})
      .dtypes(kFloatTypes)
      .error({x({2, 3}), values(int32, {2, 3}, {0, 0, 0, 0, 0, 0})}, {},
             "labels must have one rank less than logits")
      .error({x({2, 3}), values(float32, {2}, {0, 1})}, {},
             "labels are float32; expected class numbers of dtype int32 or int64");
  row("nn.sigmoid_cross_entropy_with_logits")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::sigmoid_cross_entropy_with_logits({.labels = in[1], .logits = in[0]})};
      })
      .tf("tf.nn.sigmoid_cross_entropy_with_logits(labels=x1, logits=x0)")
      .sample({x({2, 3}), x({2, 3}, 0, 1)})
      .sample({x({4}, {100, -100, 20, -20}), x({4}, {1, 0, 1, 1})})
      .error({x({2, 3}), x({3})}, {},
             "logits have shape \\[2, 3\\], labels \\[3\\]; expected equal shapes");
  row("nn.weighted_cross_entropy_with_logits")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::weighted_cross_entropy_with_logits(
            {.labels = in[1], .logits = in[0], .pos_weight = in[2]})};
      })
      .tf("tf.nn.weighted_cross_entropy_with_logits(labels=x1, logits=x0, pos_weight=x2)")
      .sample({x({2, 3}), x({2, 3}, 0, 1), x({}, {1.5})})
      .sample({x({2, 3}), x({2, 3}, 0, 1), x({3}, {1.5, 0.5, 2})});
  row("nn.xw_plus_b")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::xw_plus_b(in[0], in[1], in[2]),
                                   nn::relu_layer(in[0], in[1], in[2])};
      })
      .tf("[tf.compat.v1.nn.xw_plus_b(x0, x1, x2), tf.compat.v1.nn.relu_layer(x0, x1, x2)]")
      .sample({x({2, 3}), x({3, 4}), x({4})});
  row("nn.log_poisson_loss")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::log_poisson_loss(in[0], in[1]),
                                   nn::log_poisson_loss(in[0], in[1], true)};
      })
      .tf("[tf.nn.log_poisson_loss(x0, x1), tf.nn.log_poisson_loss(x0, x1, "
          "compute_full_loss=True)]")
      .sample({x({2, 3}, {0.25, 0.5, 2, 3.5, 7, 0}), x({2, 3})})
      .no_gradient_check("the loss steps where Stirling's formula begins and ends")
      .error({x({2, 3}), x({2})}, {},
             "log_input has shape \\[2\\], targets \\[2, 3\\]; expected equal shapes");
  row("nn.embedding_lookup_max_norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::embedding_lookup(in[0], in[1], 1.5)};
      })
      .tf("tf.nn.embedding_lookup(x0, x1, max_norm=1.5)")
      .sample({x({4, 2}, {1, 2, 0, 0, -3, 0.5, 0.25, 1}), values(int32, {2, 2}, {3, 0, 3, 2})})
      .sample({x({4, 2}, {1, 2, 0, 0, -3, 0.5, 0.25, 1}), values(int32, {}, {1})})
      .tolerance(1e-5);
  row("nn.embedding_lookup")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::embedding_lookup(in[0], in[1])};
      })
      .tf("tf.nn.embedding_lookup(x0, x1)")
      .sample({x({4, 2}), values(int32, {2, 2}, {3, 0, 3, 1})});
}

}  // namespace rill::conformance
