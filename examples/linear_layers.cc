// shows: P51 P52 A11
// The linear model of the guide: as a model with one Dense layer, and as its own layer.
// y = [10, 20] from [[1, 2, 3], [4, 5, 6]], 100 steps of gradient descent.
#include <rill/rill.h>

#include <cmath>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct Linear : keras::Model {
  keras::layers::Dense dense{{.units = 1,
                              .activation = nullptr,
                              .kernel_initializer = tf::zeros_initializer(),
                              .bias_initializer = tf::zeros_initializer()}};
  Linear() { track("dense", dense); }
  Tensor call(const Tensor& input, const keras::CallContext&) override { return dense(input); }
};

struct LinearLayer : keras::layers::Layer {
  int units;
  tf::Variable w, b;
  explicit LinearLayer(int n) : units(n) {}
  void build(const tf::TensorShape& input_shape) override {
    w = add_variable("w", {input_shape[-1], units}, tf::zeros_initializer());
    b = add_variable("b", {units}, tf::zeros_initializer());
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return tf::matmul(inputs, w) + b;
  }
};
struct LinearModel : keras::Model {
  LinearLayer layer{1};
  LinearModel() { track("layer", layer); }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override { return layer(inputs); }
};

template <class M>
M trained() {
  const auto X = tf::constant({{1., 2., 3.}, {4., 5., 6.}}), y = tf::constant({{10.}, {20.}});
  M model;
  keras::optimizers::SGD optimizer({.learning_rate = 0.01});
  for (int i = 0; i < 100; ++i) {
    tf::GradientTape tape;
    const auto y_pred = model(X);
    const auto loss = tf::reduce_mean(tf::square(y_pred - y));
    optimizer.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
  }
  return model;
}

template <class M>
void check(const M& model) {
  const float kernel[] = {0.40784496f, 1.191065f, 1.9742855f}, bias = 0.78322077f;
  const auto w = model.variables()[0].template to_vector<float>();
  for (std::size_t i = 0; i < 3; ++i)
    expect(std::abs(w[i] - kernel[i]) < 1e-5f, "the guide's kernel");
  expect(std::abs(model.variables()[1].template to_vector<float>()[0] - bias) < 1e-5f,
         "the guide's bias");
}

int main() {
  const auto dense = trained<Linear>();
  std::cout << dense.variables() << '\n';
  check(dense);
  const auto own = trained<LinearModel>();
  std::cout << own.variables() << '\n';
  check(own);
}
