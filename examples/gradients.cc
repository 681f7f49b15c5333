// shows: P19 P20 P49
// Derivatives: tapes, functions of gradients, custom gradients.
#include <rill/rill.h>
#include <cmath>
#include <sstream>

#include "example.h"
namespace tf = rill;
using tf::Tensor;

int main() {
  {  // x^2 at 3
    tf::Variable x(3.f);
    tf::GradientTape tape;
    const auto y = tf::square(x);
    const auto y_grad = tape.gradient(y, x);
    std::ostringstream line;
    line << y << ' ' << y_grad;
    std::cout << line.str() << '\n';
    expect(line.str() ==
               "tf.Tensor(9.0, shape=(), dtype=float32) tf.Tensor(6.0, shape=(), dtype=float32)",
           "9 and 6");
  }
  {  // L(w, b) = |Xw + b - y|^2
    const auto X = tf::constant({{1., 2.}, {3., 4.}}), y = tf::constant({{1.}, {2.}});
    tf::Variable w({{1.}, {2.}}), b(1.f);
    tf::GradientTape tape;
    const auto L = tf::reduce_sum(tf::square(tf::matmul(X, w) + b - y));
    const auto g = tape.gradient(L, {w, b});
    std::ostringstream line;
    line << L << ' ' << g[0] << ' ' << g[1];
    std::cout << line.str() << '\n';
    expect(line.str() ==
               "tf.Tensor(125.0, shape=(), dtype=float32) tf.Tensor(\n[[ 70.]\n [100.]], shape=(2, "
               "1), dtype=float32) "
               "tf.Tensor(30.0, shape=(), dtype=float32)",
           "125, (70, 100), 30");
  }
  {  // first to third derivative of x^2
    auto square = [](Tensor x) { return x * x; };
    auto grad = tf::gradients_function(square);
    auto gradgrad = tf::gradients_function([=](Tensor x) { return Tensor(grad(x)[0]); });
    auto gradgradgrad = tf::gradients_function([=](Tensor x) { return Tensor(gradgrad(x)[0]); });
    std::cout << square(tf::constant(3.f)) << ' ' << grad(3.f)[0] << ' ' << gradgrad(3.f)[0] << ' '
              << gradgradgrad(3.f)[0] << '\n';
    expect(grad(3.f)[0].item<float>() == 6 && gradgrad(3.f)[0].item<float>() == 2 &&
               !gradgradgrad(3.f)[0].defined(),
           "6, 2, none");
  }
  {  // control flow is the language's own
    auto grad = tf::gradients_function([](Tensor x) { return x > 0.f ? x : -x; });
    expect(grad(3.f)[0].item<float>() == 1 && grad(-3.f)[0].item<float>() == -1, "slope of |x|");
  }
  {  // several arguments
    auto f = tf::value_and_gradients_function(
        [](Tensor x, Tensor y) { return x * x * x * y - x * y * y; });
    const auto [value, grads] = f(2.f, 3.f);
    std::cout << value << ' ' << grads[0] << ' ' << grads[1] << '\n';
    expect(value.item<float>() == 6 && grads[0].item<float>() == 27 && grads[1].item<float>() == -4,
           "6, 27, -4");
  }
  {  // a gradient of one's own: clipped
    auto clip_gradient_by_norm = tf::custom_gradient([](Tensor x, Tensor norm) {
      return std::pair(tf::identity(x), [=](Tensor dy) {
        return std::vector<Tensor>{tf::clip_by_norm(dy, norm), {}};
      });
    });
    auto grad =
        tf::gradients_function([&](Tensor x) { return 10.f * clip_gradient_by_norm(x, 0.5f); });
    expect(grad(3.f)[0].item<float>() == 0.5f, "the clipped gradient");
  }
  {  // a naive formula overflows, and says so; a better gradient does not
    auto log1pexp = [](Tensor x) { return tf::log(1.f + tf::exp(x)); };
    auto grad = tf::gradients_function(log1pexp);
    std::cout << grad(0.f)[0] << ' ' << grad(100.f)[0] << '\n';
    expect(grad(0.f)[0].item<float>() == 0.5f && std::isnan(grad(100.f)[0].item<float>()),
           "0.5 and nan");
    auto stable = tf::custom_gradient([](Tensor x) {
      const auto e = tf::exp(x);
      return std::pair(tf::log(1.f + e), [=](Tensor dy) { return dy * (1.f - 1.f / (1.f + e)); });
    });
    expect(tf::gradients_function([&](Tensor x) { return stable(x); })(100.f)[0].item<float>() == 1,
           "1 at 100");
  }
}
