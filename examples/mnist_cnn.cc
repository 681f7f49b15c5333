// shows: P56 Q38 A13
// Digits read by a convolutional network, a class of one's own, trained by a traced step.
//   mnist_cnn [steps]     one epoch is 1200; with RILL_FULL 30000, as the guide's loops make
#include <rill/rill.h>

#include "mnist_cnn.h"
#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr,
             full = std::getenv("RILL_FULL") != nullptr;
  const int steps = argc > 1 ? std::atoi(argv[1]) : quick ? 5 : full ? 30000 : 1200;
  const int batch_size = 50;
  tf::random::set_seed(1);
  const MNISTLoader data;
  CNN model;

  // The shapes that the comments of the class name.
  Tensor x = data.train_data(tf::slice(0, batch_size));
  for (const auto& layer : model.layers()) {
    x = (*layer)(x);
    std::cout << x.shape() << '\n';
  }

  keras::optimizers::Adam optimizer({.learning_rate = 0.001});
  auto train_step = tf::function([&](const Tensor& X, const Tensor& y) {
    tf::GradientTape tape;
    const auto y_pred = model(X);
    const auto loss = tf::reduce_mean(keras::losses::sparse_categorical_crossentropy(y, y_pred));
    optimizer.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
    return loss;
  });
  for (int i = 1; i <= steps; ++i) {
    const auto [X, y] = data.get_batch(batch_size);
    const Tensor loss = train_step(X, y);
    if (i % 600 == 0) std::cout << tf::format("batch {}: loss {:.6f}\n", i, loss.item<float>());
  }
  expect(train_step.trace_count() == 1, "one trace");

  // The test images are looked at once, when the training is over.
  keras::metrics::SparseCategoricalAccuracy accuracy;
  const int count = quick ? 50 : data.num_test_data;
  for (int start = 0; start < count; start += batch_size) {
    const auto images = tf::slice(start, std::min(start + batch_size, data.num_test_data));
    accuracy.update_state(data.test_label(images),
                          model.predict(data.test_data(images), {.verbose = 0}));
  }
  const float right = accuracy.result().item<float>();
  std::cout << tf::format("test accuracy: {:.6f}\n", right);
  if (!quick)
    expect(right > (!data.real ? 0.93f : steps < 30000 ? 0.97f : 0.988f), "it reads the digits");
}
