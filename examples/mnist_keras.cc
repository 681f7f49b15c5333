// shows: P54 P89 A12
// The guides' quick start: digits of MNIST read by a stack of layers and by a functional model.
//   mnist_keras [epochs]     without MNIST's files: the small digits of the library
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

int main(int argc, char** argv) {
  const bool real = has_mnist(), quick = std::getenv("RILL_QUICK") != nullptr;
  const int epochs = argc > 1 ? std::atoi(argv[1]) : quick ? 1 : real ? 5 : 25;
  keras::utils::set_random_seed(1);
  const auto [train, test] =
      real ? keras::datasets::mnist::load_data() : keras::datasets::digits::load_data();
  const float white = real ? 255.f : 16.f;
  const Tensor x_train = train.x / white, x_test = test.x / white;
  const auto side = x_train.shape().dim(1);

  keras::Sequential model({
      keras::layers::Flatten({.input_shape = {side, side}}),
      keras::layers::Dense(128, {.activation = "relu"}),
      keras::layers::Dropout(0.2),
      keras::layers::Dense(10, {.activation = "softmax"}),
  });
  model.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(x_train, train.y, {.epochs = epochs});
  const auto [loss, accuracy] = model.evaluate(x_test, test.y).unpack<2>();
  std::cout << tf::format("Sequential: test loss {:.4f}, accuracy {:.4f}\n", loss, accuracy);
  expect(accuracy > (quick ? 0.5 : real ? 0.975 : 0.93), "the stack reads the digits");

  auto inputs = keras::Input({side, side, 1});
  auto x = keras::layers::Flatten()(inputs);
  x = keras::layers::Dense({.units = 100, .activation = tf::nn::relu})(x);
  x = keras::layers::Dense({.units = 10})(x);
  auto outputs = keras::layers::Activation("softmax")(x);
  keras::Model functional(inputs, outputs);
  functional.compile({.optimizer = keras::optimizers::Adam({.learning_rate = 0.001}),
                      .loss = keras::losses::sparse_categorical_crossentropy,
                      .metrics = {keras::metrics::sparse_categorical_accuracy}});
  functional.fit(tf::expand_dims(x_train, -1), train.y, {.batch_size = 32, .epochs = epochs});
  const auto scores = functional.evaluate(tf::expand_dims(x_test, -1), test.y);
  std::cout << tf::format("functional: test accuracy {:.4f}\n",
                          scores["sparse_categorical_accuracy"]);
  expect(scores["sparse_categorical_accuracy"] > (quick  ? 0.5
                                                  : real ? 0.975
                                                         : 0.93),
         "the functional model reads the digits");
}
