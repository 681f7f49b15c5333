// shows: P50 Q34 Q35 A10
// House prices by year: a straight line fitted by gradient descent, first with
// plain arithmetic, then with a tape and an optimizer.
#include <rill/rill.h>
#include <cmath>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;

int main() {
  const auto X_raw = tf::constant({2013.f, 2014.f, 2015.f, 2016.f, 2017.f});
  const auto y_raw = tf::constant({12000.f, 14000.f, 15000.f, 16500.f, 17500.f});
  const auto X = (X_raw - tf::reduce_min(X_raw)) / (tf::reduce_max(X_raw) - tf::reduce_min(X_raw));
  const auto y = (y_raw - tf::reduce_min(y_raw)) / (tf::reduce_max(y_raw) - tf::reduce_min(y_raw));

  // By hand: float64 parameters on float32 data, as NumPy would.
  const auto xs = X.to_vector<float>(), ys = y.to_vector<float>();
  double a0 = 0, b0 = 0;
  for (int epoch = 0; epoch < 10000; ++epoch) {
    double grad_a = 0, grad_b = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double error = a0 * xs[i] + b0 - ys[i];
      grad_a += 2 * error * xs[i];
      grad_b += 2 * error;
    }
    a0 -= 5e-4 * grad_a;
    b0 -= 5e-4 * grad_b;
  }
  std::cout << tf::format("by hand   {:.16g} {:.16g}\n", a0, b0);
  expect(std::abs(a0 - 0.9763702027872221) < 1e-9 && std::abs(b0 - 0.057564988311377796) < 1e-9,
         "the line by hand");

  // With Rill.
  tf::Variable a(0.f), b(0.f);
  const std::vector<tf::Variable> variables{a, b};
  keras::optimizers::SGD optimizer({.learning_rate = 5e-4});
  for (int epoch = 0; epoch < 10000; ++epoch) {
    tf::GradientTape tape;
    const auto y_pred = a * X + b;
    const auto loss = tf::reduce_sum(tf::square(y_pred - y));
    const auto grads = tape.gradient(loss, variables);
    optimizer.apply_gradients(tf::zip(grads, variables));
    if (epoch % 2000 == 0) std::cout << tf::format("epoch {:5d}  loss {:.6f}\n", epoch, loss);
  }
  std::cout << a << ' ' << b << '\n';
  expect(tf::format("{} {}", a, b) == "0.97637 0.057565063", "0.97637 0.057565063");
}
