#include <cstring>
#include <optional>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/io/pickle_impl.h"
#include "rill/keras/datasets/published_impl.h"
#include "rill/keras/utils/get_file.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/np/legacy_generator_impl.h"

namespace rill::keras::datasets {

namespace {

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
      data_loss, "[idx] {} is not an idx file of {} axes of bytes", path, rank);
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

// The four files of a folder; nothing where they are not.
std::optional<Splits> load_idx(const char* what, const std::string& folder) {
  for (const char* ending : {".gz", ""}) {
    const auto file = [&](const char* name) {
      return io::join_path(folder, std::string(name) + ending);
    };
    if (!io::file_exists(file("train-images-idx3-ubyte"))) continue;
    const Splits s{
        {read_idx(file("train-images-idx3-ubyte"), 3),
         read_idx(file("train-labels-idx1-ubyte"), 1)},
        {read_idx(file("t10k-images-idx3-ubyte"), 3), read_idx(file("t10k-labels-idx1-ubyte"), 1)}};
    check_counts(what, s);
    return s;
  }
  return {};
}

// idx files below `folder`, or the archive of NumPy.
std::optional<Splits> load_images(const Published& npz, const LoadDataOptions& o,
                                  const std::string& folder, std::vector<std::string>& tried) {
  tried = places(o.path, folder);
  for (const std::string& place : tried) {
    const std::string inside = io::join_path(place, npz.file);
    for (const std::string& file : {place, inside}) {
      if (!file.ends_with(".npz") || !io::file_exists(file)) continue;
      if (o.verify) verify_file(npz, file);
      Splits s = from_npz(file);
      check_counts(npz.what, s);
      return s;
    }
    if (auto s = load_idx(npz.what, place)) return s;
  }
  return {};
}

// Records of one byte of label and 3072 of image, planes of red, green and blue.
Split read_cifar(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& f : files) all += io::file_contents(f);
  RILL_CHECK(!all.empty() && all.size() % 3073 == 0, data_loss,
             "[cifar10] {} has {} bytes, which is not a whole number of images", files[0],
             all.size());
  const auto n = static_cast<std::int64_t>(all.size() / 3073);
  Tensor records = make_tensor(uint8, {n, 3073});
  std::memcpy(records.impl()->data, all.data(), all.size());
  const Tensor planes = reshape(records(rill::all, slice(1, 3073)), {n, 3, 32, 32});
  return {transpose(planes, {0, 2, 3, 1}), records(rill::all, slice(0, 1))};
}

// A pickled dict of rows of 3072 bytes and a list of labels.
Split read_pickled_cifar(const std::vector<std::string>& files) {
  std::string pixels, labels;
  for (const std::string& f : files) {
    const std::string bytes = io::file_contents(f);
    const io::Pickle pickle(bytes, f);
    const io::Pickle::Array& data = pickle.array_of(pickle.at(pickle.root(), "data"));
    RILL_CHECK(data.dtype == "u1" && data.shape.size() == 2 && data.shape[1] == 3072, data_loss,
               "[cifar10] {} holds no rows of 3072 bytes", f);
    pixels += pickle.text_of(data.data);
    const std::vector<std::int64_t> numbers = pickle.ints_of(pickle.at(pickle.root(), "labels"));
    RILL_CHECK(static_cast<std::int64_t>(numbers.size()) == data.shape[0], data_loss,
               "[cifar10] {} holds {} images and {} labels", f, data.shape[0], numbers.size());
    for (const std::int64_t label : numbers) {
      RILL_CHECK(label >= 0 && label < 256, data_loss, "[cifar10] {} has the label {}", f, label);
      labels += static_cast<char>(label);
    }
  }
  const auto n = static_cast<std::int64_t>(labels.size());
  Tensor planes = make_tensor(uint8, {n, 3, 32, 32}), y = make_tensor(uint8, {n, 1});
  if (n > 0) {
    std::memcpy(planes.impl()->data, pixels.data(), pixels.size());
    std::memcpy(y.impl()->data, labels.data(), labels.size());
  }
  return {transpose(planes, {0, 2, 3, 1}), y};
}

