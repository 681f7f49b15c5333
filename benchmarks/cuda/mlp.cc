// The eager training step of program P53's network (784-100-10, batch 50, Adam) on
// the GPU and on the host, and what the device reaches on large tensors.
#include <rill/rill.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace tf = rill;
using tf::Tensor;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
// Waits for all that was queued.
void drain(const Tensor& t) { tf::reshape(t, {-1})[0].cpu(); }

struct Network {
  tf::Variable w1{tf::random::stateless_normal({784, 100}, {1, 1}) * 0.05f}, b1{tf::zeros({100})};
  tf::Variable w2{tf::random::stateless_normal({100, 10}, {1, 2}) * 0.1f}, b2{tf::zeros({10})};
  std::vector<tf::Variable> variables() const { return {w1, b1, w2, b2}; }
  Tensor operator()(const Tensor& x) const {
    const Tensor hidden = tf::nn::relu(tf::matmul(x, w1) + b1);
    return tf::matmul(hidden, w2) + b2;
  }
};

// Microseconds a step: the median of several runs. `upload`: every batch comes
// from host memory. `host`: until the host is free again, not the device.
struct Times {
  double step, host;
};
Times mlp(const char* device, bool upload, bool traced = false) {
  const Tensor x_host = tf::random::stateless_uniform({50, 784}, {5, 5});
  const Tensor y_host = tf::cast(tf::random::stateless_uniform({50}, {5, 6}) * 10.f, tf::int32);
  auto scope = tf::device(device);
  const Tensor x_there = x_host.to(device), y_there = y_host.to(device);
  const Network net;
  tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
  Tensor loss;
  const auto train = [&](Tensor x, Tensor y) {
    tf::GradientTape tape;
    const Tensor l = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = net(x)}));
    adam.apply_gradients(tape.gradient(l, net.variables()), net.variables());
    return l;
  };
  const auto planned = tf::function(train);
  const auto step = [&] {
    const Tensor x = upload ? x_host.to(device) : x_there, y = upload ? y_host.to(device) : y_there;
    loss = traced ? planned(x, y) : train(x, y);
  };
  for (int i = 0; i < 300; ++i) step();
  drain(loss);
  if (traced && std::getenv("EXPLAIN")) std::printf("%s", planned.explain().c_str());
  std::vector<double> steps, hosts;
  constexpr int kRuns = 9, kSteps = 300;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = now();
    for (int i = 0; i < kSteps; ++i) step();
    hosts.push_back((now() - begin) / kSteps * 1e6);
    drain(loss);
    steps.push_back((now() - begin) / kSteps * 1e6);
  }
  std::sort(steps.begin(), steps.end());
  std::sort(hosts.begin(), hosts.end());
  return {steps[kRuns / 2], hosts[kRuns / 2]};
}

