// shows: P16
// A checkpoint of a model, its optimizer and the step. What is restored in another model continues
// training bit for bit as the one that was never stopped.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct Model : keras::Model {
  keras::layers::Dense hidden{{.units = 64, .activation = tf::nn::relu}}, logits{{.units = 10}};
  Model() {
    track("hidden", hidden);
    track("logits", logits);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return logits(hidden(inputs));
  }
};

const std::string checkpoint_dir = "./ckpt/", checkpoint_prefix = checkpoint_dir + "ckpt";

struct Training {
  Model model;
  tf::train::AdamOptimizer optimizer{0.001};
  tf::Variable optimizer_step = tf::train::get_or_create_global_step();
  tf::train::Checkpoint root{
      {"optimizer", optimizer}, {"model", model}, {"optimizer_step", optimizer_step}};

  // The batches follow from the step alone.
  std::vector<float> run(int steps) {
    static const auto data = keras::datasets::digits::load_data().train;
    static const auto pixels = tf::reshape(tf::cast(data.x, tf::float32) / 16.f, {-1, 64});
    static const auto labels = tf::cast(data.y, tf::int64);
    std::vector<float> losses;
    for (int i = 0; i < steps; ++i) {
      const auto step = static_cast<int>(optimizer_step.numpy().item<std::int64_t>());
      const auto pick = tf::random::stateless_uniform_int({32}, {step, 7}, 0,
                                                          static_cast<int>(labels.shape().dim(0)));
      tf::GradientTape tape;
      const auto loss = tf::losses::sparse_softmax_cross_entropy(tf::gather(labels, pick),
                                                                 model(tf::gather(pixels, pick)));
      optimizer.apply_gradients(tf::zip(tape.gradient(loss, model.variables()), model.variables()),
                                {.global_step = optimizer_step});
      losses.push_back(loss.item<float>());
    }
    return losses;
  }
};

int main() {
  std::filesystem::remove_all(checkpoint_dir);
  Training whole;
  whole.run(50);
  std::cout << "saved to " << whole.root.save(checkpoint_prefix) << '\n';
  const auto losses = whole.run(50);

  Training resumed;
  const auto status = resumed.root.restore(tf::train::latest_checkpoint(checkpoint_dir));
  expect(resumed.optimizer_step.numpy().item<std::int64_t>() == 50, "the step of the checkpoint");
  const auto resumed_losses = resumed.run(50);
  status.assert_consumed();
  std::cout << tf::format("loss at step 51: {:.6f} and {:.6f}, at step 100: {:.6f} and {:.6f}\n",
                          losses.front(), resumed_losses.front(), losses.back(),
                          resumed_losses.back());
  expect(resumed_losses == losses, "the losses of the training that was not stopped");
  expect(losses.back() < losses.front(), "a training that gets on");
  for (std::size_t i = 0; i < whole.model.variables().size(); ++i)
    expect(whole.model.variables()[i].numpy().to_vector<float>() ==
               resumed.model.variables()[i].numpy().to_vector<float>(),
           "the same bits in " + whole.model.variables()[i].name());
}
