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

  std::filesystem::remove_all("./logs");
  keras::callbacks::EarlyStopping stop({.monitor = "val_loss", .patience = 2});
  const auto fit = [&](int epochs) {
    return model.fit(data, labels,
                     {.batch_size = 32,
                      .epochs = epochs,
                      .verbose = 0,
                      .callbacks = {stop, keras::callbacks::TensorBoard({.log_dir = "./logs"})},
                      .validation_data = {val_data, val_labels}});
  };
  // The guide's five epochs: the loss of validation falls all the time, and nothing stops.
  const auto history = fit(5);
  const auto& losses = history["val_loss"];
  std::cout << "epochs: " << losses.size() << '\n';
  expect(losses.size() == 5 && losses.back() < losses.front(), "five epochs");
  expect(stop.stopped_epoch == 0, "no stop before the end");

  // A loss that stalls, since nothing is learnt: the best is the first, and two more are waited.
  model.optimizer().set_learning_rate(0.);
  std::cout << "epochs with a rate of 0: " << fit(5)["val_loss"].size() << '\n';
  expect(stop.best_epoch == 0 && stop.stopped_epoch == 2, "two epochs of patience");

  // Random labels cannot be learnt for ever.
  model.optimizer().set_learning_rate(0.001);
  const auto longer = fit(200);
  std::cout << "stopped after epoch " << longer.epoch.back() + 1 << "; the best was "
            << stop.best_epoch + 1 << '\n';
  expect(longer["val_loss"].size() < 200, "a stop before the end");
  expect(stop.stopped_epoch == stop.best_epoch + 2, "two epochs of patience");
  int files = 0;
  for (const auto& e : std::filesystem::recursive_directory_iterator("./logs"))
    files += e.path().filename().string().starts_with("events.out.tfevents.");
  expect(files >= 2, "event files of training and validation");
}
