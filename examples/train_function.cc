// shows: P71 F08 T03
// The guide's convolutional network trained by one function, traced once and then run as a graph:
// what eager execution learns, sooner.
//   train_function [batches]     the guide's own run, and this one, has 1000 batches of 50
#include <rill/rill.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "mnist_cnn.h"
#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct Training {
  CNN model;
  keras::optimizers::Adam optimizer{{.learning_rate = 0.001}};
  Tensor train_one_step(const Tensor& X, const Tensor& y) {
    tf::GradientTape tape;
    const auto y_pred = model(X);
    auto loss = keras::losses::sparse_categorical_crossentropy(y, y_pred);
    loss = tf::reduce_mean(loss);
    tf::print(tf::PrintTo{.output_stream = "stdout"}, "loss", loss);
    optimizer.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
    return loss;
  }
};

// What a call takes; seconds are kept one by one, for a mean is at the mercy of other programs.
struct Clock {
  std::vector<double> seconds;
  template <class F>
  float operator()(F call) {
    const auto start = std::chrono::steady_clock::now();
    const float loss = call().template item<float>();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count());
    return loss;
  }
  double median() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    return sorted[sorted.size() / 2];
  }
  double sum() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
};

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr;
  const int num_batches = argc > 1 ? std::atoi(argv[1]) : quick ? 20 : 1000, batch_size = 50;
  const MNISTLoader data_loader;
  tf::random::set_seed(1);
  Training traced, eager;
  // Both begin with the same weights.
  traced.model(data_loader.train_data(tf::slice(0, 1)));
  eager.model(data_loader.train_data(tf::slice(0, 1)));
  eager.model.set_weights(traced.model.get_weights());

  auto train_one_step = tf::function(&traced, &Training::train_one_step);
  Clock by_function, eagerly;
  float first = 0, last = 0;
  for (int i = 0; i < num_batches; ++i) {
    const auto [X, y] = data_loader.get_batch(batch_size);
    const float loss = by_function([&, X = X, y = y] { return train_one_step(X, y); });
    const float other = eagerly([&, X = X, y = y] { return eager.train_one_step(X, y); });
    // Rounding differs, and grows from step to step.
    expect(i >= 5 || std::abs(loss - other) < 1e-2f, "the losses of eager execution");
    if (i == 0) first = loss;
    last = std::max(loss, other);
  }
  std::cout << by_function.sum() << '\n';
  std::cout << tf::format("a step: {:.3f} ms by the function, {:.3f} ms eagerly\n",
                          1e3 * by_function.median(), 1e3 * eagerly.median());
  expect(train_one_step.trace_count() == 1, "one trace");
  if (quick) return 0;
  expect(last < 0.5f * first, "a network that learns");
  // In turns, so that what else the machine does slows both.
  expect(by_function.median() < eagerly.median(), "a function is faster");
}
