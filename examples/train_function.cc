// shows: P71
// A convolutional network trained by one function, traced once and then run as a graph:
// the same losses as eager execution, sooner.
//   train_function [batches]     the guide's own run has 1000 batches of 50
#include <rill/rill.h>
#include <chrono>
#include <cstdint>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct Images {
  Tensor pixels, labels;  // [n, 28, 28, 1] in [0, 1], [n] int32
};
Images scaled(const keras::datasets::Split& s, float white) {
  const auto x = tf::expand_dims(tf::cast(s.x, tf::float32), -1) / white;
  return {tf::image::resize(x, {28, 28}), tf::cast(s.y, tf::int32)};
}

// The guide's network: two convolutions, each with a pool behind it, and two dense layers.
struct Cnn {
  static tf::Variable weights(const tf::TensorShape& shape, int seed) {
    return tf::Variable(keras::initializers::GlorotUniform({.seed = seed})(shape));
  }
  tf::Variable k1 = weights({5, 5, 1, 32}, 1), c1{tf::zeros({32})};
  tf::Variable k2 = weights({5, 5, 32, 64}, 2), c2{tf::zeros({64})};
  tf::Variable w1 = weights({7 * 7 * 64, 1024}, 3), b1{tf::zeros({1024})};
  tf::Variable w2 = weights({1024, 10}, 4), b2{tf::zeros({10})};
  keras::optimizers::Adam optimizer{0.001};

  std::vector<tf::Variable> variables() const { return {k1, c1, k2, c2, w1, b1, w2, b2}; }
  Tensor operator()(Tensor x) const {
    x = tf::nn::max_pool2d(tf::nn::relu(tf::nn::conv2d(x, k1, 1, "SAME") + c1), 2, 2, "VALID");
    x = tf::nn::max_pool2d(tf::nn::relu(tf::nn::conv2d(x, k2, 1, "SAME") + c2), 2, 2, "VALID");
    x = tf::nn::relu(tf::matmul(tf::reshape(x, {-1, 7 * 7 * 64}), w1) + b1);
    return tf::matmul(x, w2) + b2;  // logits: the loss takes them, and the largest wins
  }
  Tensor train_one_step(const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    auto loss =
        keras::losses::sparse_categorical_crossentropy(y, (*this)(x), {.from_logits = true});
    loss = tf::reduce_mean(loss);
    tf::print("loss", loss);
    optimizer.apply_gradients(tape.gradient(loss, variables()), variables());
    return loss;
  }
};

int main(int argc, char** argv) {
  const int batches = argc > 1 ? std::atoi(argv[1]) : 40, size = 50;
  // MNIST where its files are, else the small digits of the library, enlarged.
  const bool real = has_mnist();
  const auto data =
      real ? keras::datasets::mnist::load_data() : keras::datasets::digits::load_data();
  const Images train = scaled(data.train, real ? 255.f : 16.f),
               test = scaled(data.test, real ? 255.f : 16.f);
  const int count = static_cast<int>(train.labels.shape().dim(0));

  // The losses of all batches, and the time of all but the first, which is traced.
  auto run = [&](auto step) {
    std::vector<float> losses;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < batches; ++i) {
      const auto pick = tf::random::stateless_uniform_int({size}, {i, 5}, 0, count);
      const Tensor loss = step(tf::gather(train.pixels, pick), tf::gather(train.labels, pick));
      losses.push_back(loss.item<float>());
      if (i == 0) start = std::chrono::steady_clock::now();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return std::make_pair(losses, took.count());
  };
  Cnn eager, traced;
  const auto [eager_losses, eager_seconds] =
      run([&](const Tensor& x, const Tensor& y) { return eager.train_one_step(x, y); });
  auto train_one_step = tf::function(&traced, &Cnn::train_one_step);
  const auto [losses, seconds] = run(train_one_step);

  const auto test_x = test.pixels(tf::slice(0, 1000)), test_y = test.labels(tf::slice(0, 1000));
  const auto right = tf::equal(tf::argmax(traced(test_x), 1), tf::cast(test_y, tf::int64));
  const float accuracy = tf::reduce_mean(tf::cast(right, tf::float32)).item<float>();
  std::cout << tf::format("{} batches of {} {}\neager    {:.3f} s\nfunction {:.3f} s\n", batches,
                          size, real ? "MNIST images" : "enlarged digits", eager_seconds, seconds)
            << tf::format("loss {:.4f} -> {:.4f}, test accuracy {:.4f}\n", losses.front(),
                          losses.back(), accuracy);
  expect(train_one_step.trace_count() == 1, "one trace");
  expect(losses == eager_losses, "the losses of eager execution, bit for bit");
  expect(batches < 40 || (losses.back() < 1 && accuracy > 0.75f), "a network that learns");
}
