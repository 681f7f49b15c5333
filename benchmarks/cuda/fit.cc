// What `fit` adds to a training step on a GPU: the CNN of P56, its pictures in the host's memory,
// beside the bare recorded step, whose batch is on the device. Milliseconds a step, in turns; the
// gate is 1.1 of the bare step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

keras::Sequential cnn() {
  using namespace keras::layers;
  keras::Sequential model(
      {Conv2D(32, 5, {.padding = "same", .activation = "relu", .input_shape = {28, 28, 1}}),
       MaxPool2D(2), Conv2D(64, 5, {.padding = "same", .activation = "relu"}), MaxPool2D(2),
       Flatten(), Dense(1024, {.activation = "relu"}), Dense(10)});
  model.compile({.optimizer = "adam",
                 .loss = keras::losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  return model;
}

void compare(int batch, int steps, bool prefetch) {
  const int n = batch * steps;
  Tensor x, y, bx, by;
  {
    auto host = tf::device("/cpu:0");
    x = tf::random::stateless_uniform({n, 28, 28, 1}, {1, 2});
    y = tf::cast(tf::range(n) % 10, tf::int32);
  }
  keras::Sequential bare = cnn(), fitted = cnn();
  bx = x(tf::slice(0, batch)).gpu(), by = y(tf::slice(0, batch)).gpu();
  auto step = tf::function(
      [&](const Tensor& a, const Tensor& b) { return bare.train_step(tf::tuple(a, b)); });
  const auto fit = [&] {
    if (!prefetch) {
      fitted.fit(x, y, {.batch_size = batch, .epochs = 1, .verbose = 0});
      return;
    }
    fitted.fit(tf::data::Dataset::from_tensor_slices(tf::tuple(x, y))
                   .shuffle(n)
                   .batch(batch)
                   .prefetch_to_device("/gpu:0", 2),
               {.epochs = 1, .verbose = 0});
  };
  const auto run_bare = [&] {
    for (int i = 0; i < steps; ++i) step(bx, by);
    bare.trainable_variables()[0].value().cpu();
  };
  run_bare();
  fit();
  double best_bare = 1e9, best_fit = 1e9;
  for (int round = 0; round < 5; ++round) {
    double begin = now();
    run_bare();
    best_bare = std::min(best_bare, (now() - begin) / steps);
    begin = now();
    fit();
    fitted.trainable_variables()[0].value().cpu();
    best_fit = std::min(best_fit, (now() - begin) / steps);
  }
  std::printf("CNN (P56), batch %4d, %-22s bare %7.3f ms, fit %7.3f ms: %.2f, %s\n", batch,
              prefetch ? "prefetch_to_device" : "arrays of the host", best_bare * 1e3,
              best_fit * 1e3, best_fit / best_bare,
              step.explain().find("recorded on") != std::string::npos ? "recorded" : "one by one");
  std::fflush(stdout);
}

}  // namespace

int main() {
  setenv("RILL_DEFAULT_DEVICE", "/gpu:0", 1);
  try {
    for (const int batch : {50, 1024})
      for (const bool prefetch : {false, true}) compare(batch, batch == 50 ? 400 : 30, prefetch);
  } catch (const tf::errors::InvalidArgument& e) {
    std::printf("no GPU here: %s\n", e.what());
  }
  return 0;
}
