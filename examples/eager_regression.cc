// shows: P12 A09
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
  tf::Variable W = tf::Variable(5., {.name = "weight"}), B = tf::Variable(10., {.name = "bias"});
  Model() {
    track("W", W);
    track("B", B);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override { return inputs * W + B; }
};

int main() {
  tf::random::set_seed(1);
  const int num_examples = 2000;
  const auto training_inputs = tf::random::normal({num_examples});
  const auto noise = tf::random::normal({num_examples});
  const auto training_outputs = training_inputs * 3.f + 2.f + noise;

  Model model;
  const auto loss = [&] {
    return tf::reduce_mean(tf::square(model(training_inputs) - training_outputs));
  };
  v1::train::GradientDescentOptimizer optimizer(0.01);
  std::cout << tf::format("Initial loss: {:.3f}\n", loss().item<float>());
  for (int i = 0; i < 300; ++i) {
    optimizer.minimize(loss, {.global_step = v1::train::get_or_create_global_step(),
                              .var_list = model.variables()});
    if (i % 20 == 0)
      std::cout << tf::format("Loss at step {:03d}: {:.3f}\n", i, loss().item<float>());
  }
  std::cout << tf::format("Final loss: {:.3f}\nW = {}, B = {}\n", loss().item<float>(),
                          model.W.item<float>(), model.B.item<float>());
  expect(model.variables().size() == 2, "plain variables are the model's");
  expect(v1::train::get_global_step().item<std::int64_t>() == 300, "300 steps counted");
  expect(std::abs(model.W.item<float>() - 3) < 0.1 && std::abs(model.B.item<float>() - 2) < 0.15,
         "the line y = 3 x + 2");
  expect(std::abs(loss().item<float>() - 1) < 0.15, "what is left is the noise");
}
