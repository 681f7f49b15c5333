// shows: P64
// The loss and a number of one's own over the batches of a training, for
// `tensorboard --logdir=./tensorboard`, and the file read back.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;

int main() {
  std::filesystem::remove_all("tensorboard");
  const int num_batches = 20;
  const auto X = tf::constant({1.f, 2.f, 3.f}), y = 3 * X + 2;
  tf::Variable w(0.f), b(0.f);
  tf::keras::optimizers::SGD optimizer(0.05);
  std::vector<float> losses, my_scalars;

  const auto summary_writer = tf::summary::create_file_writer("./tensorboard");
  for (int batch_index = 0; batch_index < num_batches; ++batch_index) {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::square(w * X + b - y));
    optimizer.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
    const auto my_scalar = w + b;
    const auto scope = summary_writer.as_default();
    tf::summary::scalar("loss", loss, {.step = batch_index});
    tf::summary::scalar("MyScalar", my_scalar, {.step = batch_index});
    losses.push_back(loss.item<float>());
    my_scalars.push_back(my_scalar.item<float>());
  }
  summary_writer.close();

  // The file that TensorBoard reads: its version, then a record for each scalar.
  const auto events = tf::summary::summary_iterator(summary_writer.path());
  std::cout << std::filesystem::path(summary_writer.path()).filename().string() << ": "
            << events.size() << " records\n";
  expect(events.size() == 1 + 2 * num_batches && events[0].file_version == "brain.Event:2",
         "a record for each scalar");
  for (std::size_t i = 1; i < events.size(); ++i) {
    const std::size_t batch_index = (i - 1) / 2;
    const bool is_loss = i % 2 == 1;
    expect(events[i].values.size() == 1, "one value a record");
    const auto& value = events[i].values[0];
    std::cout << tf::format("step {}: {} {:.6f}\n", events[i].step, value.tag,
                            value.tensor.item<float>());
    expect(events[i].step == static_cast<std::int64_t>(batch_index), "its step");
    expect(value.plugin == "scalars" && value.tag == (is_loss ? "loss" : "MyScalar"), "its name");
    expect(value.tensor.item<float>() == (is_loss ? losses : my_scalars)[batch_index],
           "its value, bit for bit");
  }
}
