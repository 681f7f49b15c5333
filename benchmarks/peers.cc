// The tasks that tools/bench_peers.py times in other frameworks, here: one line
// a task, its name and the seconds of its fastest run.
#include <cstdio>

#include "benchmarks/budget.h"
#include "benchmarks/training_steps.h"
#include "rill/rill.h"

namespace tf = rill;

namespace {

template <class F>
void task(const char* name, int calls, int samples, F&& body) {
  body();
  std::printf("%s %.9g\n", name, budget::best(body, calls, samples));
  std::fflush(stdout);
}

}  // namespace

int main() {
  const auto a = tf::constant({1.f}), b = tf::constant({2.f});
  task("add_1", 2000, 30, [&] { tf::add(a, b); });
  task("add_1_gradient", 500, 30, [&] {
    tf::GradientTape tape;
    tape.watch(a);
    const auto y = tf::add(a, b);
    tape.gradient(y, a);
  });
  {
    const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
               y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
    tf::Variable w(0.f), c(0.f);
    const std::vector<tf::Variable> variables{w, c};
    tf::keras::optimizers::SGD sgd({.learning_rate = 5e-4});
    task("regression_step", 200, 20, [&] {
      tf::GradientTape tape;
      const auto loss = tf::reduce_sum(tf::square(w * x + c - y));
      sgd.apply_gradients(tape.gradient(loss, {w, c}), variables);
    });
  }
  {
    const auto x = tf::random::uniform({1000, 1000});
    task("matmul_1000", 10, 8, [&] { tf::matmul(x, x); });
  }
  {
    const auto x = tf::random::uniform({16384, 1024}), y = tf::random::uniform({16384, 1024});
    task("add_16m", 1, 12, [&] { tf::add(x, y); });
    task("exp_16m", 1, 12, [&] { tf::exp(x); });
    task("softmax_16m", 1, 12, [&] { tf::nn::softmax(x); });
    task("sum_rows_16m", 1, 12, [&] { tf::reduce_sum(x, 1); });
  }
  {
    const auto x = tf::random::uniform({50, 14, 14, 32}), k = tf::random::uniform({5, 5, 32, 64});
    task("conv_50x14x14x32_64", 2, 10, [&] { tf::nn::conv2d(x, k, 1, "SAME"); });
    task("conv_with_gradients", 1, 10, [&] {
      tf::GradientTape tape;
      tape.watch(x);
      tape.watch(k);
      const auto y = tf::nn::conv2d(x, k, 1, "SAME");
      tape.gradient(y, {x, k});
    });
  }
  {
    tf::Variable v(tf::random::uniform({3270000}));
    const auto g = tf::random::uniform({3270000});
    tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
    const std::vector<tf::Variable> variables{v};
    const tf::Gradients gradients(std::vector<tf::Tensor>{g});
    task("adam_3.27m", 1, 15, [&] { adam.apply_gradients(gradients, variables); });
  }
  {
    const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
               y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
    tf::Variable w(0.f), c(0.f);
    const std::vector<tf::Variable> variables{w, c};
    tf::keras::optimizers::SGD sgd({.learning_rate = 5e-4});
    task("regression_function", 500, 20, tf::function([&] {
           tf::GradientTape tape;
           const auto loss = tf::reduce_sum(tf::square(w * x + c - y));
           sgd.apply_gradients(tape.gradient(loss, {w, c}), variables);
         }));
  }
  task("mlp_function", 20, 20, training::mlp_step());
  task("cnn_function", 1, 20, training::cnn_step());
  task("lstm_function", 1, 15, training::lstm_step());
  task("lstm_layer", 1, 15, training::lstm_layer_step());
  task("gru_layer", 1, 15, training::gru_layer_step());
}
