// shows: P57 A17
// data: made
// MobileNetV2 learns five kinds of flowers, step by step, from a data set of tensorflow_datasets
// or of folders of pictures. The guide's flowers cannot be had here: pictures of five kinds are
// made first.
//   flowers [data_dir]     where tf_flowers lies, as tfds prepared it or as folders
#include <rill/rill.h>

#include <cstdlib>
#include <numeric>

#include "example.h"
#include "made_pictures.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Nest, tf::Tensor;

const bool full = std::getenv("RILL_FULL") != nullptr;
// Small pictures keep the test short.
const std::int64_t size = full ? 224 : 96;
const double learning_rate = 0.001;

int main(int argc, char** argv) {
  std::string data_dir;
  if (argc > 1) {
    data_dir = argv[1];
  } else {
    data_dir = folder_for_pictures("rill_flowers");
    const char* kinds[] = {"daisy", "dandelion", "roses", "sunflowers", "tulips"};
    for (int kind = 0; kind < 5; ++kind)
      write_pictures(data_dir + "/tf_flowers/train/" + kinds[kind], kind, 0, full ? 200 : 32, 240,
                     320);
  }
  keras::utils::set_random_seed(1);

  auto dataset = tf::datasets::load("tf_flowers",
                                    {.split = "train", .data_dir = data_dir, .as_supervised = true})
                     .map([](const Tensor& img, const Tensor& label) {
                       return tf::tuple(tf::image::resize(img, {size, size}) / 255.f, label);
                     })
                     .shuffle(1024)
                     .batch(32);
  keras::applications::MobileNetV2Options options{.weights = tf::None, .classes = 5};
  if (!full) options.input_shape = {size, size, 3};
  auto model = keras::applications::MobileNetV2(options);
  keras::optimizers::Adam optimizer({.learning_rate = learning_rate});
  std::vector<float> losses;
  for (auto& element : dataset) {
    auto [images, labels] = element.unpack<2>();
    tf::GradientTape tape;
    // The guide calls model(images), which normalises by averages that it never updates: with
    // TensorFlow, too, the loss then stays near log(5).
    const Tensor labels_pred = model(images, {.training = true});
    const Tensor loss =
        tf::reduce_mean(keras::losses::sparse_categorical_crossentropy(labels, labels_pred));
    losses.push_back(loss.item<float>());
    std::cout << tf::format("loss {:f}\n", losses.back());
    const auto grads = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(grads, model.trainable_variables());
  }
  expect(losses.size() == (full ? 32u : 5u), "one pass");
  // Of single batches chance decides, and the last one is small.
  const auto mean = [](auto first, auto last) {
    return std::accumulate(first, last, 0.f) / static_cast<float>(last - first);
  };
  const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 2);
  expect(mean(middle, losses.end()) < mean(losses.begin(), middle), "the loss falls");
  if (argc == 1) tf::io::gfile::rmtree(data_dir);
}
