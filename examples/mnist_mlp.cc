// shows: P53 Q37 Q39 Q60
// Digits read by a class of one's own and a training loop by hand, as the guide has it: batches
// drawn by chance, Adam, and the accuracy on the test images.
//   mnist_mlp [steps]     the guide's own run, and this one, has 30000
#include <rill/rill.h>

#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct MLP : keras::Model {
  keras::layers::Flatten flatten;
  keras::layers::Dense dense1{{.units = 100, .activation = tf::nn::relu}}, dense2{{.units = 10}};
  MLP() {
    track("flatten", flatten);
    track("dense1", dense1);
    track("dense2", dense2);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return tf::nn::softmax(dense2(dense1(flatten(inputs))));
  }
};

void expect_images(const MNISTLoader& data) {
  const auto [low, high] = std::pair(tf::reduce_min(data.train_data).item<float>(),
                                     tf::reduce_max(data.train_data).item<float>());
  expect(data.train_data.shape() == tf::TensorShape({data.num_train_data, 28, 28, 1}) &&
             data.train_data.dtype() == tf::float32 && low >= 0 && high > 0.9f && high <= 1,
         "images with one channel, 0 .. 1");
  expect(!data.real || (data.num_train_data == 60000 && data.num_test_data == 10000),
         "all of MNIST");
  expect(data.train_label.dtype() == tf::int32, "labels are int32");
  // More than there are: some come twice.
  const auto [X, y] = data.get_batch(data.num_train_data + 1);
  expect(X.shape() == tf::TensorShape({data.num_train_data + 1, 28, 28, 1}) &&
             y.shape() == tf::TensorShape({data.num_train_data + 1}),
         "a batch is drawn with replacement");
}

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr;
  tf::random::set_seed(1);
  const MNISTLoader data;
  expect_images(data);
  const int num_epochs = 5, batch = 50;
  // The guide's two loops both count the epochs: 6000 batches, five times.
  const int num_batches = data.num_train_data / batch * num_epochs;
  const int whole = num_epochs * num_batches;
  expect(!data.real || (num_batches == 6000 && whole == 30000), "the batches of the guide");
  const int steps = argc > 1 ? std::atoi(argv[1]) : quick ? 100 : data.real ? whole : 2000;
  MLP model;
  // Of a picture 784 numbers, of these 100, and a probability for each digit.
  Tensor x = data.train_data(tf::slice(0, batch));
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
  for (int i = 0; i < steps; ++i) {
    const auto [X, y] = data.get_batch(batch);
    const Tensor loss = train_step(X, y);
    if (i % (steps / 5) == 0)
      std::cout << tf::format("batch {}: loss {:.6f}\n", i, loss.item<float>());
  }
  expect(optimizer.iterations().item<std::int64_t>() == steps, "a step for each batch");
  keras::metrics::SparseCategoricalAccuracy accuracy;
  for (int start = 0; start < data.num_test_data; start += batch) {
    const int end = std::min(start + batch, data.num_test_data);
    const Tensor y_pred = model.predict(data.test_data(tf::slice(start, end)), {.verbose = 0});
    accuracy.update_state(data.test_label(tf::slice(start, end)), y_pred);
  }
  std::cout << tf::format("test accuracy: {:.6f}\n", accuracy.result().item<float>());
  if (!quick)
    expect(accuracy.result().item<float>() > (data.real ? 0.975f : 0.93f), "it reads the digits");
}
