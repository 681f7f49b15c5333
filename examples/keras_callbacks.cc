// shows: P06
// Callbacks: training that stops when it gets no better, and curves for TensorBoard.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

int main() {
  keras::utils::set_random_seed(3);
  const Tensor data = tf::random::uniform({1000, 32}),
               labels = tf::nn::softmax(tf::random::uniform({1000, 10}, 0, 3));
  const Tensor val_data = tf::random::uniform({100, 32}),
               val_labels = tf::nn::softmax(tf::random::uniform({100, 10}, 0, 3));
  keras::Sequential model({keras::layers::Dense(64, {.activation = "relu"}),
                           keras::layers::Dense(10, {.activation = "softmax"})});
  model.compile({.optimizer = keras::optimizers::RMSprop(0.001),
                 .loss = "categorical_crossentropy",
                 .metrics = {"accuracy"}});

  keras::callbacks::EarlyStopping stop({.monitor = "val_loss", .patience = 2});
  const auto history =
      model.fit(data, labels,
                {.batch_size = 32,
                 .epochs = 200,
                 .verbose = 0,
                 .callbacks = {stop, keras::callbacks::TensorBoard({.log_dir = "./logs"})},
                 .validation_data = {val_data, val_labels}});
  std::cout << "stopped after epoch " << history.epoch.back() + 1 << "; the best was "
            << stop.best_epoch + 1 << '\n';
  const auto& losses = history["val_loss"];
  expect(losses.size() < 200, "random labels cannot be learnt for 200 epochs");
  expect(stop.stopped_epoch == stop.best_epoch + 2, "two epochs of patience");
  int files = 0;
  for (const auto& e : std::filesystem::recursive_directory_iterator("./logs"))
    files += e.path().filename().string().starts_with("events.out.tfevents.");
  expect(files >= 2, "event files of training and validation");
}
