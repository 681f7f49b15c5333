// What a traced function costs, and whole training steps as planned functions.
// Training steps are held to the hand-written floor: its times come from the
// environment (tools/bench runs it in the same sitting), in milliseconds.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "benchmarks/budget.h"
#include "benchmarks/training_steps.h"
#include "rill/base/parallel.h"
#include "rill/core/device.h"
#include "rill/rill.h"

namespace tf = rill;
using budget::best, budget::time_row;
using tf::Tensor, tf::Variable;

namespace {

// Both in one run where the floor's time is known; else ours alone.
void step_row(const char* what, const char* floor_variable, double seconds, double gate,
              double goal) {
  const char* floor = std::getenv(floor_variable);
  if (floor)
    budget::multiple_row(what, {seconds, std::atof(floor) / 1e3}, gate, goal);
  else
    std::printf("%-62s %8.3f ms (no floor given)\n", what, seconds * 1e3);
}

void calls() {
  const auto a = tf::constant({1.f}), b = tf::constant({2.f});
  auto one = tf::function([](Tensor x, Tensor y) { return x + y; });
  one(a, b);
  const double first = best([&] { one(a, b); }, 2000, 60);
  time_row("call of a traced function of one op", first, 1000, 500);
  auto many = tf::function([](Tensor x, Tensor y) {
    // Ops that no pass can fuse: each needs the whole of the one before.
    for (int i = 0; i < 50; ++i)
      x = tf::reduce_sum(x, 0, {.keepdims = true}), x = tf::reverse(x, {0});
    return x + y;
  });
  many(a, b);
  time_row("each further small op", (best([&] { many(a, b); }, 500, 60) - first) / 100, 80, 40);

  const auto x = tf::constant({0.f, .25f, .5f, .75f, 1.f}),
             y = tf::constant({0.f, .3636f, .5454f, .8181f, 1.f});
  Variable w(0.f), c(0.f);
  const std::vector<Variable> variables{w, c};
  tf::keras::optimizers::SGD sgd({.learning_rate = 5e-4});
  auto step = tf::function([&] {
    tf::GradientTape tape;
    const auto loss = tf::reduce_sum(tf::square(w * x + c - y));
    sgd.apply_gradients(tape.gradient(loss, {w, c}), variables);
  });
  step();
  time_row("house-price regression step (P50), traced", best([&] { step(); }, 500, 60), 2000, 1000);
}

void mlp() {
  const auto step = training::mlp_step();
  step();
  step_row("MLP 784-100-10, batch 50, Adam, one step", "RILL_FLOOR_MLP", best(step, 20, 60), 1.35,
           1.15);
  const std::size_t before = tf::memory_stats().allocations;
  for (int i = 0; i < 100; ++i) step();
  std::printf("%-62s %8.2f a step (its result is one)\n", "allocations of the planned step",
              static_cast<double>(tf::memory_stats().allocations - before) / 100);
}

void cnn() {
  const auto step = training::cnn_step();
  step();
  step_row("CNN of P56, batch 50, Adam, one step", "RILL_FLOOR_CNN", best(step, 1, 60), 1.2, 1.05);
}

void lstm() {
  const auto step = training::lstm_step();
  step();
  step_row("LSTM 256 x 40, batch 50, Adam, one step", "RILL_FLOOR_LSTM", best(step, 1, 40), 1.3,
           1.1);
  const auto by_layers = training::lstm_layer_step();
  by_layers();
  budget::multiple_row("LSTM by keras::layers: of the step by hand",
                       budget::best_of_both(by_layers, step, 1, 40), 1.15, 1.0);
}

// The updates alone of a network of many small variables, made together and one by one.
void optimizer() {
  std::int64_t elements = 0;
  auto made = [&] {
    std::vector<Variable> vars;
    std::vector<Tensor> grads;
    elements = 0;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t n = std::int64_t{64} << i % 7;
      elements += n;
      vars.push_back(training::weights({n}, .1));
      grads.push_back(tf::random::uniform({n}, -1., 1., {.seed = i}));
    }
    tf::keras::optimizers::Adam adam(1e-3);
    auto step = tf::function([=]() mutable { adam.apply_gradients(grads, vars); });
    step();
    return step;
  };
  auto together = made();
  tf::graph_passes::disable("merge_updates");
  auto separate = made();
  tf::graph_passes::enable("merge_updates");
  budget::multiple_row(
      tf::format("Adam on 60 variables, {} elements: of one by one", elements).c_str(),
      budget::best_of_both([&] { together(); }, [&] { separate(); }, 10, 500), 1.0, 0.9);
}

