// shows: P11 P18 A09
// A noisy line found again by gradient descent, and a line search.
#include <rill/rill.h>
#include <cmath>

#include "example.h"
namespace tf = rill;
namespace tfe = tf::contrib::eager;
using tf::Tensor;

// Halves the step until the value falls enough (Armijo's condition).
template <class F>
std::pair<Tensor, Tensor> line_search_step(F fn, Tensor init_x, float rate = 1) {
  tf::GradientTape tape;
  tape.watch(init_x);
  Tensor value = fn(init_x);
  const Tensor init_value = value, grad = tape.gradient(value, init_x);
  const Tensor grad_norm = tf::reduce_sum(grad * grad);
  Tensor x = init_x;
  while (value > init_value - rate * grad_norm) {
    x = init_x - rate * grad;
    value = fn(x);
    rate /= 2;
  }
  expect(static_cast<bool>(value <= init_value - rate * grad_norm), "Armijo's condition");
  return {x, value};
}

int main() {
  tf::random::set_seed(1);
  const auto training_inputs = tf::random_normal({1000}), noise = tf::random_normal({1000});
  const auto training_outputs = training_inputs * 3 + 2 + noise;
  auto loss = [&](const tf::Variable& weight, const tf::Variable& bias) {
    return tf::reduce_mean(tf::square(training_inputs * weight + bias - training_outputs));
  };

  tfe::Variable W(5.f), B(10.f);
  std::cout << tf::format("Initial loss: {:.3f}\n", loss(W, B));
  const float initial = loss(W, B).item<float>();
  expect(initial > 60 && initial < 78, "an initial loss of about 69");
  const float learning_rate = 0.01f;
  for (int i = 0; i < 200; ++i) {
    tf::GradientTape tape;
    const auto value = loss(W, B);
    const auto grads = tape.gradient(value, {W, B});
    W.assign_sub(grads[0] * learning_rate);
    B.assign_sub(grads[1] * learning_rate);
    if (i % 20 == 0) std::cout << tf::format("Loss at step {:03d}: {:.3f}\n", i, loss(W, B));
  }
  std::cout << tf::format("Finale loss: {:.3f}\nW = {}, B = {}\n", loss(W, B), W, B);
  expect(loss(W, B).item<float>() < 1.3f, "a final loss of about 1");
  expect(std::abs(W.item<float>() - 3.035f) < 0.15f && std::abs(B.item<float>() - 2.141f) < 0.15f,
         "W about 3.035, B about 2.141");

  const auto [x, value] =
      line_search_step([](Tensor v) { return tf::reduce_sum(tf::square(v) * tf::square(v)); },
                       tf::constant({1.f, -2.f}));
  std::cout << tf::format("line search: value {} at {}\n", value, x);
}
