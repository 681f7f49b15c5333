// What an op costs beyond its arithmetic: tensors of one element.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "rill/ops/state_ops.h"
#include "rill/rill.h"

namespace tf = rill;

namespace {

// Fastest of many samples, in ns: the one least disturbed by neighbours.
template <class F>
double best_ns(F&& body, int calls = 2000, int samples = 60) {
  double best = 1e30;
  for (int s = 0; s < samples; ++s) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) body();
    const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
    best = std::min(best, t.count() / calls);
  }
  return best;
}

void row(const char* what, double ns, double gate, double goal) {
  std::printf("%-58s %9.0f ns   gate %6.0f  goal %6.0f  %s\n", what, ns, gate, goal,
              ns <= goal ? "goal" : ns <= gate ? "gate" : "MISSED");
}

}  // namespace

int main() {
  const auto a = tf::constant({1.f}), b = tf::constant({2.f});
  row("add of two 1-element tensors", best_ns([&] { tf::add(a, b); }), 150, 100);
  {
    std::vector<double> times;
    for (int s = 0; s < 60; ++s) {
      tf::GradientTape tape;
      tape.watch(a);
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 1000; ++i) tf::add(a, b);
      const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
      times.push_back(t.count() / 1000);
    }
    row("the same, taped", *std::min_element(times.begin(), times.end()), 300, 200);
  }
  row("tape, add, gradient", best_ns([&] {
        tf::GradientTape tape;
        tape.watch(a);
        const auto y = tf::add(a, b);
        tape.gradient(y, a);
      }),
      1500, 1000);
  {
    const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}), y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
    tf::Variable w(0.f), c(0.f);
    row("house-price regression step: tape and SGD", best_ns([&] {
          tf::GradientTape tape;
          const auto loss = tf::reduce_sum(tf::square(w * x + c - y));
          const auto g = tape.gradient(loss, {w, c});
          tf::apply_gradient_descent(w.handle(), 5e-4f, g[0]);
          tf::apply_gradient_descent(c.handle(), 5e-4f, g[1]);
        }, 500),
        5000, 3000);
  }
}
