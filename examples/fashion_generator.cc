// shows: P83
// Fashion-MNIST's file as a generator of batches. The last batch is smaller than the others, so
// the number of pictures is left open: [None, 28, 28, 1].
#include <rill/rill.h>

#include <memory>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Nest, tf::Tensor, tf::data::Dataset;

// A function that begins to read the pictures, batch by batch, each time it is called.
auto make_fashion_generator_fn(const keras::datasets::Split& file, int batch_size) {
  return [file, batch_size] {
    return [file, batch_size, start = 0]() mutable -> std::optional<Nest> {
      const int count = static_cast<int>(file.y.size());
      if (start >= count) return {};
      const auto rows = tf::slice(start, std::min(start + batch_size, count));
      start += batch_size;
      const Tensor features = tf::expand_dims(tf::cast(file.x(rows), tf::float32), -1),
                   labels = tf::one_hot(file.y(rows), 10, {.dtype = tf::uint8});
      return tf::tuple(features, labels);
    };
  };
}

Dataset make_fashion_dset(const keras::datasets::Split& file, int batch_size,
                          tf::data::Shapes shapes = {{tf::None, 28, 28, 1}, {tf::None, 10}}) {
  return Dataset::from_generator(make_fashion_generator_fn(file, batch_size),
                                 {tf::float32, tf::uint8}, shapes);
}

int main() try {
  const auto test = keras::datasets::fashion_mnist::load_data().test;
  const int batch_size = 11;  // 10,000 = 909 * 11 + 1
  const Dataset ds = make_fashion_dset(test, batch_size);
  std::cout << ds.output_types() << '\n' << ds.output_shapes() << '\n';
  for (int epoch = 0; epoch < 2; ++epoch) {
    int batches = 0, pictures = 0;
    Tensor last;
    for (auto& batch : ds) {
      const auto [features, labels] = batch.unpack<2>();
      const auto rows = tf::slice(pictures, pictures + static_cast<int>(features.shape().dim(0)));
      expect(tf::reduce_all(
                 tf::equal(features, tf::expand_dims(tf::cast(test.x(rows), tf::float32), -1)))
                 .item<bool>(),
             "the pictures of the file");
      ++batches, pictures += static_cast<int>(features.shape().dim(0));
      last = features;
    }
    std::cout << tf::format("{} batches, {} pictures; the last batch: ", batches, pictures)
              << last.shape() << '\n';
  }
  // A fixed size does not fit the last batch.
  try {
    for ([[maybe_unused]] auto& batch :
         make_fashion_dset(test, batch_size, {{batch_size, 28, 28, 1}, {batch_size, 10}})) {
    }
    expect(false, "an error for the last batch");
  } catch (const tf::errors::InvalidArgument& e) {
    std::cout << e.message() << '\n';
  }
} catch (const tf::errors::NotFound& e) {
  std::cerr << e.what() << "\nOn Debian: apt-get install dataset-fashion-mnist\n";
  return 77;  // skipped
}
