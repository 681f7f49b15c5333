#include <cstdlib>
#include <cstring>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/keras/datasets/datasets.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::datasets {

namespace {

// Where a data set may be: the path given, or the usual folders.
std::vector<std::string> places(std::string_view path, const std::string& name) {
  if (!path.empty()) return {std::string(path)};
  std::vector<std::string> list;
  if (const char* folder = std::getenv("RILL_DATA_DIR")) {
    list.push_back(io::join_path(folder, name));
    list.push_back(folder);
  }
  if (const char* home = std::getenv("HOME")) {
    const std::string cache = io::join_path(home, ".keras/datasets");
    list.push_back(io::join_path(cache, name));
    list.push_back(cache);
  }
  return list;
}

[[noreturn]] void not_found(const char* what, const std::vector<std::string>& tried,
                            const std::string& wanted) {
  std::string list;
  for (const std::string& t : tried) list += "\n  " + t;
  RILL_FAIL(not_found,
            "[{}] the data are not there. Looked for {} in:{}\nPut the files there, or name their "
            "folder by RILL_DATA_DIR or as load_data(path)",
            what, wanted, list.empty() ? " (RILL_DATA_DIR and HOME are not set)" : list);
}

std::string read_packed(const std::string& path) {
  io::UnpackingFile file(path,
                         path.ends_with(".gz") ? io::Compression::gzip : io::Compression::none);
  std::string bytes;
  char part[1 << 16];
  while (const std::size_t n = file.read(part, sizeof part)) bytes.append(part, n);
  return bytes;
}

// A file of the idx format: magic 0 0 type rank, sizes big-endian, elements.
Tensor read_idx(const std::string& path, int rank) {
  const std::string bytes = read_packed(path);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::int64_t>(static_cast<unsigned char>(bytes[i]));
  };
  const auto header = static_cast<std::size_t>(4 + 4 * rank);
  RILL_CHECK(
      bytes.size() >= header && byte(0) == 0 && byte(1) == 0 && byte(2) == 8 && byte(3) == rank,
      data_loss, "[idx] {} is no idx file of {} axes of bytes", path, rank);
  Dims dims;
  for (std::size_t at = 4; at < header; at += 4)
    dims.push_back(byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3));
  const std::int64_t n = checked_num_elements(dims, "idx");
  RILL_CHECK(bytes.size() - header == static_cast<std::size_t>(n), data_loss,
             "[idx] {} has {} bytes of elements; its sizes need {}", path, bytes.size() - header,
             n);
  Tensor t = make_tensor(uint8, TensorShape(dims));
  if (n > 0) std::memcpy(t.impl()->data, bytes.data() + header, static_cast<std::size_t>(n));
  return t;
}

Splits from_npz(const std::string& path) {
  Splits s;
  for (auto& [name, t] : io::load_npz(path)) {
    if (name == "x_train") s.train.x = t;
    if (name == "y_train") s.train.y = t;
    if (name == "x_test") s.test.x = t;
    if (name == "y_test") s.test.y = t;
  }
  RILL_CHECK(s.train.x.defined() && s.train.y.defined() && s.test.x.defined() && s.test.y.defined(),
             data_loss, "[npz] {} lacks one of x_train, y_train, x_test, y_test", path);
  return s;
}

void check_counts(const char* what, const Splits& s) {
  for (const Split* p : {&s.train, &s.test})
    RILL_CHECK(p->x.shape().dim(0) == p->y.shape().dim(0), data_loss,
               "[{}] there are {} images and {} labels", what, p->x.shape().dim(0),
               p->y.shape().dim(0));
}

Splits load_idx_or_npz(const char* what, std::string_view path, const std::string& folder,
                       const std::string& npz) {
  const std::vector<std::string> tried = places(path, folder);
  for (const std::string& place : tried) {
    if (place.ends_with(".npz") && io::file_exists(place)) return from_npz(place);
    if (const std::string file = io::join_path(place, npz); io::file_exists(file))
      return from_npz(file);
    for (const char* ending : {".gz", ""}) {
      const auto file = [&](const char* name) {
        return io::join_path(place, std::string(name) + ending);
      };
      if (!io::file_exists(file("train-images-idx3-ubyte"))) continue;
      const Splits s{{read_idx(file("train-images-idx3-ubyte"), 3),
                      read_idx(file("train-labels-idx1-ubyte"), 1)},
                     {read_idx(file("t10k-images-idx3-ubyte"), 3),
                      read_idx(file("t10k-labels-idx1-ubyte"), 1)}};
      check_counts(what, s);
      return s;
    }
  }
  not_found(what, tried, npz + " or train-images-idx3-ubyte.gz and its three fellows");
}

// Records of one byte of label and 3072 of image, planes of red, green and blue.
Split read_cifar(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& f : files) all += io::read_file(f);
  RILL_CHECK(!all.empty() && all.size() % 3073 == 0, data_loss,
             "[cifar10] {} has {} bytes, which is no whole number of images", files[0], all.size());
  const auto n = static_cast<std::int64_t>(all.size() / 3073);
  Tensor records = make_tensor(uint8, {n, 3073});
  std::memcpy(records.impl()->data, all.data(), all.size());
  const Tensor planes = reshape(records(rill::all, slice(1, 3073)), {n, 3, 32, 32});
  return {transpose(planes, {0, 2, 3, 1}), records(rill::all, slice(0, 1))};
}

}  // namespace

Splits mnist::load_data(std::string_view path) {
  return load_idx_or_npz("mnist", path, "mnist", "mnist.npz");
}
Splits fashion_mnist::load_data(std::string_view path) {
  return load_idx_or_npz("fashion_mnist", path, "fashion-mnist", "fashion_mnist.npz");
}

Splits cifar10::load_data(std::string_view path) {
  const std::vector<std::string> tried = places(path, "cifar-10-batches-bin");
  for (const std::string& place : tried) {
    if (!io::file_exists(io::join_path(place, "data_batch_1.bin"))) continue;
    std::vector<std::string> train;
    for (int i = 1; i <= 5; ++i)
      train.push_back(io::join_path(place, "data_batch_" + std::to_string(i) + ".bin"));
    return {read_cifar(train), read_cifar({io::join_path(place, "test_batch.bin")})};
  }
  not_found("cifar10", tried, "data_batch_1.bin and its fellows");
}

Splits boston_housing::load_data(std::string_view path, double test_split) {
  RILL_CHECK(test_split >= 0 && test_split < 1, invalid_argument,
             "[boston_housing] test_split is {}; expected a share from 0 to below 1", test_split);
  const std::vector<std::string> tried = places(path, "boston_housing.npz");
  for (const std::string& place : tried) {
    if (!place.ends_with(".npz") || !io::file_exists(place)) continue;
    Tensor x, y;
    for (auto& [name, t] : io::load_npz(place)) {
      if (name == "x") x = t;
      if (name == "y") y = t;
    }
    RILL_CHECK(x.defined() && y.defined(), data_loss, "[npz] {} lacks x or y", place);
    const std::int64_t n = x.shape().dim(0);
    const auto cut = static_cast<std::int64_t>(static_cast<double>(n) * (1 - test_split));
    return {{x(slice(0, cut)), y(slice(0, cut))}, {x(slice(cut, n)), y(slice(cut, n))}};
  }
  not_found("boston_housing", tried, "boston_housing.npz");
}

}  // namespace rill::keras::datasets
