#pragma once
#include <string>
#include <string_view>

#include "rill/core/tensor.h"

// Data sets that programs of the guides use. Those that are small are in the library; the
// others are read from files as their authors or Keras publish them: from the path given, else
// from the folder RILL_DATA_DIR names, else from Keras's cache (~/.keras/datasets). Nothing is
// downloaded.
namespace rill RILL_API {
namespace keras {
namespace datasets {

struct Split {
  Tensor x, y;
};
//   auto [train, test] = keras::datasets::mnist::load_data();
struct Splits {
  Split train, test;
};

// 60000 + 10000 images [28, 28] of digits, uint8, with labels 0 to 9, uint8. Reads mnist.npz, or
// the four idx files, packed by gzip or not.
namespace mnist {
Splits load_data(std::string_view path = {});
}
// The same of clothes.
namespace fashion_mnist {
Splits load_data(std::string_view path = {});
}
// 50000 + 10000 images [32, 32, 3], uint8, labels [n, 1]: the folder cifar-10-batches-bin.
namespace cifar10 {
Splits load_data(std::string_view path = {});
}
// 506 rows of 13 numbers, float64, and prices: boston_housing.npz, in the order of the file.
namespace boston_housing {
Splits load_data(std::string_view path = {}, double test_split = 0.2);
}
// In the library: 1797 images [8, 8] of handwritten digits, 0 to 16, float32; every sixth is for
// testing.
namespace digits {
Splits load_data();
}
// In the library: 120 + 30 flowers, 4 measures in cm each, float32, of 3 species.
namespace iris {
Splits load_data();
}

}  // namespace datasets
}  // namespace keras
}  // namespace RILL_API
