// Training steps of whole networks on a GPU, as traced functions: milliseconds a step, how
// much of it the host is busy, and whether the step was recorded. Soft placement is off, so
// what has no kernel there is named; such a network then runs with it on. Batches are on the
// device. benchmarks/cuda/networks_peers.py times the same elsewhere. RILL_KERNELS=1 lists the
// kernels of a step with their own times.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "benchmarks/training_steps.h"
#include "rill/graph/profiler/profiler.h"
#include "rill/keras/applications/applications.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

std::string wanted;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One step for `ncu --profile-from-start off`, when RILL_PROFILE is set.
void profile(const training::Step& step) {
  if (!std::getenv("RILL_PROFILE")) return;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto call = [&](const char* name) {
    if (auto* f = driver ? reinterpret_cast<int (*)()>(dlsym(driver, name)) : nullptr) f();
  };
  call("cuProfilerStart");
  step.call().cpu();
  call("cuProfilerStop");
}

// Where the time of a step goes, by kernel, when RILL_KERNELS is set: calls and microseconds.
void list_kernels(const training::Step& step) {
  if (!std::getenv("RILL_KERNELS")) return;
  constexpr int kSteps = 5;
  step.call().cpu();
  tf::profiler::Profile profile;
  for (int i = 0; i < kSteps; ++i) step.call().cpu();
  const auto report = profile.stop();
  struct Total {
    int calls = 0;
    double us = 0;
  };
  std::map<std::string, Total> totals;
  double all = 0;
  for (const auto& each : report.activities()) {
    Total& total = totals[each.name.substr(0, 100)];
    const double us = static_cast<double>(each.end_ns - each.start_ns) / 1e3;
    ++total.calls, total.us += us, all += us;
  }
  std::vector<std::pair<std::string, Total>> sorted(totals.begin(), totals.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  std::printf("    kernels of a step: %zu, %.1f us\n", report.activities().size() / kSteps,
              all / kSteps);
  for (std::size_t i = 0; i < sorted.size() && i < 24; ++i)
    std::printf("    %9.1f us %5.1f x %s\n", sorted[i].second.us / kSteps,
                static_cast<double>(sorted[i].second.calls) / kSteps, sorted[i].first.c_str());
  if (totals.empty()) std::printf("    %s\n", report.table().c_str());
}

// `images` of a step, when they count: images a second are printed too.
void time_step(const char* name, const training::Step& step, int calls, int images) {
  Tensor loss;
  for (int i = 0; i < 10; ++i) loss = step.call();
  loss.cpu();
  profile(step);
  std::vector<double> steps, hosts;
  for (int run = 0; run < 5; ++run) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) loss = step.call();
    hosts.push_back((now() - begin) / calls);
    loss.cpu();
    steps.push_back((now() - begin) / calls);
  }
  std::sort(steps.begin(), steps.end());
  std::sort(hosts.begin(), hosts.end());
  const std::string how = step.explain();
  std::printf("%-34s %9.3f ms, host %9.3f", name, steps[2] * 1e3, hosts[2] * 1e3);
  if (images) std::printf(", %7.0f images/s", images / steps[2]);
  std::printf(", %s, loss %g\n", how.find("recorded on") != how.npos ? "recorded" : "one by one",
              loss.item<float>());
  int general = 0;
  for (std::size_t at = 0; (at = how.find("of general form: ", at)) != how.npos; ++at)
    if (++general <= 3) std::printf("    %s\n", how.substr(at, how.find('\n', at) - at).c_str());
  if (general > 3) std::printf("    and %d more\n", general - 3);
  list_kernels(step);
  std::fflush(stdout);
}

void network(const char* name, const std::function<training::Step()>& make, int calls,
             int images = 0) {
  if (std::string_view(name).find(wanted) == std::string_view::npos) return;
  for (const bool soft : {false, true}) {
    tf::config::set_soft_device_placement(soft);
    try {
      const training::Step step = make();
      return time_step(name, step, calls, images);
    } catch (const tf::errors::Error& e) {
      std::printf("%-34s %s: %.400s\n", name, soft ? "failed" : "not on the GPU alone", e.what());
      std::fflush(stdout);
    }
  }
}

training::Step application(keras::Model (*make)(), int batch) {
  keras::Model model = make();
  const Tensor x = tf::cast(tf::random::stateless_normal({batch, 224, 224, 3}, {1, 2}),
                            keras::mixed_precision::global_policy().compute_dtype()),
               y = tf::cast(tf::range(batch) * 3 % 1000, tf::int32);
  keras::optimizers::SGD sgd({.learning_rate = 1e-3, .momentum = 0.9});
  const std::vector<tf::Variable> variables = model.trainable_variables();
  const auto step = tf::function([=](Tensor images, Tensor labels) mutable {
    tf::GradientTape tape;
    const Tensor logits = tf::cast(model(images, {.training = 1}), tf::float32);
    const Tensor loss = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = labels, .logits = logits}));
    sgd.apply_gradients(tape.gradient(loss, variables), variables);
    return loss;
  });
  return {[=] { return step(x, y); }, [=] { return step.explain(); }};
}
keras::Model resnet() { return keras::applications::ResNet50({.classifier_activation = "linear"}); }
keras::Model mobilenet() {
  return keras::applications::MobileNetV2({.classifier_activation = "linear"});
}

void products(std::int64_t n) {
  const Tensor x = tf::random::stateless_normal({n, n}, {1, 1}) * 0.01f;
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const double begin = now();
    Tensor y;
    for (int i = 0; i < 200; ++i) y = tf::matmul(x, x);
    tf::reshape(y, {-1})[0].cpu();
    best = std::min(best, now() - begin);
  }
  const double flops = 200 * 2. * static_cast<double>(n * n * n);
  std::printf("200 x matmul(%lld), float32 %17.3f ms, %5.1f TFLOP/s\n", static_cast<long long>(n),
              best * 1e3, flops / best * 1e-12);
}

}  // namespace

// With an argument: the networks whose names have it in them.
int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  try {
    auto scope = tf::device("/gpu:0");
    if (wanted.empty()) {
      products(1000);
      products(2048);
    }
    network(
        "CNN (P56), batch 50", [] { return training::cnn_step(50); }, 100);
    network(
        "CNN (P56), batch 1024", [] { return training::cnn_step(1024); }, 30);
    network("LSTM 256 x 40, batch 50", training::lstm_step, 50);
    network("LSTM by keras::layers", training::lstm_layer_step, 50);
    for (const char* policy : {"mixed_bfloat16", "float32"}) {
      keras::mixed_precision::set_global_policy(policy);
      const int batch = policy[0] == 'm' ? 256 : 128;
      char name[64];
      std::snprintf(name, sizeof name, "ResNet-50, %s", policy);
      network(
          name, [=] { return application(resnet, batch); }, 5, batch);
      std::snprintf(name, sizeof name, "MobileNetV2, %s", policy);
      network(
          name, [=] { return application(mobilenet, batch); }, 5, batch);
    }
  } catch (const tf::errors::InvalidArgument& e) {
    std::printf("no GPU here: %s\n", e.what());
  }
  return 0;
}
