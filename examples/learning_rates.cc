// shows: P79 P80
// Rates that follow the global step: by a schedule, and by a formula of one's own.
#include <rill/rill.h>
#include <cmath>

#include "example.h"
namespace tf = rill;

int main() {
  {  // doubled every ten steps; the regression is meant to diverge
    const auto x = tf::reshape(tf::linspace(1.f, 2.f, 10), {10, 1}), y = x;
    tf::Variable w(0.f), global_steps(0, {.trainable = false});
    const auto learning_rate = [&] {
      return tf::train::exponential_decay(0.1f, global_steps, 10, 2, /*staircase=*/false);
    };
    for (int i = 0; i < 10; ++i) {
      tf::train::GradientDescentOptimizer optimizer(learning_rate());
      optimizer.minimize([&] { return tf::pow(w * x - y, 2); },
                         {.global_step = global_steps, .var_list = {w}});
      std::cout << learning_rate().numpy().to_string() << '\n'
                << global_steps.value().to_string() << '\n';
      const float want = 0.1f * std::pow(2.f, static_cast<float>(i + 1) / 10);
      expect(std::abs(learning_rate().item<float>() - want) < 1e-7f &&
                 global_steps.item<int>() == i + 1,
             "the rate at this step");
    }
    std::cout << w << '\n';
    // The same ten steps by hand.
    double v = 0;
    for (int i = 0; i < 10; ++i) {
      double gradient = 0;
      for (int k = 0; k < 10; ++k) gradient += 2 * (v - 1) * (1 + k / 9.0) * (1 + k / 9.0);
      v -= 0.1 * std::pow(2, i / 10.0) * gradient;
    }
    expect(std::abs(w.item<float>() / v - 1) < 1e-4, "w after ten steps");
  }
  {  // 0.01 * 0.99^step
    tf::Variable global_step(0, {.trainable = false, .dtype = tf::int32});
    const auto learning_rate = [&] {
      return 0.01f * tf::pow(0.99f, tf::cast(global_step, tf::float32));
    };
    expect(std::abs(learning_rate().item<float>() - 0.01f) < 1e-9f, "0.01 at first");
    for (int i = 0; i < 100; ++i) global_step.assign_add(1);
    std::cout << "after 100 steps: " << learning_rate() << '\n';
    expect(std::abs(learning_rate().item<float>() - 0.00366f) < 5e-6f, "0.00366 after 100 steps");
    tf::Variable w(1.f);
    tf::train::GradientDescentOptimizer optimizer(learning_rate());  // a rate may be a tensor
    optimizer.apply_gradients({{tf::constant(1.f), w}});
    expect(std::abs(w.item<float>() - (1 - learning_rate().item<float>())) < 1e-6f,
           "a step by that rate");
  }
}
