// shows: P11 Q07 A09
// A noisy line found again by gradient descent.
#include <rill/rill.h>
#include <cmath>

#include "example.h"
namespace tf = rill;
namespace tfe = tf::contrib::eager;

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
  std::cout << tf::format("Finale loss: {:.3f}\nW = {}, B = {}\n", loss(W, B), W.item<double>(),
                          B.item<double>());
  expect(loss(W, B).item<float>() < 1.3f, "a final loss of about 1");
  expect(std::abs(W.item<float>() - 3.035f) < 0.15f && std::abs(B.item<float>() - 2.141f) < 0.15f,
         "W about 3.035, B about 2.141");
}
