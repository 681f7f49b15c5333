// shows: P56 Q38 A13
// Digits read by a convolutional network, a class of one's own, trained by a traced step.
//   mnist_cnn [steps]     at most so many: five epochs are 6000; the guide's own loops make 30000
#include <rill/rill.h>

#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

struct CNN : keras::Model {
  layers::Conv2D conv1{{.filters = 32,          // kernels, and so channels of the result
                        .kernel_size = {5, 5},  // what a neuron sees
                        .padding = "same",      // "valid" or "same": zeros keep the size
                        .activation = tf::nn::relu}};
  layers::MaxPool2D pool1{{.pool_size = {2, 2}, .strides = 2}};
  layers::Conv2D conv2{
      {.filters = 64, .kernel_size = {5, 5}, .padding = "same", .activation = tf::nn::relu}};
  layers::MaxPool2D pool2{{.pool_size = {2, 2}, .strides = 2}};
  layers::Reshape flatten{tf::TensorShape{7 * 7 * 64}};
  layers::Dense dense1{{.units = 1024, .activation = tf::nn::relu}}, dense2{{.units = 10}};
  CNN() {
    track("conv1", conv1);
    track("pool1", pool1);
    track("conv2", conv2);
    track("pool2", pool2);
    track("flatten", flatten);
    track("dense1", dense1);
    track("dense2", dense2);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    auto x = conv1(inputs);  // [batch_size, 28, 28, 32]
    x = pool1(x);            // [batch_size, 14, 14, 32]
    x = conv2(x);            // [batch_size, 14, 14, 64]
    x = pool2(x);            // [batch_size, 7, 7, 64]
    x = flatten(x);          // [batch_size, 7 * 7 * 64]
    x = dense1(x);           // [batch_size, 1024]
    x = dense2(x);           // [batch_size, 10]
    return tf::nn::softmax(x);
  }
};

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr;
  const int steps = argc > 1 ? std::atoi(argv[1]) : quick ? 5 : 6000, batch_size = 50;
  tf::random::set_seed(1);
  const MNISTLoader data;
  CNN model;

  // The shapes of the comments above.
  Tensor x = data.train_data(tf::slice(0, batch_size));
  const tf::TensorShape shapes[] = {{50, 28, 28, 32}, {50, 14, 14, 32}, {50, 14, 14, 64},
                                    {50, 7, 7, 64},   {50, 7 * 7 * 64}, {50, 1024},
                                    {50, 10}};
  const tf::TensorShape* shape = shapes;
  for (const auto& layer : model.layers()) {
    x = (*layer)(x);
    std::cout << layer->name() << ' ' << x.shape() << '\n';
    expect(x.shape() == *shape++, "the shape after " + layer->name());
  }

  keras::optimizers::Adam optimizer({.learning_rate = 0.001});
  auto train_step = tf::function([&](const Tensor& X, const Tensor& y) {
    tf::GradientTape tape;
    const auto y_pred = model(X);
    const auto loss = tf::reduce_mean(keras::losses::sparse_categorical_crossentropy(y, y_pred));
    optimizer.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
    return loss;
  });
  const auto accuracy_on = [&](const auto& images) {
    keras::metrics::SparseCategoricalAccuracy accuracy;
    accuracy.update_state(data.test_label(images),
                          model.predict(data.test_data(images), {.batch_size = 50, .verbose = 0}));
    return accuracy.result().item<float>();
  };
  // Until the digits are read as well as the guides say, for five epochs at most.
  const auto all = tf::slice(0, data.num_test_data, quick ? 50 : 1);
  const float enough = data.real ? 0.99f : 0.93f;
  float accuracy = 0;
  for (int i = 1; i <= steps && accuracy < enough; ++i) {
    const auto [X, y] = data.get_batch(batch_size);
    const Tensor loss = train_step(X, y);
    if (i % 100 == 0) std::cout << tf::format("batch {}: loss {:.6f}\n", i, loss.item<float>());
    if (i % 600 != 0 && i != steps) continue;
    accuracy = accuracy_on(all);
    std::cout << tf::format("batch {}: test accuracy {:.6f}\n", i, accuracy);
  }
  expect(train_step.trace_count() == 1, "one trace");
  if (!quick) expect(accuracy >= enough, "it reads the digits");
}
