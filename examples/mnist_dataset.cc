// shows: P67 P68 Q43
// Pictures as a dataset: shown, turned, shuffled, put in batches; then made ready ahead and by two
// threads, which changes the time but not the elements.
#include <rill/rill.h>

#include <chrono>
#include <thread>

#include "mnist_loader.h"
namespace tf = rill;
using tf::Nest, tf::Tensor, tf::data::Dataset;
using namespace std::chrono_literals;

// Pictures [n, 28, 28, 1] beside each other, every second row.
void show(const Tensor& images, const Tensor& labels) {
  const auto count = images.shape().dim(0);
  for (int i = 0; i < count; ++i) std::cout << tf::format("{:<30}", labels[i].item<int>());
  for (int row = 0; row < 28; row += 2) {
    std::cout << '\n';
    for (int i = 0; i < count; ++i) {
      for (const float pixel : images(i, row, tf::all, 0).to_vector<float>())
        std::cout << " .+#"[static_cast<int>(pixel * 3.99f)];
      std::cout << "  ";
    }
  }
  std::cout << '\n';
}

std::pair<Tensor, Tensor> rot90(const Tensor& image, const Tensor& label) {
  return {tf::image::rot90(image), label};
}

// The labels of the first batches.
std::vector<int> first_labels(const Dataset& batches) {
  std::vector<int> all;
  for (auto& batch : batches.take(25))
    for (const int label : batch[1].as_tensor().to_vector<int>()) all.push_back(label);
  return all;
}

bool same(const std::vector<Nest>& a, const std::vector<Nest>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (const std::size_t part : {0u, 1u})
      if (!tf::reduce_all(tf::equal(a[i][part].as_tensor(), b[i][part].as_tensor())).item<bool>())
        return false;
  return true;
}

// Elements used by something that needs 20 ms for each and leaves the cores alone meanwhile, as
// training on another device does.
double seconds_of(const Dataset& dataset) {
  const auto start = std::chrono::steady_clock::now();
  for ([[maybe_unused]] auto& element : dataset) std::this_thread::sleep_for(20ms);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main() {
  const MNISTLoader data;
  std::cout << data.train_data.shape() << '\n';
  expect(data.train_data.shape() ==
             tf::TensorShape({data.real ? 60000 : data.num_train_data, 28, 28, 1}),
         "all pictures, with one channel");
  const auto mnist_dataset =
      Dataset::from_tensor_slices(tf::tuple(data.train_data, data.train_label));
  for (auto& element : mnist_dataset.take(1)) {
    const auto [image, label] = element.unpack<2>();
    expect(image.shape() == tf::TensorShape({28, 28, 1}), "a picture an element");
    show(tf::expand_dims(image, 0), tf::expand_dims(label, 0));
  }

  // A quarter to the left: what was at the right is on top.
  const auto turned = mnist_dataset.map(rot90);
  for (auto& element : turned.take(1)) {
    const auto [image, label] = element.unpack<2>();
    show(tf::expand_dims(image, 0), tf::expand_dims(label, 0));
    const Tensor before = data.train_data[0];
    for (int i = 0; i < 28; ++i)
      for (int j = 0; j < 28; ++j)
        expect(image(i, j, 0).item<float>() == before(j, 27 - i, 0).item<float>(),
               "a quarter to the left");
  }

  const auto batches = [&] { return turned.shuffle(10000).batch(4); };
  for (auto& batch : batches().take(1)) {
    const auto [images, labels] = batch.unpack<2>();
    std::cout << images.shape() << ' ' << labels.shape() << '\n';
    expect(images.shape() == tf::TensorShape({4, 28, 28, 1}), "pictures of a batch");
    expect(labels.shape() == tf::TensorShape({4}), "labels of a batch");
    show(images, labels);
  }
  expect(first_labels(batches()) != first_labels(batches()), "two runs differ");

  // Ahead, and by two threads.
  const auto some = mnist_dataset.take(1000);
  const auto expected = some.map(rot90).as_vector();
  expect(same(some.prefetch(tf::data::experimental::AUTOTUNE).map(rot90).as_vector(), expected),
         "the same elements, prefetched");
  expect(same(some.map(rot90, {.num_parallel_calls = 2}).as_vector(), expected),
         "the same elements, made by two threads");

  // A picture takes 20 ms to come, and 20 ms to be used.
  const auto slowly = [](const Tensor& image, const Tensor& label) {
    std::this_thread::sleep_for(20ms);
    return rot90(image, label);
  };
  const auto few = mnist_dataset.take(30);
  const double one_by_one = seconds_of(few.map(slowly)),
               prefetched = seconds_of(few.map(slowly).prefetch(tf::data::experimental::AUTOTUNE)),
               parallel = seconds_of(few.map(slowly, {.num_parallel_calls = 2}));
  std::cout << tf::format("one by one {:.3f} s, prefetched {:.3f} s, by two threads {:.3f} s\n",
                          one_by_one, prefetched, parallel);
  expect(prefetched < 0.9 * one_by_one && parallel < 0.9 * one_by_one, "sooner");
}
