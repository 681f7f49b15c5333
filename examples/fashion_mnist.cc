// shows: P46 A07
// The guides' first classifier: ten kinds of clothes in 70,000 small pictures.
//   fashion_mnist [epochs]     reads Fashion-MNIST's files; Debian has them as a package
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

int main(int argc, char** argv) try {
  const bool quick = std::getenv("RILL_QUICK") != nullptr;
  const int epochs = argc > 1 ? std::atoi(argv[1]) : quick ? 1 : 5;
  keras::utils::set_random_seed(1);
  const auto [train, test] = keras::datasets::fashion_mnist::load_data();
  const auto& class_names = keras::datasets::fashion_mnist::class_names;
  expect(train.x.shape() == tf::TensorShape({60000, 28, 28}) && test.y.size() == 10000,
         "all of Fashion-MNIST");
  const Tensor train_images = train.x / 255.f, test_images = test.x / 255.f;

  keras::Sequential model({
      keras::layers::Flatten({.input_shape = {28, 28}}),
      keras::layers::Dense(128, {.activation = tf::nn::relu}),
      keras::layers::Dense(10, {.activation = tf::nn::softmax}),
  });
  model.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(train_images, train.y, {.epochs = epochs});
  const auto [test_loss, test_acc] = model.evaluate(test_images, test.y).unpack<2>();
  std::cout << "Test accuracy: " << test_acc << '\n';
  // Keras 2.15 has 0.87 to 0.88 after five epochs, and 0.82 to 0.85 after one.
  expect(test_acc > (quick ? 0.8 : 0.86), "clothes are told apart");

  const Tensor predictions = model.predict(test_images);
  expect(predictions.shape() == tf::TensorShape({10000, 10}), "a row of probabilities a picture");
  const int guess = tf::argmax(predictions[0]).item<int>(), truth = test.y[0].item<int>();
  std::cout << predictions[0] << "\nThe first test picture shows: " << class_names[guess]
            << " (it is: " << class_names[truth] << ")\n";
  expect(class_names[truth] == "Ankle boot", "the labels have their names");
} catch (const tf::errors::NotFound& e) {
  std::cerr << e.what() << "\nOn Debian: apt-get install dataset-fashion-mnist\n";
  return 77;  // skipped
}