std::optional<Splits> load_cifar(const std::string& folder) {
  const auto all = [&](const char* ending) {
    std::vector<std::string> train;
    for (int i = 1; i <= 5; ++i)
      train.push_back(io::join_path(folder, "data_batch_" + std::to_string(i) + ending));
    return train;
  };
  if (io::file_exists(io::join_path(folder, "data_batch_1")))
    return Splits{read_pickled_cifar(all("")),
                  read_pickled_cifar({io::join_path(folder, "test_batch")})};
  if (io::file_exists(io::join_path(folder, "data_batch_1.bin")))
    return Splits{read_cifar(all(".bin")), read_cifar({io::join_path(folder, "test_batch.bin")})};
  return {};
}

}  // namespace

Splits mnist::load_data(const LoadDataOptions& o) {
  const Published npz{"mnist", "mnist.npz",
                      "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"};
  std::vector<std::string> tried;
  if (auto s = load_images(npz, o, "mnist", tried)) return *s;
  if (o.download) return from_npz(download_file(npz));
  not_found("mnist", tried, "mnist.npz or train-images-idx3-ubyte.gz and its three fellows");
}
Splits mnist::load_data(std::string_view path) { return load_data({.path = std::string(path)}); }

Splits fashion_mnist::load_data(const LoadDataOptions& o) {
  std::vector<std::string> tried;
  if (auto s = load_images({"fashion_mnist", "fashion_mnist.npz", ""}, o, "fashion-mnist", tried))
    return *s;
  if (!o.download)
    not_found("fashion_mnist", tried,
              "train-images-idx3-ubyte.gz and its three fellows, or fashion_mnist.npz");
  // gzip has its own checksum, and the sizes are checked.
  std::string path;
  for (const char* file : {"train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz",
                           "t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"})
    path = download_file({"fashion_mnist", file, ""}, "datasets/fashion-mnist");
  return *load_idx("fashion_mnist", io::folder_of(path));
}
Splits fashion_mnist::load_data(std::string_view path) {
  return load_data({.path = std::string(path)});
}

Splits cifar10::load_data(const LoadDataOptions& o) {
  std::vector<std::string> tried;
  for (const char* folder : {"cifar-10-batches-py", "cifar-10-batches-bin"})
    for (const std::string& place : places(o.path, folder)) {
      if (auto s = load_cifar(place)) return *s;
      tried.push_back(place);
    }
  if (!o.download)
    not_found("cifar10", tried, "data_batch_1 or data_batch_1.bin and their fellows");
  const std::string folder = utils::get_file(
      "cifar-10-batches-py", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
      {.untar = true,
       .file_hash = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"});
  return *load_cifar(folder);
}
Splits cifar10::load_data(std::string_view path) { return load_data({.path = std::string(path)}); }

Splits boston_housing::load_data(const BostonHousingOptions& o) {
  RILL_CHECK(o.test_split >= 0 && o.test_split < 1, invalid_argument,
             "[boston_housing] test_split is {}; expected a share from 0 to below 1", o.test_split);
  const std::string path =
      find_file({"boston_housing", "boston_housing.npz",
                 "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"},
                {.path = o.path, .download = o.download, .verify = o.verify});
  Tensor x, y;
  for (auto& [name, t] : io::load_npz(path)) {
    if (name == "x") x = t;
    if (name == "y") y = t;
  }
  RILL_CHECK(x.defined() && y.defined() && x.ndim() > 0 && y.ndim() > 0 &&
                 x.shape().dim(0) == y.shape().dim(0),
             data_loss, "[npz] {} lacks x or y, or they differ in length", path);
  const std::int64_t n = x.shape().dim(0);
  np::LegacyGenerator random(o.seed);
  const Tensor order = constant(random.shuffled(static_cast<std::size_t>(n)));
  x = gather(x, order);
  y = gather(y, order);
  const auto cut = static_cast<std::int64_t>(static_cast<double>(n) * (1 - o.test_split));
  return {{x(slice(0, cut)), y(slice(0, cut))}, {x(slice(cut, n)), y(slice(cut, n))}};
}

}  // namespace rill::keras::datasets
