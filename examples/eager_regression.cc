// shows: P12 A09 Q59
// A line through points, by a model whose variables are its members, an optimizer and a count
// of steps.
#include <rill/rill.h>

#include <cmath>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace v1 = tf::compat::v1;
using tf::Tensor;

struct Model : keras::Model {
  tf::Variable W = tf::Variable(5., {.name = "weight"}), B = tf::Variable(5., {.name = "bias"});
  Model() {
    track("W", W);
    track("B", B);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override { return inputs * W + B; }
};

int main() {
  tf::random::set_seed(1);
  const int num_examples = 1000;
  const auto training_inputs = tf::random::normal({num_examples});
  const auto noise = tf::random::normal({num_examples});
  const auto training_outputs = training_inputs * 3.f + 2.f + noise;

  Model model;
  const auto loss = [&] {
    return tf::reduce_mean(tf::square(model(training_inputs) - training_outputs));
  };
  v1::train::GradientDescentOptimizer optimizer(0.01);
  std::cout << tf::format("Initial loss: {:.3f}\n", loss().item<float>());
  const auto global_step = v1::train::get_or_create_global_step();
  expect(global_step.item<std::int64_t>() == 0, "the step begins at 0");
  for (int i = 0; i < 300; ++i) {
    tf::GradientTape tape;
    const auto value = loss();
    const auto grads = tape.gradient(value, {model.W, model.B});
    optimizer.apply_gradients(tf::zip(grads, {model.W, model.B}), {.global_step = global_step});
    expect(global_step.item<std::int64_t>() == i + 1, "one more for each step");
    if (i % 20 == 0)
      std::cout << tf::format("Loss at step {:03d}: {:.3f}\n", i, loss().item<float>());
  }
  std::cout << tf::format("Final loss: {:.3f}\nW = {}, B = {}\n", loss().item<float>(),
                          model.W.item<double>(), model.B.item<double>());
  expect(model.variables().size() == 2, "plain variables are the model's");
  expect(v1::train::get_global_step().item<std::int64_t>() == 300, "300 steps counted");
  // Of the distance to y = 3 x + 2 each step leaves 0.98, so 300 leave 0.0023; the noise of 1,000
  // points moves the line by some 0.03.
  expect(std::abs(model.W.item<float>() - 3.005f) < 0.1f, "W about 3.005");
  expect(std::abs(model.B.item<float>() - 2.007f) < 0.1f, "B about 2.007");
  expect(std::abs(loss().item<float>() - 1) < 0.15f, "what is left is the noise");
}