// Seconds a call, queued many times.
double seconds(int calls, const std::function<Tensor()>& call) {
  for (int i = 0; i < 3; ++i) drain(call());
  std::vector<double> times;
  for (int run = 0; run < 5; ++run) {
    const double begin = now();
    Tensor last;
    for (int i = 0; i < calls; ++i) last = call();
    drain(last);
    times.push_back((now() - begin) / calls);
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

}  // namespace

int main() {
  if (tf::config::list_physical_devices("GPU").empty()) {
    try {
      auto scope = tf::device("/gpu:0");
    } catch (const tf::errors::Error& e) {
      std::printf("no GPU here: %s\n", e.what());
    }
    return 0;
  }
  std::printf("eager MLP step, 784-100-10, batch 50, Adam     us a step   host busy\n");
  for (const bool upload : {false, true}) {
    const Times t = mlp("/gpu:0", upload);
    std::printf("  GPU, batch %-35s %8.1f    %8.1f\n", upload ? "from the host" : "on the device",
                t.step, t.host);
  }
  std::printf("  CPU                                            %8.1f\n",
              mlp("/cpu:0", false).step);
  std::printf("the same as a traced function\n");
  for (const bool upload : {false, true}) {
    const Times t = mlp("/gpu:0", upload, true);
    std::printf("  GPU, batch %-35s %8.1f    %8.1f\n", upload ? "from the host" : "on the device",
                t.step, t.host);
  }
  std::printf("  CPU                                            %8.1f\n",
              mlp("/cpu:0", false, true).step);

  const Tensor a = tf::random::stateless_normal({4096, 4096}, {1, 1}).gpu();
  const double product = seconds(20, [&] { return tf::matmul(a, a); });
  std::printf("matmul 4096^3 float32           %8.3f ms  %8.1f TFLOP/s\n", product * 1e3,
              2 * 4096. * 4096. * 4096. / product * 1e-12);
  const auto tiny = [](const char* name, const std::function<Tensor()>& call) {
    std::printf("%-31s %8.2f us an op\n", name, seconds(2000, call) * 1e6);
  };
  const Tensor small = a[0], image = tf::random::stateless_normal({50, 784}, {1, 3}).gpu(),
               w = tf::random::stateless_normal({784, 100}, {1, 4}).gpu(),
               hidden = tf::matmul(image, w), row = hidden[0], scalar = tf::constant(2.f);
  tiny("x + x, 4096 elements", [&] { return small + small; });
  tiny("x + a number of the host", [&] { return small + scalar; });
  tiny("[50, 100] + [100]", [&] { return hidden + row; });
  tiny("[50, 784] x [784, 100]", [&] { return tf::matmul(image, w); });
  tiny("[784, 50] x [50, 100]", [&] { return tf::matmul(image, hidden, {.transpose_a = true}); });
  tiny("sum of [50, 100] over 50", [&] { return tf::reduce_sum(hidden, {0}); });
  tiny("softmax of [50, 100]", [&] { return tf::nn::softmax(hidden); });
  {
    auto scope = tf::device("/gpu:0");
    const tf::Variable v(w);
    tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
    tiny("Adam of [784, 100]", [&] {
      adam.apply_gradients({{w, v}});
      return w;
    });
  }
  const Tensor x = tf::random::stateless_normal({1 << 15, 1 << 13}, {1, 2}).gpu();
  const double bytes = 4. * (1 << 28);
  const auto report = [](const char* name, double s, double moved) {
    std::printf("%-31s %8.3f ms  %8.1f GB/s\n", name, s * 1e3, moved / s * 1e-9);
  };
  report("x + x, 1 GB", seconds(20, [&] { return x + x; }), 2 * bytes);
  report("relu, 1 GB", seconds(20, [&] { return tf::nn::relu(x); }), 2 * bytes);
  report("exp, 1 GB", seconds(20, [&] { return tf::exp(x); }), 2 * bytes);
  report("x + row, 1 GB", seconds(20, [&] { return x + x[0]; }), 2 * bytes);
  report("softmax of 8192, 1 GB", seconds(20, [&] { return tf::nn::softmax(x); }), 2 * bytes);
  const Tensor narrow = tf::reshape(x, {1 << 18, 1 << 10}),
               wide = tf::reshape(x, {1 << 13, 1 << 15});
  report("softmax of 1024, 1 GB", seconds(20, [&] { return tf::nn::softmax(narrow); }), 2 * bytes);
  report("softmax of 32768, 1 GB", seconds(20, [&] { return tf::nn::softmax(wide); }), 2 * bytes);
  report("sum of all, 1 GB", seconds(20, [&] { return tf::reduce_sum(x); }), bytes);
  report("sum of rows, 1 GB", seconds(20, [&] { return tf::reduce_sum(x, {1}); }), bytes);
  report("sum of columns, 1 GB", seconds(20, [&] { return tf::reduce_sum(x, {0}); }), bytes);
  report("transpose, 1 GB", seconds(20, [&] { return tf::transpose(x); }), 2 * bytes);
  return 0;
}
