// What an op costs beyond its arithmetic: tensors of one element.
#include <vector>

#include "benchmarks/budget.h"
#include "rill/rill.h"

namespace tf = rill;
using budget::best, budget::time_row;

int main() {
  const auto a = tf::constant({1.f}), b = tf::constant({2.f});
  time_row("add of two 1-element tensors", best([&] { tf::add(a, b); }, 2000, 60), 150, 100);
  {
    double taped = 1e30;
    for (int s = 0; s < 60; ++s) {
      tf::GradientTape tape;
      tape.watch(a);
      taped = std::min(taped, budget::sample([&] { tf::add(a, b); }, 1000));
    }
    time_row("the same, taped", taped, 300, 200);
  }
  time_row("tape, add, gradient",
           best(
               [&] {
                 tf::GradientTape tape;
                 tape.watch(a);
                 const auto y = tf::add(a, b);
                 tape.gradient(y, a);
               },
               2000, 60),
           1500, 1000);
  {
    const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
               y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
    tf::Variable w(0.f), c(0.f);
    const std::vector<tf::Variable> variables{w, c};
    tf::keras::optimizers::SGD sgd({.learning_rate = 5e-4});
    time_row("house-price regression step (P50): tape and SGD",
             best(
                 [&] {
                   tf::GradientTape tape;
                   const auto loss = tf::reduce_sum(tf::square(w * x + c - y));
                   sgd.apply_gradients(tape.gradient(loss, {w, c}), variables);
                 },
                 500, 60),
             5000, 3000);
  }
}
