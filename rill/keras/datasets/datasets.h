#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rill/core/tensor.h"

// Data sets that programs of the guides use. Those that are small are in the library; the
// others are read from files as their authors or Keras publish them: from the path given (a file,
// or the folder that holds it), else from the folder RILL_DATA_DIR names, else from Keras's cache
// (~/.keras/datasets, or below KERAS_HOME), else from where Debian's packages of data put them
// (dataset-fashion-mnist: /usr/share/datasets). Nothing is downloaded unless `download` is set.
//
// A file that Keras knows by a checksum must have it: DataLoss, with both checksums, when it is
// damaged or another one. NotFound says where it was looked for.
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

struct LoadDataOptions {
  std::string path = {};
  bool download = false;  // into Keras's cache, from where Keras has it, when it is not found
  bool verify = true;     // by the checksum; false for another file in the same format
};

// 60000 + 10000 images [28, 28] of digits, uint8, with labels 0 to 9, uint8. Reads mnist.npz, or
// the four idx files, packed by gzip or not, which have no checksum.
namespace mnist {
Splits load_data(const LoadDataOptions& options = {});
Splits load_data(std::string_view path);
}  // namespace mnist
// The same of clothes: the four idx files, or fashion_mnist.npz.
namespace fashion_mnist {
// What the labels 0 to 9 stand for.
inline constexpr std::string_view class_names[] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
Splits load_data(const LoadDataOptions& options = {});
Splits load_data(std::string_view path);
}  // namespace fashion_mnist
// 50000 + 10000 images [32, 32, 3], uint8, labels [n, 1], uint8: the folder cifar-10-batches-py, as
// Keras has it, or cifar-10-batches-bin. The checksum is that of the archive that is downloaded.
namespace cifar10 {
Splits load_data(const LoadDataOptions& options = {});
Splits load_data(std::string_view path);
}  // namespace cifar10

// 506 rows of 13 numbers, float64, and prices: boston_housing.npz, in Keras's order for the seed.
namespace boston_housing {
struct BostonHousingOptions {
  std::string path = {};
  double test_split = 0.2;
  std::uint32_t seed = 113;
  bool download = false;
  bool verify = true;
};
Splits load_data(const BostonHousingOptions& options = {});
}  // namespace boston_housing

// 25000 + 25000 reviews of films, each a list of the numbers of its words, and whether the writer
// liked the film (int64): imdb.npz, in Keras's order for the seed. Words are numbered by how often
// they occur.
namespace imdb {
struct Reviews {
  std::vector<std::vector<std::int64_t>> x;
  Tensor y;
};
struct ReviewSplits {
  Reviews train, test;
};
struct ImdbOptions {
  std::string path = "imdb.npz";
  std::int64_t num_words = 0;  // only the most frequent ones; 0: all
  std::int64_t skip_top = 0;   // not the most frequent of them
  std::int64_t maxlen = 0;     // only reviews that are shorter; 0: all
  std::uint32_t seed = 113;
  std::optional<std::int64_t> start_char = 1;  // begins each review
  std::optional<std::int64_t> oov_char = 2;    // for words that are left out; nullopt drops them
  std::int64_t index_from = 3;                 // is added to the number of a word
  bool download = false;
  bool verify = true;
};
//   auto [train, test] = keras::datasets::imdb::load_data({.num_words = 10000});
//   Tensor x = keras::utils::pad_sequences(train.x, {.maxlen = 256});
ReviewSplits load_data(const ImdbOptions& options = {});

// The number of each word, without index_from.
struct WordIndexOptions {
  std::string path = "imdb_word_index.json";
  bool download = false;
  bool verify = true;
};
std::unordered_map<std::string, std::int64_t> get_word_index(const WordIndexOptions& options = {});
}  // namespace imdb

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
