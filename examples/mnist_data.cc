// shows: D64 D65 D72 Q09
// MNIST as the guides load it: by load_data, from a file that was put into the cache by hand, as
// batches of a dataset, and by the guide's own loader.
#include <rill/rill.h>

#include <filesystem>
#include <sstream>

#include "example.h"
#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;

int main() {
  if (!has_mnist()) {
    std::cout << "MNIST is not here: name its folder by RILL_DATA_DIR\n";
    return 77;  // skipped
  }
  const auto [train, test] = keras::datasets::mnist::load_data();
  std::cout << train.x.shape() << ' ' << train.y.shape() << ' ' << test.x.shape() << ' '
            << test.y.shape() << '\n';
  expect(train.x.shape() == tf::TensorShape({60000, 28, 28}) && train.x.dtype() == tf::uint8,
         "60,000 pictures of bytes");
  expect(train.y.shape() == tf::TensorShape({60000}) && train.y.dtype() == tf::uint8, "labels");
  expect(test.x.shape() == tf::TensorShape({10000, 28, 28}), "10,000 pictures to test");
  expect(test.y.shape() == tf::TensorShape({10000}), "their labels");

  // Without a network: the file in the cache of Keras.
  const std::filesystem::path home = std::filesystem::current_path() / "keras_home";
  std::filesystem::create_directories(home / "datasets");
  tf::io::save_npz(
      (home / "datasets" / "mnist.npz").string(),
      {{"x_train", train.x}, {"y_train", train.y}, {"x_test", test.x}, {"y_test", test.y}});
  const char* folder = std::getenv("RILL_DATA_DIR");
  const std::string data_dir = folder ? folder : "";
  unsetenv("RILL_DATA_DIR");
  setenv("KERAS_HOME", home.c_str(), 1);
  const auto [cached, cached_test] = keras::datasets::mnist::load_data({.verify = false});
  expect(cached.x.to_vector<std::uint8_t>() == train.x.to_vector<std::uint8_t>(),
         "what was put into the cache");
  if (folder) setenv("RILL_DATA_DIR", data_dir.c_str(), 1);

  // One batch of a dataset, and what a model makes of it.
  const auto dataset_train = tf::data::Dataset::from_tensor_slices(
                                 {tf::cast(train.x, tf::float32), tf::cast(train.y, tf::int64)})
                                 .shuffle(60000)
                                 .repeat(4)
                                 .batch(32);
  keras::Sequential model({keras::layers::Flatten(), keras::layers::Dense(10)});
  for (auto& batch : dataset_train.take(1)) {
    const auto [x, y] = batch.unpack<2>();
    std::ostringstream shapes;
    shapes << x.shape() << ' ' << y.shape() << ' ' << model(x).shape();
    std::cout << shapes.str() << '\n';
    expect(shapes.str() == "(32, 28, 28) (32,) (32, 10)", "the shapes of a batch");
  }

  const MNISTLoader loader;
  expect(loader.train_data.shape() == tf::TensorShape({60000, 28, 28, 1}) &&
             loader.train_data.dtype() == tf::float32,
         "pictures with a channel");
  expect(tf::reduce_max(loader.train_data).item<float>() == 1.f &&
             tf::reduce_min(loader.train_data).item<float>() == 0.f,
         "pixels from 0 to 1");
  expect(loader.train_label.dtype() == tf::int32, "labels as int32");
  const auto [images, labels] = loader.get_batch(50);
  expect(
      images.shape() == tf::TensorShape({50, 28, 28, 1}) && labels.shape() == tf::TensorShape({50}),
      "a batch drawn by chance");
}
