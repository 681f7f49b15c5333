// The smallest program: a sum, and its gradient.
#include <rill/rill.h>
#include <iostream>
namespace tf = rill;

int main() {
  tf::Variable x({1.f, 2.f, 3.f});
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(x * x);
  std::cout << y << '\n' << tape.gradient(y, x) << '\n';
}
