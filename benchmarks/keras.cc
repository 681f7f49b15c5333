// What Keras costs beyond the planned step: fit over it, and predict over a call.
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
  fitted.fit(x, y, {.epochs = 1, .verbose = 0});
  budget::Pair p{1e30, 1e30};
  for (int round = 0; round < 30; ++round) {
    p.reference = std::min(p.reference, budget::sample([&] { step(bx, by); }, 200));
    p.ours = std::min(p.ours,
                      budget::sample([&] { fitted.fit(x, y, {.epochs = 1, .verbose = 0}); }) / 200);
  }
  budget::multiple_row("a step in fit over the bare step (MNIST MLP, batch 32)", p, 1.10, 1.05);

  const Tensor row = x(tf::slice(0, 1));
  bare.predict(row, {.verbose = 0});
  budget::multiple_row(
      "predict(one row) over a call of the model",
      budget::best_of_both([&] { bare.predict(row, {.verbose = 0}); }, [&] { bare(row); }, 500, 60),
      1.3, 1.1);
}
