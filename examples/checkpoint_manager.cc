// shows: P63
// Checkpoints named by the batch, of which the last three are kept, and a curve for TensorBoard.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;

int main() {
  std::filesystem::remove_all("save");

  tf::Variable w(0.f);
  tf::keras::optimizers::SGD optimizer(0.01);
  tf::train::Checkpoint checkpoint({{"myAwesomeModel", w}, {"myAwesomeOptimizer", optimizer}});
  tf::train::CheckpointManager manager(checkpoint, {.directory = "./save", .max_to_keep = 3});
  const auto writer = tf::summary::create_file_writer("./tensorboard");
  const auto scope = writer.as_default();
  for (int batch_index = 0; batch_index < 600; ++batch_index) {
    tf::GradientTape tape;
    const auto loss = tf::square(w - 5.f);
    optimizer.apply_gradients(tape.gradient(loss, {w}), {w});
    tf::summary::scalar("loss", loss, {.step = batch_index});
    if (batch_index % 100 == 0)
      std::cout << "model saved to " << manager.save({.checkpoint_number = batch_index}) << '\n';
  }
  expect(manager.checkpoints() ==
             std::vector<std::string>{"./save/ckpt-300", "./save/ckpt-400", "./save/ckpt-500"},
         "the last three are kept");
  expect(!std::filesystem::exists("./save/ckpt-200.index"), "the others are gone");
  for (const std::string& path : manager.checkpoints()) std::cout << "kept: " << path << '\n';
}
