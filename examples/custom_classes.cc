// shows: P55
// A loss, a metric and a layer of one's own, used in compile and fit.
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct MeanSquaredError : keras::losses::Loss {
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return tf::reduce_mean(tf::square(y_pred - y_true));
  }
};

struct SparseCategoricalAccuracy : keras::metrics::Metric {
  tf::Variable total = add_weight("total", tf::int32), count = add_weight("count", tf::int32);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override {
    const auto values =
        tf::cast(tf::equal(tf::cast(tf::reshape(y_true, {-1}), tf::int64), tf::argmax(y_pred, -1)),
                 tf::int32);
    total.assign_add(tf::size(values));
    count.assign_add(tf::reduce_sum(values));
  }
  Tensor result() override { return count / total; }
};

struct MyLayer : keras::layers::Layer {
  int units;
  tf::Variable w, b;
  explicit MyLayer(int n) : units(n) {}
  void build(const tf::TensorShape& input_shape) override {
    w = add_weight("w", {input_shape[-1], units});
    b = add_weight("b", {units}, "zeros");
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override {
    return tf::nn::softmax(tf::matmul(x, w) + b);
  }
};

int main() {
  keras::utils::set_random_seed(5);
  const auto [train, test] = keras::datasets::iris::load_data();
  keras::Sequential model({MyLayer(3)});
  SparseCategoricalAccuracy accuracy;
  model.compile({.optimizer = keras::optimizers::Adam(0.05),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {accuracy}});
  model.fit(train.x, train.y, {.epochs = 60, .verbose = 0});
  const auto scores = model.evaluate(test.x, test.y, {.verbose = 0});
  std::cout << scores << '\n' << model.metrics_names()[1] << '\n';
  expect(scores["sparse_categorical_accuracy"] > 0.9, "the flowers are told apart");
  expect(accuracy.result().dtype() == tf::float64, "int32 / int32 is float64, as in Python");

  keras::Sequential regression({keras::layers::Dense(1)});
  regression.compile({.optimizer = keras::optimizers::Adam(0.05), .loss = MeanSquaredError()});
  const auto history = regression.fit(train.x, tf::expand_dims(tf::cast(train.y, tf::float32), -1),
                                      {.epochs = 80, .verbose = 0});
  std::cout << history["loss"].back() << '\n';
  expect(history["loss"].back() < 0.1, "species as a number, by a loss of one's own");
}
