// shows: P90 A19 V24
// A complete eager program: two convolutions, the mean of what they find, and 400 steps of Adam.
#include <rill/rill.h>

#include <numeric>

#include "example.h"
namespace tf = rill;
namespace layers = tf::keras::layers;

int main() {
  const bool quick = std::getenv("RILL_QUICK") != nullptr, real = has_mnist();
  const int steps = quick ? 20 : 400;
  tf::random::set_seed(1);
  const auto [mnist_images, mnist_labels] = real ? tf::keras::datasets::mnist::load_data().train
                                                 : tf::keras::datasets::digits::load_data().train;
  const float white = real ? 255.f : 16.f;

  auto dataset = tf::data::Dataset::from_tensor_slices(
      tf::tuple(tf::cast(mnist_images(tf::ellipsis, tf::newaxis) / white, tf::float32),
                tf::cast(mnist_labels, tf::int64)));
  dataset = dataset.shuffle(1000).repeat(real ? 1 : 10).batch(32);

  tf::keras::Sequential mnist_model({
      layers::Conv2D(16, {3, 3}, {.activation = "relu"}),
      layers::Conv2D(16, {3, 3}, {.activation = "relu"}),
      layers::GlobalAveragePooling2D(),
      layers::Dense(10),
  });

  tf::train::AdamOptimizer optimizer;
  std::vector<float> loss_history;
  int dots = 0;
  for (auto& element : dataset.take(steps)) {
    const auto [images, labels] = element.unpack<2>();
    if (loss_history.size() % 10 == 0) {
      std::cout << '.' << std::flush;
      ++dots;
    }
    tf::GradientTape tape;
    const auto logits = mnist_model(images, {.training = true});
    const auto loss_value = tf::losses::sparse_softmax_cross_entropy(labels, logits);
    loss_history.push_back(loss_value.item<float>());

    const auto grads = tape.gradient(loss_value, mnist_model.trainable_variables());
    optimizer.apply_gradients(tf::zip(grads, mnist_model.trainable_variables()),
                              {.global_step = tf::train::get_or_create_global_step()});
  }
  const auto mean_of_ten = [&](std::size_t from) {
    const auto begin = loss_history.begin() + static_cast<std::ptrdiff_t>(from);
    return std::accumulate(begin, begin + 10, 0.f) / 10;
  };
  const float first = mean_of_ten(0), last = mean_of_ten(loss_history.size() - 10);
  std::cout << tf::format("\nloss {:.3f} -> {:.3f}\n", first, last);
  expect(dots == steps / 10, "a dot every ten batches");
  if (!quick) expect(last < 0.9f * first, "the loss falls");
}
