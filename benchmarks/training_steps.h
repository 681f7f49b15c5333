#pragma once
// Training steps as traced functions: the networks of the guides that benchmarks time.
// Each is made once and then called as often as one likes.
#include <functional>
#include <vector>

#include "rill/keras/layers/layers.h"
#include "rill/rill.h"

namespace training {

namespace tf = rill;
using tf::Tensor, tf::Variable;

inline Variable weights(const tf::TensorShape& shape, double scale) {
  return Variable(tf::random::uniform(shape, -scale, scale, {.seed = 1}));
}
inline Variable zeros(const tf::TensorShape& shape) { return Variable(tf::zeros(shape)); }

struct Step {
  std::function<Tensor()> call;  // the loss
  std::function<std::string()> explain;
  void operator()() const { call(); }
};

// 784-100-10, batch 50, Adam.
inline Step mlp_step() {
  const auto x = tf::random::uniform({50, 784}, -1., 1., {.seed = 2});
  const auto y = tf::cast(tf::range(50) % 10, tf::int32);
  Variable w1 = weights({784, 100}, .04), b1 = zeros({100}), w2 = weights({100, 10}, .1),
           b2 = zeros({10});
  const std::vector<Variable> vars{w1, b1, w2, b2};
  tf::keras::optimizers::Adam adam(1e-3);
  auto step = tf::function([=](Tensor images, Tensor labels) mutable {
    tf::GradientTape tape;
    const auto h = tf::nn::relu(tf::matmul(images, w1) + b1);
    const auto loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = labels, .logits = tf::matmul(h, w2) + b2}));
    adam.apply_gradients(tape.gradient(loss, vars), vars);
    return loss;
  });
  return {[=] { return step(x, y); }, [=] { return step.explain(); }};
}

// Two convolutions and two dense layers (P56), Adam.
inline Step cnn_step(int batch = 50) {
  const auto x = tf::random::uniform({batch, 28, 28, 1}, -1., 1., {.seed = 2});
  const auto y = tf::cast(tf::range(batch) % 10, tf::int32);
  Variable k1 = weights({5, 5, 1, 32}, .2), c1 = zeros({32}), k2 = weights({5, 5, 32, 64}, .035),
           c2 = zeros({64}), w1 = weights({3136, 1024}, .018), b1 = zeros({1024}),
           w2 = weights({1024, 10}, .03), b2 = zeros({10});
  const std::vector<Variable> vars{k1, c1, k2, c2, w1, b1, w2, b2};
  tf::keras::optimizers::Adam adam(1e-3);
  auto step = tf::function([=](Tensor images, Tensor labels) mutable {
    tf::GradientTape tape;
    auto h = tf::nn::relu(tf::nn::bias_add(tf::nn::conv2d(images, k1, 1, "SAME"), c1));
    h = tf::nn::max_pool2d(h, 2, 2, "VALID");
    h = tf::nn::relu(tf::nn::bias_add(tf::nn::conv2d(h, k2, 1, "SAME"), c2));
    h = tf::reshape(tf::nn::max_pool2d(h, 2, 2, "VALID"), {-1, 3136});
    h = tf::nn::relu(tf::matmul(h, w1) + b1);
    const auto loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = labels, .logits = tf::matmul(h, w2) + b2}));
    adam.apply_gradients(tape.gradient(loss, vars), vars);
    return loss;
  });
  return {[=] { return step(x, y); }, [=] { return step.explain(); }};
}

// An LSTM of 256 units over 40 steps (P58), batch 50, Adam; unrolled.
inline Step lstm_step() {
  constexpr int kSteps = 40, kUnits = 256, kClasses = 60;
  const auto x = tf::one_hot(tf::cast(tf::range(kSteps * 50) * 7 % kClasses, tf::int32), kClasses);
  const auto inputs = tf::reshape(x, {kSteps, 50, kClasses});
  const auto y = tf::cast(tf::range(50) * 13 % kClasses, tf::int32);
  Variable wx = weights({kClasses, 4 * kUnits}, .06), wh = weights({kUnits, 4 * kUnits}, .06),
           b = zeros({4 * kUnits}), wo = weights({kUnits, kClasses}, .06), bo = zeros({kClasses});
  const std::vector<Variable> vars{wx, wh, b, wo, bo};
  tf::keras::optimizers::Adam adam(1e-3);
  auto step = tf::function([=](Tensor seq, Tensor labels) mutable {
    tf::GradientTape tape;
    Tensor h = tf::zeros({50, kUnits}), c = tf::zeros({50, kUnits});
    const Tensor kernel = wx, recurrent = wh, bias = b;
    for (int t = 0; t < kSteps; ++t) {
      const auto z = tf::matmul(seq[t], kernel) + tf::matmul(h, recurrent) + bias;
      const auto g = tf::split(z, 4, 1);
      c = tf::sigmoid(g[1]) * c + tf::sigmoid(g[0]) * tf::tanh(g[2]);
      h = tf::sigmoid(g[3]) * tf::tanh(c);
    }
    const auto loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = labels, .logits = tf::matmul(h, wo) + bo}));
    adam.apply_gradients(tape.gradient(loss, vars), vars);
    return loss;
  });
  return {[=] { return step(inputs, y); }, [=] { return step.explain(); }};
}

// The same by the layers: what they add to the step above is theirs. `Recurrent`: LSTM, GRU.
template <class Recurrent>
Step layer_step() {
  constexpr int kSteps = 40, kUnits = 256, kClasses = 60;
  const auto x = tf::one_hot(tf::cast(tf::range(kSteps * 50) * 7 % kClasses, tf::int32), kClasses);
  const auto inputs = tf::transpose(tf::reshape(x, {kSteps, 50, kClasses}), {1, 0, 2});
  const auto y = tf::cast(tf::range(50) * 13 % kClasses, tf::int32);
  Recurrent recurrent(kUnits);
  tf::keras::layers::Dense dense(kClasses);
  dense(recurrent(inputs));
  std::vector<Variable> vars = recurrent.trainable_variables();
  for (const Variable& v : dense.trainable_variables()) vars.push_back(v);
  tf::keras::optimizers::Adam adam(1e-3);
  auto step = tf::function([=](Tensor seq, Tensor labels) mutable {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = labels, .logits = dense(recurrent(seq, {.training = 1}))}));
    adam.apply_gradients(tape.gradient(loss, vars), vars);
    return loss;
  });
  return {[=] { return step(inputs, y); }, [=] { return step.explain(); }};
}
inline Step lstm_layer_step() { return layer_step<tf::keras::layers::LSTM>(); }
inline Step gru_layer_step() { return layer_step<tf::keras::layers::GRU>(); }

}  // namespace training
