// What Keras costs beyond the planned step: fit over it, and predict over a call.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks/budget.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

keras::Sequential classifier() {
  keras::Sequential m({keras::layers::Flatten({.input_shape = {28, 28}}),
                       keras::layers::Dense(128, {.activation = "relu"}),
                       keras::layers::Dense(10, {.activation = "softmax"})});
  m.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  return m;
}

}  // namespace

int main() {
  const int n = 32 * 200;
  const Tensor x = tf::random::uniform({n, 28, 28}, 0., 1., {.seed = 1});
  const Tensor y = tf::cast(tf::range(n) % 10, tf::int32);

  // The bare step: loss, metrics and update of one batch that is there.
  keras::Sequential bare = classifier(), fitted = classifier();
  const Tensor bx = x(tf::slice(0, 32)), by = y(tf::slice(0, 32));
  auto step = tf::function(
      [&](const Tensor& a, const Tensor& b) { return bare.train_step(tf::tuple(a, b)); });
  step(bx, by);
  // What a loop by hand does with data in random order: it copies the rows of a batch together,
  // each time to the same place.
  const Tensor gx = tf::zeros({32, 28, 28}), gy = tf::zeros({32}, tf::int32);
  float* const pixels = const_cast<float*>(gx.data<float>().data());
  int* const labels = const_cast<int*>(gy.data<int>().data());
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 generator(1);
  auto shuffled_steps = [&] {
    std::shuffle(order.begin(), order.end(), generator);
    for (std::size_t batch = 0; batch < n; batch += 32) {
      for (std::size_t i = 0; i < 32; ++i) {
        const std::size_t row = order[batch + i];
        std::copy_n(x.data<float>().data() + row * 784, 784, pixels + i * 784);
        labels[i] = y.data<int>()[row];
      }
      step(gx, gy);
    }
  };
  auto fit = [&](bool shuffle) {
    fitted.fit(x, y, {.epochs = 1, .verbose = 0, .shuffle = shuffle});
  };
  fit(true), fit(false);
  budget::Pair ordered{1e30, 1e30}, shuffled{1e30, 1e30};
  for (int round = 0; round < 30; ++round) {
    ordered.reference = std::min(ordered.reference, budget::sample([&] { step(bx, by); }, 200));
    ordered.ours = std::min(ordered.ours, budget::sample([&] { fit(false); }) / 200);
    shuffled.reference = std::min(shuffled.reference, budget::sample(shuffled_steps) / 200);
    shuffled.ours = std::min(shuffled.ours, budget::sample([&] { fit(true); }) / 200);
  }
  budget::multiple_row("a step in fit over the bare step (MNIST MLP, batch 32)", ordered, 1.10,
                       1.05);
  budget::multiple_row("the same, shuffled, over a loop that gathers by hand", shuffled, 1.10,
                       1.05);

  const Tensor row = x(tf::slice(0, 1));
  bare.predict(row, {.verbose = 0});
  budget::multiple_row(
      "predict(one row) over a call of the model",
      budget::best_of_both([&] { bare.predict(row, {.verbose = 0}); }, [&] { bare(row); }, 500, 60),
      1.3, 1.1);
}
