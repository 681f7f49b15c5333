// The applications: one image through the model, and a step of training on eight.
#include "benchmarks/budget.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;

namespace {

void rows(const char* name, keras::Model model, double gate_b1, double goal_b1, double gate_b8,
          double goal_b8) {
  char what[80];
  const tf::Tensor image = tf::random::uniform({1, 224, 224, 3}, 0., 1., {.seed = 1});
  model.predict(image, {.verbose = 0});
  std::snprintf(what, sizeof what, "%s, one image, predict", name);
  budget::time_row(what, budget::best([&] { model.predict(image, {.verbose = 0}); }, 1, 40),
                   gate_b1 * 1e6, goal_b1 * 1e6);

  const tf::Tensor images = tf::random::uniform({8, 224, 224, 3}, 0., 1., {.seed = 2});
  const tf::Tensor labels = tf::cast(tf::range(8) * 100, tf::int32);
  model.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 1e-3, .momentum = 0.9}),
                 .loss = "sparse_categorical_crossentropy"});
  model.train_on_batch(images, labels);
  std::snprintf(what, sizeof what, "%s, eight images, a step of training", name);
  budget::time_row(what, budget::best([&] { model.train_on_batch(images, labels); }, 1, 12),
                   gate_b8 * 1e6, goal_b8 * 1e6);
}

}  // namespace

int main() {
  rows("MobileNetV2", keras::applications::MobileNetV2(), 9.5, 7.5, 300, 250);
  rows("ResNet50", keras::applications::ResNet50(), 46, 40, 1336, 1150);
}
