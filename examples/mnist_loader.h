#pragma once
#include <rill/rill.h>

#include <utility>

#include "example.h"

// The guide's loader of MNIST: pixels [n, 28, 28, 1] in 0 .. 1, labels int32, and batches drawn by
// chance. Without MNIST's files: the small digits of the library, enlarged.
struct MNISTLoader {
  bool real = has_mnist();
  rill::Tensor train_data, train_label, test_data, test_label;
  int num_train_data = 0, num_test_data = 0;

  MNISTLoader() {
    using namespace rill::keras;
    const auto [train, test] = real ? datasets::mnist::load_data() : datasets::digits::load_data();
    train_data = pixels(train.x), test_data = pixels(test.x);
    train_label = rill::cast(train.y, rill::int32);
    test_label = rill::cast(test.y, rill::int32);
    num_train_data = static_cast<int>(train_data.shape().dim(0));
    num_test_data = static_cast<int>(test_data.shape().dim(0));
  }
  std::pair<rill::Tensor, rill::Tensor> get_batch(int batch_size) const {
    const auto index =
        rill::random::uniform({batch_size}, 0, num_train_data, {.dtype = rill::int32});
    return {rill::gather(train_data, index), rill::gather(train_label, index)};
  }

 private:
  rill::Tensor pixels(const rill::Tensor& images) const {
    const auto x = rill::expand_dims(rill::cast(images, rill::float32), -1);
    return real ? x / 255.f : rill::image::resize(x / 16.f, {28, 28});
  }
};
