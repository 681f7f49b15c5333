// shows: P18
// The guide's backtracking line search: a step against the gradient, halved until the value falls
// enough. The host's own loop decides how often.
#include <rill/rill.h>

#include <functional>

#include "example.h"
namespace tf = rill;
using tf::Tensor;
using Function = std::function<Tensor(Tensor)>;

std::pair<Tensor, Tensor> line_search_step(const Function& fn, Tensor init_x, float rate = 1) {
  tf::GradientTape tape;
  tape.watch(init_x);  // a variable would be watched by itself
  Tensor value = fn(init_x);
  const Tensor grad = tape.gradient(value, init_x), grad_norm = tf::reduce_sum(grad * grad);
  const Tensor init_value = value;
  Tensor x = init_x;
  while (value > init_value - rate * grad_norm) {
    x = init_x - rate * grad;
    value = fn(x);
    rate /= 2;
  }
  return {x, value};
}

// Armijo's condition with the half: of what the slope promises for this step, at least 1/2.
void expect_armijo(const Function& fn, Tensor from, Tensor to) {
  tf::GradientTape tape;
  tape.watch(from);
  const Tensor value = fn(from);
  const Tensor grad = tape.gradient(value, from), step = from - to;
  const float length = tf::reduce_sum(step * grad).item<float>();  // rate * |grad|^2
  expect(length > 0, "a step against the gradient");
  const float fallen = value.item<float>() - fn(to).item<float>();
  expect(fallen >= 0.5f * length * (1 - 1e-3f), "Armijo's condition");
}

int main() {
  const auto minimise = [](const char* name, const Function& fn, Tensor x, int steps) {
    const float first = fn(x).item<float>();
    float value = first;
    for (int i = 0; i < steps && value > 1e-6f; ++i) {
      const auto [next, next_value] = line_search_step(fn, x);
      expect(next_value.item<float>() == fn(next).item<float>(), "the value of the new place");
      expect_armijo(fn, x, next);
      x = next, value = next_value.item<float>();
    }
    std::cout << tf::format("{}: {:.6f} -> {:.6f} at {}\n", name, first, value, x);
    return value;
  };
  const auto parabola = [](Tensor x) { return tf::reduce_sum(tf::square(x)); };
  const auto quartic = [](Tensor x) { return tf::reduce_sum(tf::pow(x, 4.f)); };
  const auto banana = [](Tensor x) {
    const Tensor a = x[0], b = x[1];
    return tf::square(1.f - a) + 10.f * tf::square(b - tf::square(a));
  };
  expect(minimise("parabola", parabola, tf::constant({3.f, -1.f}), 1) == 0,
         "half a step is the minimum of a parabola");
  expect(minimise("quartic", quartic, tf::constant({1.f, -2.f}), 100) < 1e-4f, "the minimum");
  expect(minimise("banana", banana, tf::constant({-1.f, 1.f}), 300) < 1e-2f, "down the valley");
}