// Bottleneck blocks of a residual network on one image: filters packed once, and at each call.
void inference() {
  struct Convolution {
    Variable filter, bias;
    int stride;
  };
  std::vector<Convolution> layers;
  std::int64_t channels = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t mid = std::int64_t{64} << stage;
    for (int block = 0; block < 2; ++block) {
      auto add = [&](std::int64_t size, std::int64_t in, std::int64_t out, int stride) {
        layers.push_back(
            {training::weights({size, size, in, out}, .05), training::zeros({out}), stride});
      };
      add(1, channels, mid, 1);
      add(3, mid, mid, stage > 0 && block == 0 ? 2 : 1);
      add(1, mid, channels = 4 * mid, 1);
    }
  }
  const auto image = tf::random::uniform({1, 56, 56, 64}, -1., 1., {.seed = 2});
  auto made = [&] {
    auto net = tf::function([&](Tensor h) {
      for (const Convolution& c : layers)
        h = tf::nn::relu(tf::nn::bias_add(tf::nn::conv2d(h, c.filter, c.stride, "SAME"), c.bias));
      return tf::reduce_mean(h, {1, 2});
    });
    for (int i = 0; i < 3; ++i) net(image);
    return net;
  };
  auto kept = made();
  tf::graph_passes::disable("keep_filters");
  auto packed_anew = made();
  tf::graph_passes::enable("keep_filters");
  budget::multiple_row(
      "24 convolutions, one image: filters kept, of packed again",
      budget::best_of_both([&] { kept(image); }, [&] { packed_anew(image); }, 1, 40), 1.0, 0.9);
}

// exp good to a few ulp, in a form that compilers vectorise.
inline float quick_exp(float x) {
  x = std::min(88.f, std::max(-87.f, x));
  const float k = std::nearbyintf(x * 1.442695041f);
  const float r = (x - k * 0.693145752f) - k * 1.42860677e-6f;
  float p = 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = (p * r + 1.f) * r + 1.f;
  return p * std::bit_cast<float>((static_cast<int>(k) + 127) << 23);
}

// The chain as one loop over the elements, by hand.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void fused_range(
    const float* x, float* y, std::int64_t begin, std::int64_t end) {
#pragma omp simd
  for (std::int64_t i = begin; i < end; ++i) {
    const float v = x[i], u = v + 0.0447f * (v * v * v);
    y[i] = v * (2.f - 2.f / (quick_exp(2 * u) + 1.f));
  }
}
void fused_chain(const float* x, float* y, std::int64_t n) {
  tf::parallel_for(n, 1 << 15,
                   [&](std::int64_t begin, std::int64_t end) { fused_range(x, y, begin, end); });
}

void chain() {
  constexpr std::int64_t n = 16 << 20;
  const auto x = tf::random::uniform({n}, -3., 3., {.seed = 4});
  auto gelu = tf::function([](Tensor v) {
    const auto t = v * v * v;
    return v * (1.f + tf::tanh(v + 0.0447f * t));
  });
  gelu(x);
  std::vector<float> out(n);
  const float* in = x.data<float>().data();
  budget::multiple_row(
      "gelu-like chain of 6 ops over 16 M floats",
      budget::best_of_both([&] { gelu(x); }, [&] { fused_chain(in, out.data(), n); }, 1, 30), 2.0,
      1.3);
}

}  // namespace

// All, or those that are named.
int main(int argc, char** argv) {
  auto wanted = [&](const char* name) {
    bool any = argc < 2;
    for (int i = 1; i < argc; ++i) any = any || std::string(argv[i]) == name;
    return any;
  };
  if (wanted("calls")) calls();
  if (wanted("mlp")) mlp();
  if (wanted("cnn")) cnn();
  if (wanted("lstm")) lstm();
  if (wanted("optimizer")) optimizer();
  if (wanted("inference")) inference();
  if (wanted("chain")) chain();
}
