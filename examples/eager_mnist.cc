// shows: P13 Q08 Q09 Q10
// Digits learnt step by step in eager execution, with TensorFlow 1's losses and optimizer. The
// pixels stay 0 .. 255, as in the guide, so that the first loss is large.
//   eager_mnist [steps]     the guide's own run, and this one with MNIST's files, has 7500
#include <rill/rill.h>

#include <numeric>

#include "example.h"
namespace tf = rill;
namespace layers = tf::keras::layers;
using tf::Tensor;

Tensor loss(const tf::keras::Model& model, const Tensor& x, const Tensor& y) {
  const auto prediction = model(x);
  return tf::losses::sparse_softmax_cross_entropy(y, prediction);
}

tf::Gradients grad(const tf::keras::Model& model, const Tensor& inputs, const Tensor& targets) {
  tf::GradientTape tape;
  const auto loss_value = loss(model, inputs, targets);
  return tape.gradient(loss_value, model.variables());
}

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr, real = has_mnist();
  const int steps = argc > 1 ? std::atoi(argv[1]) : quick ? 3 : real ? 7500 : 601;
  tf::enable_eager_execution();
  tf::random::set_seed(1);

  const std::string data_format = "channels_last";
  const tf::TensorShape input_shape = {1, 28, 28};
  tf::keras::Sequential model({
      layers::Reshape(input_shape, {.input_shape = {28 * 28}}),
      layers::Conv2D(32, 5,
                     {.padding = "same", .data_format = data_format, .activation = tf::nn::relu}),
      layers::MaxPooling2D({2, 2}, {2, 2}, {.padding = "same", .data_format = data_format}),
      layers::Conv2D(64, 5,
                     {.padding = "same", .data_format = data_format, .activation = tf::nn::relu}),
      layers::MaxPooling2D({2, 2}, {2, 2}, {.padding = "same", .data_format = data_format}),
      layers::Flatten(),
      layers::Dense(1024, {.activation = tf::nn::relu}),
      layers::Dropout(0.4),
      layers::Dense(10),
  });
  const auto batch = tf::zeros({1, 1, 784});
  std::cout << model(batch).numpy() << '\n';  // nothing in, nothing out

  // MNIST where its files are, else the small digits of the library, enlarged.
  const auto train = real ? tf::keras::datasets::mnist::load_data().train
                          : tf::keras::datasets::digits::load_data().train;
  auto train_x = tf::cast(train.x, tf::float32);
  if (!real)
    train_x =
        tf::squeeze(tf::image::resize(tf::expand_dims(train_x * (255.f / 16), -1), {28, 28}), {-1});
  const auto train_y = tf::cast(train.y, tf::int64);
  auto dataset_train = tf::data::Dataset::from_tensor_slices(tf::tuple(train_x, train_y));
  dataset_train = dataset_train.shuffle(60000).repeat(real ? 4 : 200).batch(32);
  expect(!real || dataset_train.cardinality() == 7500, "four times 60000 in batches of 32");

  auto [x, y] = dataset_train.iter().next().unpack<2>();
  std::cout << x.shape() << '\n' << y.shape() << '\n' << model(x).shape() << '\n';

  tf::train::GradientDescentOptimizer optimizer(0.001);
  const float initial = loss(model, x, y).item<float>();
  std::cout << tf::format("Initial loss: {:.3f}\n", initial);
  const auto global_step = tf::train::get_or_create_global_step();
  int i = 0;
  std::vector<float> late;  // losses of the last 50 steps
  for (auto& element : dataset_train.take(steps)) {
    x = element[0].as_tensor(), y = element[1].as_tensor();
    const auto grads = grad(model, x, y);
    optimizer.apply_gradients(tf::zip(grads, model.variables()), {.global_step = global_step});
    if (i % 200 == 0) {
      const float now = loss(model, x, y).item<float>();
      std::cout << tf::format("Loss at step {:04d}: {:.3f}\n", i, now);
      expect(i == 0 ? now > 2 : now < 1, "a loss that falls at once and stays low");
    }
    if (++i > steps - 50) late.push_back(loss(model, x, y).item<float>());
  }
  std::cout << tf::format("Final loss: {:.3f}\n", loss(model, x, y).item<float>());
  expect(global_step.numpy().item<std::int64_t>() == i, "steps are counted");
  if (quick) return 0;
  const float mean = std::accumulate(late.begin(), late.end(), 0.f) / 50;
  std::cout << tf::format("mean of the last 50: {:.3f}\n", mean);
  expect(initial > 5, "a large loss of pixels that are not scaled");
  expect(mean < 0.25f, "the losses of the guide");
  if (steps < 7500) return 0;
  expect(i == 7500, "the steps of the guide");
  expect(mean < 0.05f, "the losses of the guide's last steps");
}
