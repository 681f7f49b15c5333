// shows: P03 P04 P05
// Three ways to write a model: as a graph of layers, as a class, and with a layer of one's own.
#include <rill/rill.h>

#include <cmath>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

struct MyModel : keras::Model {
  int num_classes;
  layers::Dense dense_1{32, {.activation = "relu"}}, dense_2;
  explicit MyModel(int n = 10)
      : Model({.name = "my_model"}), num_classes(n), dense_2(n, {.activation = "sigmoid"}) {
    track("dense_1", dense_1);
    track("dense_2", dense_2);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return dense_2(dense_1(inputs));
  }
  tf::TensorShape compute_output_shape(const tf::TensorShape& input_shape) override {
    tf::TensorShape shape = input_shape;
    shape.set_dim(shape.rank() - 1, num_classes);
    return shape;
  }
};

struct MyLayer : layers::Layer {
  int output_dim;
  tf::Variable kernel;
  explicit MyLayer(int n, keras::LayerOptions options = {})
      : Layer(std::move(options)), output_dim(n) {}
  void build(const tf::TensorShape& input_shape) override {
    kernel = add_weight("kernel", {input_shape[1], output_dim},
                        {.initializer = "uniform", .trainable = true});
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return tf::matmul(inputs, kernel);
  }
  keras::Config get_config() const override {
    keras::Config base_config = Layer::get_config();
    base_config.set("output_dim", output_dim);
    return base_config;
  }
  static MyLayer from_config(const keras::Config& c) {
    return MyLayer(static_cast<int>(c["output_dim"].as_int()), keras::LayerOptions::from_config(c));
  }
};

const Tensor data = tf::random::uniform({1000, 32}, 0, 1, {.seed = 1}),
             labels = tf::nn::softmax(tf::random::uniform({1000, 10}, 0, 3, {.seed = 2}));

// The same training for each of them.
template <class M>
void train(M& model, const char* what) {
  model.compile({.optimizer = tf::compat::v1::train::RMSPropOptimizer(0.001),
                 .loss = "categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const auto history = model.fit(data, labels, {.batch_size = 32, .epochs = 5, .verbose = 0});
  std::cout << what << ": loss " << history["loss"].front() << " -> " << history["loss"].back()
            << '\n';
  expect(std::isfinite(history["loss"].back()), "finite losses");
  expect(history["loss"].back() < history["loss"].front(), "a falling loss");
}

int main() {
  auto inputs = keras::Input({32});
  auto x = layers::Dense(64, {.activation = "relu"})(inputs);
  x = layers::Dense(64, {.activation = "relu"})(x);
  auto predictions = layers::Dense(10, {.activation = "softmax"})(x);
  keras::Model functional(inputs, predictions);
  train(functional, "functional");

  MyModel own(10);
  train(own, "subclassed");
  expect(own.variables().size() == 4 && own.name() == "my_model", "the weights of both layers");
  expect(own.compute_output_shape({tf::None, 32}) == tf::TensorShape({tf::None, 10}),
         "the shape that it says");
  // The class inside a functional model.
  auto in = keras::Input({32});
  keras::Model around(in, own(layers::Dense(32)(in)));
  expect(around(data).shape() == tf::TensorShape({1000, 10}), "a model as a layer");
  train(around, "a class inside a graph");

  keras::Sequential model({MyLayer(10), layers::Activation("softmax")});
  train(model, "a layer of one's own");
  keras::utils::register_keras_serializable<MyLayer>("MyLayer");
  const auto config = layers::serialize(*model.layers()[0]);
  std::cout << config << '\n';
  const auto again = layers::deserialize(config);
  expect(dynamic_cast<MyLayer&>(*again).output_dim == 10, "a layer made of its configuration");
}
