// Handwritten digits read by a small network: two layers, a tape and Adam.
#include <rill/rill.h>
#include <fstream>
#include <iterator>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct Digits {
  Tensor images, labels;
};

// [1797, 64] pixels in [0, 1] and the digit that each shows.
Digits load() {
  std::ifstream file(data_file("digits.u8"), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  const auto table = tf::reshape(tf::constant(data), {-1, 65});
  const int n = static_cast<int>(table.shape().dim(0));
  return {tf::cast(tf::slice(table, {0, 0}, {n, 64}), tf::float32) / 16.f,
          tf::reshape(tf::cast(tf::slice(table, {0, 64}, {n, 1}), tf::int32), {-1})};
}

struct Network {
  tf::Variable w1{tf::random::normal({64, 64}, 0, 0.15)}, b1{tf::zeros({64})};
  tf::Variable w2{tf::random::normal({64, 10}, 0, 0.15)}, b2{tf::zeros({10})};
  std::vector<tf::Variable> variables() const { return {w1, b1, w2, b2}; }
  Tensor operator()(const Tensor& x) const {
    const auto hidden = tf::nn::relu(tf::matmul(x, w1) + b1);
    return tf::matmul(hidden, w2) + b2;
  }
};

// An image as text: the darker, the denser.
void draw(const Tensor& image) {
  static const char* shades = " .:-=+*#%@";
  const auto pixels = image.to_vector<float>();
  for (std::size_t row = 0; row < 8; ++row) {
    std::string line = "    ";
    for (std::size_t column = 0; column < 8; ++column)
      line += std::string(2, shades[static_cast<int>(pixels[row * 8 + column] * 9)]);
    std::cout << line << '\n';
  }
}

int main() {
  tf::random::set_seed(42);
  const Digits all = load();
  const int n_train = 1500, n = static_cast<int>(all.labels.shape().dim(0)), batch = 50;
  const auto mixed = tf::random::shuffle(tf::range(n));  // the file is ordered by writer
  const auto images = tf::gather(all.images, mixed), labels = tf::gather(all.labels, mixed);
  const auto train_x = images(tf::slice(0, n_train)), test_x = images(tf::slice(n_train, n));
  const auto train_y = labels(tf::slice(0, n_train)), test_y = labels(tf::slice(n_train, n));
  std::cout << tf::format("{} digits to learn from, {} to be tested on\n", n_train, n - n_train);

  Network net;
  keras::optimizers::Adam adam({.learning_rate = 3e-3});
  for (int epoch = 1; epoch <= 20; ++epoch) {
    const auto order = tf::random::shuffle(tf::range(n_train));
    float total = 0;
    for (int start = 0; start < n_train; start += batch) {
      const auto pick = order(tf::slice(start, start + batch));
      const auto x = tf::gather(train_x, pick), y = tf::gather(train_y, pick);
      tf::GradientTape tape;
      const auto loss = tf::reduce_mean(
          tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = net(x)}));
      adam.apply_gradients(tape.gradient(loss, net.variables()), net.variables());
      total += loss.item<float>();
    }
    const int bar = epoch;
    std::cout << tf::format("\repoch {:2d} [{}{}] loss {:.4f}", epoch,
                            std::string(static_cast<std::size_t>(bar), '='),
                            std::string(static_cast<std::size_t>(20 - bar), '.'),
                            total / (n_train / batch))
              << std::flush;
  }
  const auto predicted = tf::argmax(net(test_x), 1);
  const auto right = tf::equal(predicted, tf::cast(test_y, tf::int64));
  const float accuracy = tf::reduce_mean(tf::cast(right, tf::float32)).item<float>();
  std::cout << tf::format("\ntest accuracy: {:.4f}\n\nthree of the test digits:\n", accuracy);
  for (int i : {0, 1, 2}) {
    draw(test_x[i]);
    std::cout << tf::format("    read as {}, is {}\n\n", predicted[i], test_y[i]);
  }
  expect(accuracy > 0.95f, "more than 95 % of the test digits");
}
